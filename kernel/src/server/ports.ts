import type { Diagnostic as LspDiagnostic } from "vscode-languageserver";
import type { Agent } from "../base/vocabulary/agent.ts";
import type { AgentCommand } from "../base/vocabulary/agent.ts";
import type { Emitter } from "../base/emitter.ts";
import type { Action, Decision, RememberedRule } from "../base/vocabulary/action.ts";
import type { EntryPage, EntryQuery } from "../base/vocabulary/entry.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Tool } from "../base/vocabulary/agent.ts";
import type { Job } from "../base/vocabulary/job.ts";
import type { TraceEntry, TraceLevel } from "../base/vocabulary/trace.ts";
import type { ParamsOf, ResultOf } from "../protocol/v1/requests.ts";
import type { AuthoringService } from "./language/authoring.ts";
import type { NavigationService, OpenTexts } from "./language/ports.ts";

/** What the server asks of the kernel: each group is one room's, handed in when the kernel is put together. */
export interface KernelServices {
  readonly version: string;
  readonly status: StatusService;
  readonly trust: TrustService;
  readonly agents: AgentService;
  readonly traces: TraceService;
  readonly actions: ActionService;
  readonly decisions: DecisionService;
  readonly tools: ToolService;
  readonly jobs: JobService;
  readonly entries: { query(query: EntryQuery): Promise<EntryPage> };
  readonly memory: MemoryService;
  readonly documents: DocumentService;
  readonly authoring: AuthoringService;
  readonly navigation: NavigationService;
  readonly files: FileService;
  readonly shownFiles: ShownFiles;
  readonly notifications: Emitter<AgentNotice>;
  readonly progress: Emitter<WorkProgress>;
}

export interface StatusService {
  /** All of a status but what depends on the connection. */
  read(): Omit<ResultOf<"lares/status">, "trusted">;
}

export interface TrustService {
  /** True where what the documents wish now has been accepted before. */
  isAccepted(): Promise<boolean>;
  /** A person says yes to what the digest stands for; DigestMismatch where that is no longer what is there. */
  accept(digest?: Hash): Promise<void>;
  revoke(): Promise<void>;
  /** How many trusted connections there are: agents run while there is one. */
  connections(trusted: number, untrusted: number): void;
}

export interface AgentService {
  list(): Agent[];
  control(id: string, command: AgentCommand): Promise<Agent>;
  readonly changed: Emitter<Agent>;
  /** Events of this name that the handler answered today, as `events_today` of the agent's metrics counts all of them. */
  eventsToday(id: string, handler: string, event: string): number;
  /** The agent's events are more than before, and its schedules' next runs may be others; not told for each event. */
  readonly counted: Emitter<Agent>;
}

export interface TraceService {
  query(query: ParamsOf<"lares/traces/query">): Promise<TraceEntry[]>;
  readonly entries: Emitter<TraceEntry>;
}

export interface ActionService {
  list(query: ParamsOf<"lares/actions/list">): Promise<Action[]>;
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
  approve(
    id: string,
    options: {
      digest: Hash;
      effects?: readonly number[];
      remember?: "once" | "always";
      rules?: readonly RememberedRule[];
    },
  ): Promise<Action>;
  reject(id: string, reason?: string): Promise<Action>;
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

export interface ToolService {
  list(agent?: string): Promise<Tool[]>;
  call(agent: string, name: string, args: unknown): Promise<ResultOf<"lares/tools/call">>;
}

export interface JobService {
  list(limit?: number, agent?: string): Promise<ResultOf<"lares/jobs/list">>;
  /** Resolves when it is kept that the job is not run again. NotFound, IllegalTransition where it has ended. */
  cancel(id: string, agent?: string): Promise<Job>;
  /** That an agent's jobs are others, or further on, by its id; not told for each step. */
  readonly changed: Emitter<string>;
}

/** What is asked of one kind of memory: the wire's fields but those that say whom and which. */
export type MemoryQuery<Kind extends ParamsOf<"lares/memory/query">["kind"]> = Omit<
  Extract<ParamsOf<"lares/memory/query">, { kind: Kind }>,
  "agent" | "kind"
>;

/**
 * The memories of agents, and with a `namespace` those that they share. Every method rejects with NotFound for an agent
 * or a namespace that is not here.
 */
export interface MemoryService {
  /** PermissionDenied, as for `stats` and `export`, where the namespace is another workspace's. */
  verify(agent: string, namespace?: string): Promise<ResultOf<"lares/memory/verify">>;
  stats(agent: string, namespace?: string): Promise<ResultOf<"lares/memory/stats">>;
  /** The shared memories; those that one agent may open, where it is named. Throws NotFound where it is not here. */
  namespaces(agent?: string): Promise<ResultOf<"lares/memory/namespaces">["namespaces"]>;
  /** Working memory as it stands. */
  working(agent: string, query: MemoryQuery<"working">): Promise<{ revision: number; state: unknown }>;
  temporal(agent: string, query: MemoryQuery<"temporal">): Promise<ResultOf<"lares/memory/query">>;
  associative(agent: string, query: MemoryQuery<"associative">): Promise<ResultOf<"lares/memory/query">>;
  search(agent: string, query: MemoryQuery<"search">): Promise<ResultOf<"lares/memory/query">>;
  count(
    agent: string,
    query: Omit<ParamsOf<"lares/memory/count">, "agent">,
  ): Promise<ResultOf<"lares/memory/count">>;
  export(
    agent: string,
    path: string,
    options: { readonly overwrite: boolean; readonly namespace?: string },
  ): Promise<ResultOf<"lares/memory/export">>;
  /** Conflict where the memory is not empty; DigestMismatch where the file's head is not the one that was expected. */
  import(
    agent: string,
    path: string,
    options: { readonly preview: boolean; readonly head?: string },
  ): Promise<ResultOf<"lares/memory/import">>;
  /** The record that says so; what the id's records said is gone when it resolves. */
  forget(agent: string, id: string, reason?: string): Promise<ResultOf<"lares/memory/forget">>;
}

/** What was found in a document, and where was looked for it: absolute paths, and folders whose names were read. */
export interface Diagnosis {
  readonly diagnostics: readonly LspDiagnostic[];
  readonly lookedAt: { readonly paths: readonly string[]; readonly listed: readonly string[] };
}

/** Follows what one document's diagnosis was made from: on disk, and as the client has it open. */
export interface DiagnosisWatch extends Disposable {
  /** From now on it is this one. True where something of it was not followed while it was made. */
  watch(lookedAt: Diagnosis["lookedAt"]): boolean;
  /** The client has another text for this file than before. */
  heardOf(uri: string): void;
}

/** Diagnostics of one document, as LSP has them. */
export interface DocumentService {
  /** True for a file of a name that Lares reads. */
  handles(path: string): boolean;
  diagnose(uri: string, text: string, open: OpenTexts): Promise<Diagnosis>;
  /** `changed` is told when what a diagnosis of the document was made from may be otherwise; of everything at once. */
  follow(uri: string, changed: () => void): DiagnosisWatch;
  /** The text of a file of the workspace; null where there is none, or it is too large or no UTF-8. Never rejects. */
  textOnDisk(uri: string): Promise<string | null>;
}

/** Documents that an editor is asked to open. */
export interface ShownFiles {
  /** Keeps a text as a read-only file for a while; its URI. `name` is part of the file's. */
  write(name: string, text: string): Promise<string>;
}

/** The workspace's files, as clients name them. */
export interface FileService {
  /**
   * The workspace's own paths of the file that a URI names, also through links; the file's real one comes first. None
   * where it lies outside. Never rejects.
   */
  pathsOf(uri: string): Promise<readonly string[]>;
  /** Null where there is no file; unknown where it is too large to look at, or no plain file. */
  hashOf(path: string): Promise<Hash | null | "unknown">;
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

export const traceLevels: readonly TraceLevel[] = ["debug", "info", "warn", "error"];
