import type { ProgressSink } from "../base/vocabulary/progress.ts";
import type { Emitter } from "../base/emitter.ts";
import type { Action } from "../base/vocabulary/action.ts";
import type { ActionQuery, Approval } from "../base/vocabulary/action-requests.ts";
import type { Decision } from "../base/vocabulary/approval-rule.ts";
import type { Ask, AskScope } from "../base/vocabulary/ask.ts";
import type { Agent, AgentCommand, Tool } from "../base/vocabulary/agent.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EntryPage, EntryQuery } from "../base/vocabulary/entry.ts";
import type { NotificationChannel } from "../base/vocabulary/notification-rule.ts";
import type { AgentNotification, NotificationState } from "../base/vocabulary/notification.ts";
import type { Job } from "../base/vocabulary/job.ts";
import type { Principal } from "../base/vocabulary/principal.ts";
import type { ChatBindings, FileMove } from "../base/vocabulary/chat-binding.ts";
import type { Status } from "../base/vocabulary/status.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import type { TrustGrants, TrustProgram, TrustQuestion } from "../base/vocabulary/trust.ts";
import type { CommandService } from "./commands.ts";
import type { ConversationService } from "./conversations.ts";
import type { EditorModels } from "./editor-models.ts";
import type { AuthoringService, DocumentService, NavigationService } from "./editing.ts";
import type { MemoryService } from "./memory.ts";
import type { ModelService, SecretService, UsageService } from "./models.ts";
import type { FileService } from "./files.ts";
import type { TypeService } from "./types.ts";
import type { TraceService } from "./traces.ts";
import type { UnsavedDocuments } from "./unsaved-documents.ts";

/** What an untrusted client may ask: the kernel's status, and help with the documents. */
export interface OpenServices {
  readonly version: string;
  readonly status: StatusService;
  readonly trust: TrustService;
  readonly agents: Pick<AgentService, "list" | "changed">;
  readonly documents: DocumentService;
  readonly authoring: AuthoringService;
  readonly navigation: NavigationService;
}

/** Everything that a trusted client may ask. Each group belongs to one room; the composition provides it. */
export interface Services extends OpenServices {
  readonly agents: AgentService;
  readonly traces: TraceService;
  readonly actions: ActionService;
  readonly asks: AskService;
  readonly decisions: DecisionService;
  readonly tools: ToolService;
  readonly jobs: JobService;
  readonly types: TypeService;
  readonly entries: { query(query: EntryQuery, signal: AbortSignal): Promise<EntryPage> };
  readonly memory: MemoryService;
  readonly conversations: ConversationService;
  /** Which files show which conversations. */
  readonly chatBindings: ChatBindings;
  /** Emits the moves of files that the index has found. */
  readonly filesMoved: Emitter<readonly FileMove[]>;
  readonly commands: CommandService;
  readonly models: ModelService;
  readonly usage: UsageService;
  readonly secrets: SecretService;
  readonly files: FileService;
  readonly unsaved: UnsavedDocuments;
  /** The language models that clients offer. */
  readonly editorModels: EditorModels;
  readonly notifications: NotificationService;
  readonly progress: Emitter<WorkProgress>;
}

interface StatusService {
  /** Returns the status, without the part that depends on the client. */
  read(): Omit<Status, "trusted" | "clients">;
}

/** The question of consent, the same for every client; `Client` handles what one client's answer means for it. */
interface TrustService {
  /** Reads the documents again and returns whether the person has answered all that they request now. */
  reloadAndCheckAnswered(): Promise<boolean>;
  /**
   * Records that a person accepts what the digest identifies, or parts of it; DigestMismatch if that has changed.
   * PermissionDenied unless a person asks; likewise `revoke`.
   */
  accept(by: Principal, digest?: Hash, grants?: TrustGrants): Promise<void>;
  question(): Promise<Omit<TrustQuestion, "trusted">>;
  program(extension: string, path?: string): Promise<TrustProgram>;
  revoke(by: Principal): Promise<void>;
}

export interface AgentService {
  list(): Agent[];
  /** `hook`: with "resume", the index in `Agent.hooks` of a suspended schedule. */
  control(by: Principal, id: string, command: AgentCommand, hook?: number): Promise<Agent>;
  readonly changed: Emitter<Agent>;
  /**
   * Returns today's count of events of this name that the handler answered; `events_today` of the agent's metrics
   * counts all events.
   */
  eventsToday(id: string, handler: string, event: string): number;
  /** Emitted when the agent's counts have changed, and perhaps its schedules' next runs; not for each event. */
  readonly counted: Emitter<Agent>;
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
  /** Returns one effect's unified diff, computed now if the action has none; null if there is no text to compare. */
  diff(id: string, effect: number): Promise<string | null>;
  /** PermissionDenied unless a person asks; likewise `reject`, `rebase` and `undo`. */
  approve(by: Principal, id: string, approval: Approval): Promise<Action>;
  reject(by: Principal, id: string, reason?: string): Promise<Action>;
  rebase(by: Principal, id: string): Promise<Action>;
  undo(by: Principal, id: string): Promise<Action>;
  readonly changed: Emitter<Action>;
}

/** Questions to a person that calls wait for. */
export interface AskService {
  /** Newest first. */
  list(state?: Ask["state"]): Promise<Ask[]>;
  /** PermissionDenied unless a person answers; NotFound, IllegalTransition, DigestMismatch, InvalidParams. */
  answer(
    by: Principal,
    id: string,
    answer: { readonly digest: Hash; readonly allow: boolean; readonly remember?: AskScope },
  ): Promise<Ask>;
  readonly changed: Emitter<Ask>;
}

/** What the person answered with "always", and the rules that they wrote themselves. */
export interface DecisionService {
  /** Newest first. */
  list(): Promise<Decision[]>;
  /** PermissionDenied unless a person asks; NotFound; StorageError if it could not be stored. */
  revoke(by: Principal, id: string): Promise<Decision>;
  /** Emitted when a decision was made, revoked or edited; not when one is used. */
  readonly changed: Emitter<void>;
}

interface ToolService {
  list(agent?: string): Promise<Tool[]>;
  /** The tool acts on behalf of `caller`. */
  call(
    caller: Principal,
    agent: string,
    name: string,
    args: unknown,
    options: {
      readonly key?: string;
      readonly deadlineMs?: number;
      readonly signal: AbortSignal;
      readonly progress?: ProgressSink;
    },
  ): Promise<ToolResult>;
}

export interface JobService {
  list(
    limit?: number,
    agent?: string,
    state?: "dead",
  ): Promise<{ readonly items: Job[]; readonly total: number }>;
  /** Lets a dead job run again. Resolves when that is stored. NotFound; IllegalTransition; Conflict; LimitExceeded. */
  retry(by: Principal, id: string): Promise<Job>;
  /** Removes a dead job for good. NotFound. */
  remove(by: Principal, id: string): Promise<Job>;
  /** Resolves when the cancellation is stored. NotFound; IllegalTransition if the job has ended. */
  cancel(by: Principal, id: string, agent?: string): Promise<Job>;
  /** Emits the id of an agent whose jobs have changed or made progress; not for each step. */
  readonly changed: Emitter<string>;
}

/** A notification, and the action that it proposes as it is now. */
export interface AgentNotice {
  readonly notification: AgentNotification;
  /** Where the person wants it; at least one. */
  readonly channels: readonly NotificationChannel[];
  readonly action?: Action;
}

/** A schedule was resumed. */
export interface ResumedSchedule {
  /** Its agent. */
  readonly resumed: Agent;
}

/** Notifications of agents, kept until the person has seen them. */
export interface NotificationService {
  /** The latest first. `cursor` is that of the page before. */
  list(query: {
    readonly state?: NotificationState;
    readonly limit?: number;
    readonly cursor?: string;
  }): Promise<{ readonly items: AgentNotification[]; readonly total: number; readonly cursor?: string }>;
  /** Marks these as seen and returns how many were new. PermissionDenied unless a person asks. */
  dismiss(by: Principal, ids: readonly string[]): Promise<number>;
  /**
   * Uses the button of one: returns the action that it proposes, proposed again in its agent's name if it has ended
   * without a decision. PermissionDenied unless a person asks; NotFound; IllegalTransition if it proposes nothing;
   * whatever `actions/propose` refuses. For the kernel's own about a suspended schedule: resumes it, and returns its agent.
   */
  act(by: Principal, id: string): Promise<Action | ResumedSchedule>;
  /** Emitted for the clients that are there, once a notification is stored. */
  readonly told: Emitter<AgentNotice>;
}

/** Work that takes a while, identified by a name: its begin, progress and end. `job` is the id of a job. */
export type WorkProgress = { readonly work: string } & (
  | { readonly kind: "begin"; readonly title: string; readonly job?: string }
  | { readonly kind: "report"; readonly message: string; readonly percentage: number }
  | { readonly kind: "end"; readonly message: string }
);
