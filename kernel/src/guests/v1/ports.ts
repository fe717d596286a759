import type { CpuBudget } from "../../base/cpu-budget.ts";
import type { Deadline } from "../../base/deadline.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Action, Proposal, ProposalRequest } from "../../base/vocabulary/action.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import type { Entry, EntryKind, EntryPage, EntryQuery } from "../../base/vocabulary/entry.ts";
import type { Foreign } from "../../base/vocabulary/foreign.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import type { Lineage } from "../../base/vocabulary/principal.ts";
import type { ProgressSink } from "../../base/vocabulary/progress.ts";
import type { IndexView, Reach } from "../../policy/sight.ts";
import type { GuestCallParams, GuestMethod, GuestServices } from "../../protocol/guest/v1/calls.ts";

/** What the service of a call answers. */
export type Answer<Method extends GuestMethod> = ReturnType<GuestServices<unknown>[Method]>;

/** An action as its own room describes it. What its agent is told comes from `answerTo`, which gets the same object. */
export interface ProposedAction {
  readonly action: Action;
}

/** Proposals of agents, from preview to their end. */
export interface ActionsOfAgents {
  preview(
    authority: Authority,
    program: Hash,
    proposal: Proposal,
    budget: CpuBudget,
  ): Promise<ProposedAction>;
  propose(
    authority: Authority,
    program: Hash,
    proposal: ProposalRequest,
    budget: CpuBudget,
    lineage: Lineage,
  ): Promise<ProposedAction>;
  proposed(id: string): Promise<ProposedAction | null>;
  answerTo(authority: Authority, proposed: ProposedAction): Promise<Action>;
  settled(id: string): Promise<Action>;
  withdraw(id: string, reason: string): Promise<Action>;
}

type Visible = (path: string, kind: EntryKind) => boolean;

/** The index and the files, as far as `visible` accepts them. */
export interface WorkspaceOfAgents {
  readonly view: IndexView;
  query(query: EntryQuery, visible: Visible, reach: Reach, signal: AbortSignal): Promise<EntryPage>;
  count(query: EntryQuery, visible: Visible, reach: Reach, signal: AbortSignal): Promise<number>;
  get(reference: { path: string } | { id: string }, visible: Visible): Entry | null;
  read(
    path: string,
    offset: number,
    length: number,
    visible: Visible,
  ): Promise<{ bytes: Uint8Array; eof: boolean }>;
  readSidecar(path: string, sidecar: string): Promise<{ readonly data: JsonValue } | null>;
  copies(contentId: string, visible: Visible): { count: number; paths: string[] };
}

/** Thumbnails of pictures, which `read` reads as the agent may. */
export interface ThumbnailsOfAgents {
  make(options: {
    readonly agent: string;
    readonly path: string;
    read(offset: number): Promise<{ readonly bytes: Uint8Array; readonly eof: boolean }>;
    readonly maxPx: number;
    readonly format: GuestCallParams<"vdfs/thumbnail">["format"];
    readonly signal: AbortSignal;
  }): Promise<{ readonly width: number; readonly height: number; readonly bytes: Uint8Array }>;
}

/** Values of the types that extensions declare. */
export interface SharedTypesOfAgents {
  create(agent: string, type: string, value: JsonValue): Promise<{ version: number }>;
  get(type: string, key: string): Answer<"types/get">;
  query(
    type: string,
    query: Omit<GuestCallParams<"types/query">, "type">,
    options: {
      readonly signal: AbortSignal;
      readonly cpu: CpuBudget;
      /** Receives the keys of values when they have been read, and before anything can be written. */
      readonly read: (keys: readonly string[]) => void;
      /** Receives the keys of the page's values, before they are returned. */
      readonly found: (keys: readonly string[]) => void;
    },
  ): Answer<"types/query">;
  update(
    agent: string,
    type: string,
    key: string,
    version: number,
    value: JsonValue,
  ): Promise<{ version: number }>;
  remove(type: string, key: string, version: number): Promise<void>;
}

/** What places of agents hold of texts that nobody vouches for; see `agent-state/foreign-places.ts`. */
export interface MarkedPlaces {
  of(place: string, items: Iterable<string>): Foreign;
  ofAll(place: string): Foreign;
  adding<Result>(
    place: string,
    foreign: Foreign,
    run: () => Promise<Result>,
    idOf: (result: Result) => string,
  ): Promise<Result>;
  replacing<Result>(
    place: string,
    foreign: Foreign,
    run: () => Promise<Result>,
    item?: string,
  ): Promise<Result>;
}

/** Whether a value fits a schema; `slow`: the check took too long, perhaps too often to be tried again. */
export type ValueVerdict =
  | { readonly kind: "fits" }
  | { readonly kind: "unfit"; readonly path: string; readonly message: string }
  | { readonly kind: "bad schema"; readonly message: string }
  | { readonly kind: "slow"; readonly message: string };

export interface ToolCallOptions {
  readonly key?: string;
  readonly deadlineMs?: number;
  readonly deadline?: Deadline;
  readonly progress?: ProgressSink;
  readonly signal: AbortSignal;
  /** Receives, before the answer, what it may hold of texts that nobody vouches for. */
  hear(foreign: Foreign): void;
}
