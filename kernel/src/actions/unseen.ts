import { LaresError, limitExceeded } from "../base/errors.ts";
import type { Action, ActionState, Effect } from "../base/vocabulary/action.ts";
import { canonicalJson } from "../base/json.ts";
import { sha256 } from "../platform/files/hash.ts";
import { impactOf, type ImpactFacts } from "../policy/impact.ts";
import type { Sight } from "../policy/sight.ts";
import type { FolderListing } from "./content-requests.ts";
import { actionLimits } from "./limits.ts";
import type { PlannedEffect } from "./plan.ts";

/** How the action that an agent is told differs from the one that a person is shown. Stored with the action. */
export interface AgentView {
  /** Indices of the effects that touch, or may touch, something that the agent could not see when it proposed them. */
  readonly unseen: readonly number[];
  /** The impact, 0–1, computed from the proposal and from what the agent sees. */
  readonly impact: number;
  /** What the action counts as while it waits for approval. Bytes. */
  readonly bytes: number;
  /**
   * The effects in `unseen` only move folders, and the agent saw everything in them: nothing that it is told reveals
   * something hidden.
   */
  readonly sawAll?: true;
}

/** Returns null if the agent sees everything that the effects touch. */
export function agentViewOf(effects: readonly PlannedEffect[]): AgentView | null {
  const unseen = effects.flatMap((effect, index) => (effect.unseen === undefined ? [] : [index]));
  if (unseen.length === 0) return null;
  const facts = effects.map((effect) => effect.unseen?.facts ?? effect.facts);
  const words = effects.map(({ effect, unseen: hidden }) => (hidden === undefined ? effect : bare(effect)));
  const bytes = actionLimits.unseenActionBytes + canonicalJson(words).length;
  const sawAll = effects.every((effect) => effect.unseen === undefined || effect.unseen.sawAll === true);
  return { unseen, impact: impactOf(facts), bytes, ...(sawAll ? { sawAll } : {}) };
}

/** The error of a waiting action that another proposal superseded. Stored and compared, so its text must not change. */
export const supersededMessage = "A newer proposal of the same agent replaced it.";

/**
 * In steps, one for each effect: returns the action as the kernel describes it to an agent. An effect appears as
 * proposed if the agent cannot see its paths now, could not see them when it proposed the action, or if a person edited
 * the action. The agent is not told why such an action failed or went stale, nor what replaced it afterwards. It is
 * told that another proposal superseded the waiting action, because it made that proposal itself.
 */
export function* actionSeenBy(
  sight: Sight,
  whole: Action,
  agentView: AgentView | null,
): Generator<void, Action> {
  // Whether its texts can be merged reveals something about their current content; who led to it is for people.
  const {
    rebasable: _rebasable,
    on_behalf_of: _onBehalfOf,
    callers: _callers,
    sources: _sources,
    ...action
  } = whole;
  const isEdited = action.edited_by !== undefined;
  let isShort = isEdited;
  const unseen = new Set(agentView?.unseen);
  const effects: Effect[] = [];
  for (const [index, effect] of action.effects.entries()) {
    yield;
    const isToldWhole =
      !isEdited &&
      !unseen.has(index) &&
      sight.sees(effect.path) &&
      (effect.from === undefined || sight.sees(effect.from));
    effects.push(isToldWhole ? effect : bare(effect));
    if (!isToldWhole && !unseen.has(index)) isShort = true;
  }
  if (!isShort && agentView === null) return action;
  const { error, superseded_by: by, ...rest } = action;
  const isDrift = action.state === "Stale" && error !== supersededMessage;
  const hasFailed = isDrift || action.state === "Failed";
  return {
    ...rest,
    ...(by === undefined || hasFailed ? {} : { superseded_by: by }),
    ...(hasFailed
      ? { state: "Failed", error: "It could not be applied." }
      : error === undefined
        ? {}
        : { error }),
    effects,
    impact_score: isShort ? impactOf(effects.map(bareFacts)) : (agentView?.impact ?? action.impact_score),
    // The digest depends on the replaced contents, so an agent that is told less gets a digest of what it is told.
    ...(isShort ? { digest: sha256(canonicalJson({ id: action.id, effects })) } : {}),
  };
}

/** The content of the event ActionEnded for the agent that proposed the action. */
export interface EndedAction {
  readonly action: string;
  readonly title: string;
  readonly state: ActionState;
  readonly paths: readonly string[];
  readonly reason?: string;
  readonly superseded_by?: string;
}

/** In steps: returns what the agent of an action is told about its end; nothing that `actionSeenBy` would withhold. */
export function* endSeenBy(
  sight: Sight,
  action: Action,
  agentView: AgentView | null,
): Generator<void, EndedAction> {
  const shown = yield* actionSeenBy(sight, action, agentView);
  const { id, title, state, effects, rejected_reason, superseded_by } = shown;
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

/**
 * In steps: returns the action without the diffs that would make an agent's answer too long, dropping the last ones
 * first; and the length of that answer in bytes.
 */
export function* inOneAnswer(
  action: Action,
): Generator<void, { readonly action: Action; readonly bytes: number }> {
  let bytes = bytesOf({ ...action, effects: [] }) + Math.max(0, action.effects.length - 1);
  for (const effect of action.effects) {
    yield;
    bytes += bytesOf(effect);
  }
  if (bytes <= actionLimits.toldBytes) return { action, bytes };
  const effects = [...action.effects];
  for (let index = effects.length - 1; index >= 0 && bytes > actionLimits.toldBytes; index--) {
    const { diff, ...rest } = effects[index] as Effect;
    if (diff === undefined) continue;
    yield;
    bytes -= bytesOf(diff) + '"diff":,'.length;
    effects[index] = rest;
  }
  return { action: { ...action, effects }, bytes };
}

/** In steps: throws LimitExceeded if an answer about the action would be too long even without diffs. */
export function* checkAnswerable(
  sight: Sight,
  whole: Action,
  agentView: AgentView | null,
): Generator<void, void> {
  const { bytes } = yield* inOneAnswer(yield* actionSeenBy(sight, whole, agentView));
  if (bytes <= actionLimits.toldBytes) return;
  throw limitExceeded(
    "toldBytes",
    bytes,
    `An answer about this action would have ${bytes} bytes; at most ${actionLimits.toldBytes} are allowed. Propose fewer changes at a time.`,
  );
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Returns the part of the effect that follows from the proposal. */
function bare(effect: Effect): Effect {
  const {
    diff: _diff,
    summary: _summary,
    before: _before,
    after: _after,
    hard_link: _hardLink,
    ...named
  } = effect;
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
      return summary; // the summary of a metadata effect repeats the proposal
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

/** Stands for a folder that could not be listed; no real listing has this hash. */
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

/**
 * Records conflicts of an effect that its agent cannot see: shown to the person instead of being reported to the agent.
 */
export class Obstacles {
  first: string | null = null;
  readonly #isUnseen: boolean;

  constructor(isUnseen: boolean) {
    this.#isUnseen = isUnseen;
  }

  /** Returns `otherwise` if `attempt` fails; throws the failure itself if the agent may know of it. */
  async try<Value>(isSeen: boolean, otherwise: Value, attempt: () => Promise<Value>): Promise<Value> {
    try {
      return await attempt();
    } catch (error) {
      if (isSeen || !this.#isUnseen || !(error instanceof LaresError)) throw error;
      this.first ??= error.message;
      return otherwise;
    }
  }
}
