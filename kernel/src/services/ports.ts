import type { ProgressSink } from "../base/vocabulary/progress.ts";
import type { Emitter } from "../base/emitter.ts";
import type { Action, ActionState, Decision, RememberedRule } from "../base/vocabulary/action.ts";
import type { Agent, AgentCommand, Tool } from "../base/vocabulary/agent.ts";
import type { ContentEdit } from "../base/vocabulary/approval.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EntryPage, EntryQuery } from "../base/vocabulary/entry.ts";
import type { Job } from "../base/vocabulary/job.ts";
import type { Principal } from "../base/vocabulary/principal.ts";
import type { Status } from "../base/vocabulary/status.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import type { TrustGrants, TrustProgram, TrustQuestion } from "../base/vocabulary/trust.ts";
import type { AuthoringService, DocumentService, NavigationService } from "./editing.ts";
import type { MemoryService } from "./memory.ts";
import type { FileService } from "./files.ts";
import type { TraceService } from "./traces.ts";
import type { UnsavedDocuments } from "./unsaved-documents.ts";

/** What a client may ask whom nobody has trusted yet: how things are, and help with the documents. */
export interface OpenServices {
  readonly version: string;
  readonly status: StatusService;
  readonly trust: TrustService;
  readonly agents: Pick<AgentService, "list" | "changed">;
  readonly documents: DocumentService;
  readonly authoring: AuthoringService;
  readonly navigation: NavigationService;
}

/** Everything that a trusted client may ask of the kernel. Each group is one room's, handed in by the composition. */
export interface Services extends OpenServices {
  readonly agents: AgentService;
  readonly traces: TraceService;
  readonly actions: ActionService;
  readonly decisions: DecisionService;
  readonly tools: ToolService;
  readonly jobs: JobService;
  readonly entries: { query(query: EntryQuery, signal: AbortSignal): Promise<EntryPage> };
  readonly memory: MemoryService;
  readonly files: FileService;
  readonly unsaved: UnsavedDocuments;
  readonly notifications: Emitter<AgentNotice>;
  readonly progress: Emitter<WorkProgress>;
}

interface StatusService {
  /** All of a status but what depends on the client. */
  read(): Omit<Status, "trusted">;
}

/** The question of consent, as it is for every client; what one client's answer means for it is `Client`'s. */
interface TrustService {
  /** Reads the documents again and returns whether the person has answered all that they request now. */
  reloadAndCheckAnswered(): Promise<boolean>;
  /**
   * A person says yes to what the digest stands for, or to the parts of it that are granted; DigestMismatch where that is
   * no longer what is there.
   */
  accept(digest?: Hash, grants?: TrustGrants): Promise<void>;
  question(): Promise<Omit<TrustQuestion, "trusted">>;
  program(extension: string, path?: string): Promise<TrustProgram>;
  revoke(): Promise<void>;
}

export interface AgentService {
  list(): Agent[];
  control(by: Principal, id: string, command: AgentCommand): Promise<Agent>;
  readonly changed: Emitter<Agent>;
  /** Events of this name that the handler answered today, as `events_today` of the agent's metrics counts all of them. */
  eventsToday(id: string, handler: string, event: string): number;
  /** The agent's events are more than before, and its schedules' next runs may be others; not told for each event. */
  readonly counted: Emitter<Agent>;
}

interface ActionQuery {
  readonly state?: ActionState;
  readonly agent?: string;
  /** Only actions that are older than this one. */
  readonly before?: string;
  readonly limit?: number;
}

interface Approval {
  /** The digest of the action as it was shown. */
  readonly digest: Hash;
  readonly effects?: readonly number[];
  readonly remember?: "once" | "always";
  readonly rules?: readonly RememberedRule[];
  readonly edits?: readonly ContentEdit[];
}

export interface ActionService {
  list(query: ActionQuery): Promise<Action[]>;
  get(id: string): Promise<Action | null>;
  content(
    id: string,
    effect: number,
    side: "before" | "after",
    offset?: number,
    length?: number,
  ): Promise<{ bytes: Uint8Array; eof: boolean }>;
  /** One effect's unified diff, made now where the action has none for it; null where there is no text to compare. */
  diff(id: string, effect: number): Promise<string | null>;
  approve(id: string, approval: Approval): Promise<Action>;
  reject(id: string, reason?: string): Promise<Action>;
  rebase(id: string): Promise<Action>;
  undo(id: string): Promise<Action>;
  readonly changed: Emitter<Action>;
}

/** What the person answered with "always", and the rules that they wrote beside it. */
export interface DecisionService {
  /** Newest first. */
  list(): Promise<Decision[]>;
  /** NotFound; StorageError where it could not be written down. */
  revoke(id: string): Promise<Decision>;
  /** One was made, revoked or edited; not told when one is used. */
  readonly changed: Emitter<void>;
}

interface ToolService {
  list(agent?: string): Promise<Tool[]>;
  /** What the tool does in answer is done on behalf of `caller`. */
  call(
    caller: Principal,
    agent: string,
    name: string,
    args: unknown,
    options: { readonly key?: string; readonly signal: AbortSignal; readonly progress?: ProgressSink },
  ): Promise<ToolResult>;
}

export interface JobService {
  list(limit?: number, agent?: string): Promise<{ readonly items: Job[]; readonly total: number }>;
  /** Resolves when it is kept that the job is not run again. NotFound, IllegalTransition where it has ended. */
  cancel(by: Principal, id: string, agent?: string): Promise<Job>;
  /** That an agent's jobs are others, or further on, by its id; not told for each step. */
  readonly changed: Emitter<string>;
}

export interface AgentNotice {
  readonly agent: string;
  readonly title: string;
  readonly message: string;
  readonly severity: "info" | "warning" | "error";
  readonly action?: Action;
}

/** Work that takes a while, by a name of its own: begun, how far it is, over. `job`: its id, where it is one. */
export type WorkProgress = { readonly work: string } & (
  | { readonly kind: "begin"; readonly title: string; readonly job?: string }
  | { readonly kind: "report"; readonly message: string; readonly percentage: number }
  | { readonly kind: "end"; readonly message: string }
);
