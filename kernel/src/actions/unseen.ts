import { LaresError } from "../base/errors.ts";
import type { Action, Effect } from "../base/vocabulary/action.ts";
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
 * The action as an agent is told of it: what it cannot see now, and what its agent could not see when it was
 * proposed, is told as it was proposed, and its end without a reason.
 */
export function actionToldTo(sight: Sight, action: Action, told: Told | null): Action {
  let isShort = false;
  const effects = action.effects.map((effect, index) => {
    if (told?.unseen.includes(index) === true) return bare(effect);
    if (sight.sees(effect.path) && (effect.from === undefined || sight.sees(effect.from))) return effect;
    isShort = true;
    return bare(effect);
  });
  if (!isShort && told === null) return action;
  const { error, ...rest } = action;
  const hasFailed = action.state === "Stale" || action.state === "Failed";
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
