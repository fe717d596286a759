import { LaresError, limitExceeded } from "../base/errors.ts";
import type { Action, ActionState, Effect } from "../base/vocabulary/action.ts";
import { canonicalJson } from "../base/json.ts";
import { sha256 } from "../platform/hash.ts";
import { impactOf, type ImpactFacts } from "../policy/impact.ts";
import type { Sight } from "../policy/sight.ts";
import type { FolderListing } from "./content-requests.ts";
import { actionLimits } from "./limits.ts";
import type { PlannedEffect } from "./planner.ts";

/** What the agent of an action is told otherwise than the person: kept with the action. */
export interface Told {
  /** Indices of the effects that touch, or may touch, what the agent could not see when it proposed them. */
  readonly unseen: readonly number[];
  /** The impact, 0–1, as far as the proposal and what the agent sees make it. */
  readonly impact: number;
  /** What the action counts as among those that wait for approval. Bytes. */
  readonly bytes: number;
}

/** Null where the agent sees everything that the effects touch. */
export function toldOf(effects: readonly PlannedEffect[]): Told | null {
  const unseen = effects.flatMap((effect, index) => (effect.unseen === undefined ? [] : [index]));
  if (unseen.length === 0) return null;
  const facts = effects.map((effect) => effect.unseen?.facts ?? effect.facts);
  const words = effects.map(({ effect, unseen: hidden }) => (hidden === undefined ? effect : bare(effect)));
  const bytes = actionLimits.unseenActionBytes + canonicalJson(words).length;
  return { unseen, impact: impactOf(facts), bytes };
}

/**
 * Returns the action as the kernel tells an agent of it. An effect appears as it was proposed if the agent cannot see
 * its paths now, could not see them when it proposed the action, or if a person edited the action. The agent is not
 * told why such an action failed or went stale. It is told that another proposal superseded the action: it made that
 * one itself.
 */
export function actionToldTo(sight: Sight, whole: Action, told: Told | null): Action {
  // Whether its texts can be merged says something about what is there.
  const { rebasable: _rebasable, ...action } = whole;
  const isEdited = action.edited_by !== undefined;
  let isShort = isEdited;
  const effects = action.effects.map((effect, index) => {
    if (isEdited || told?.unseen.includes(index) === true) return bare(effect);
    if (sight.sees(effect.path) && (effect.from === undefined || sight.sees(effect.from))) return effect;
    isShort = true;
    return bare(effect);
  });
  if (!isShort && told === null) return action;
  const { error, ...rest } = action;
  const isDrift = action.state === "Stale" && action.superseded_by === undefined;
  const hasFailed = isDrift || action.state === "Failed";
  return {
    ...rest,
    ...(hasFailed
      ? { state: "Failed", error: "It could not be made." }
      : error === undefined
        ? {}
        : { error }),
    effects,
    impact_score: isShort ? impactOf(effects.map(bareFacts)) : (told?.impact ?? action.impact_score),
    // The digest speaks of what was replaced, so whoever is told less gets one of what it is told.
    ...(isShort ? { digest: sha256(canonicalJson({ id: action.id, effects })) } : {}),
  };
}

/** What the event ActionEnded tells the agent that proposed the action. */
export interface ToldEnd {
  readonly action: string;
  readonly title: string;
  readonly state: ActionState;
  readonly paths: readonly string[];
  readonly reason?: string;
  readonly superseded_by?: string;
}

/** Returns what the agent of an action is told of its end: nothing that `actionToldTo` would withhold from it. */
export function endToldTo(sight: Sight, action: Action, told: Told | null): ToldEnd {
  const { id, title, state, effects, rejected_reason, superseded_by } = actionToldTo(sight, action, told);
  const paths: string[] = [];
  let left: number = actionLimits.endedPathsCharacters;
  for (const path of new Set(
    effects.flatMap((effect) => [...(effect.from === undefined ? [] : [effect.from]), effect.path]),
  )) {
    left -= path.length + 3;
    if (left < 0) break;
    paths.push(path);
  }
  return {
    action: id,
    title,
    state,
    paths,
    ...(state === "Rejected" && rejected_reason !== undefined ? { reason: rejected_reason } : {}),
    ...(superseded_by === undefined ? {} : { superseded_by }),
  };
}

/** Returns the action without the diffs that would make an agent's answer longer than it may be, the last ones first. */
export function inOneAnswer(action: Action): Action {
  let bytes = bytesOf(action);
  if (bytes <= actionLimits.toldBytes) return action;
  const effects = [...action.effects];
  for (let index = effects.length - 1; index >= 0 && bytes > actionLimits.toldBytes; index--) {
    const { diff, ...rest } = effects[index] as Effect;
    if (diff === undefined) continue;
    bytes -= bytesOf(diff) + '"diff":,'.length;
    effects[index] = rest;
  }
  return { ...action, effects };
}

/** Throws LimitExceeded where even without diffs an answer about the action would be longer than it may be. */
export function checkAnswerable(action: Action): void {
  const bytes = bytesOf(inOneAnswer(action));
  if (bytes <= actionLimits.toldBytes) return;
  throw limitExceeded(
    "toldBytes",
    bytes,
    `An answer about this action would have ${bytes} bytes; at most ${actionLimits.toldBytes} are sent. Propose fewer changes at a time.`,
  );
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The effect as far as the proposal says it. */
function bare(effect: Effect): Effect {
  const { diff: _diff, summary: _summary, before: _before, after: _after, ...named } = effect;
  return { ...named, before: null, after: null, summary: sentence(effect) };
}

function sentence({ kind, path, from, summary }: Effect): string {
  switch (kind) {
    case "file.write":
      return `Write ${path}`;
    case "file.edit":
      return `Edit ${path}`;
    case "file.delete":
      return `Delete ${path}`;
    case "file.move":
      return `Move ${from} to ${path}`;
    case "folder.create":
      return `Create the folder ${path}`;
    case "tag.add":
    case "tag.remove":
    case "field.set":
    case "sidecar.write":
      return summary; // what is set beside an entry, in the words of the proposal
  }
}

function bareFacts({ kind }: Effect): ImpactFacts {
  switch (kind) {
    case "file.write":
      return { kind: "create" };
    case "file.edit":
      return { kind: "edit" };
    case "file.delete":
      return { kind: "delete" };
    case "file.move":
      return { kind: "move" };
    case "folder.create":
      return { kind: "folder" };
    case "tag.add":
    case "tag.remove":
    case "field.set":
    case "sidecar.write":
      return { kind: "metadata" };
  }
}

/** Of a folder that could not be listed; no folder's listing has this hash. */
export const unknownListing: FolderListing = {
  hash: sha256(""),
  members: [],
  files: 0,
  mode: 0,
  protections: [],
};

/** Why a person is asked, as a clause about the paths. */
export const whyAsked = {
  hidden: "may be hidden from the agent",
  folder: "is a move of a folder, in which something may be hidden from the agent",
  rules: "says what agents can see",
} as const;

export function hiddenNote(hidden: number): string {
  return hidden === 0 ? "" : `. The agent cannot see ${hidden} of the files and folders in it`;
}

/** What an effect meets that its agent cannot see: kept for the person, instead of being told to the agent. */
export class Obstacles {
  first: string | null = null;
  readonly #isUnseen: boolean;

  constructor(isUnseen: boolean) {
    this.#isUnseen = isUnseen;
  }

  /** `otherwise` where it fails; throws the failure itself where the agent may know of it. */
  async at<Value>(isSeen: boolean, otherwise: Value, look: () => Promise<Value>): Promise<Value> {
    try {
      return await look();
    } catch (error) {
      if (isSeen || !this.#isUnseen || !(error instanceof LaresError)) throw error;
      this.first ??= error.message;
      return otherwise;
    }
  }
}
