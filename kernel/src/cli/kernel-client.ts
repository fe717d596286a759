import type { Action } from "../base/vocabulary/action.ts";
import type { Approval } from "../base/vocabulary/action-requests.ts";
import type { Decision } from "../base/vocabulary/approval-rule.ts";
import type { Ask } from "../base/vocabulary/ask.ts";
import type { Agent, AgentCommand, Tool } from "../base/vocabulary/agent.ts";
import type { Conversation, Entry } from "../base/vocabulary/conversation.ts";
import type { Delta } from "../base/vocabulary/conversation-requests.ts";
import type { Job } from "../base/vocabulary/job.ts";
import type { TraceEntry, TraceQuery } from "../base/vocabulary/trace.ts";
import type { ParamsOf, ResultOf } from "../protocol/v1/requests.ts";
import type { TrustGrants, TrustProgram, TrustQuestion } from "../base/vocabulary/trust.ts";
import type { KernelConnection } from "./ports.ts";
import type { Notice, Status } from "./render/model.ts";

type ToolResult =
  | { readonly status: "success"; readonly value: unknown }
  | { readonly status: "error"; readonly message: string; readonly recoverable: boolean }
  | { readonly status: "needs_approval"; readonly action: Action; readonly reason: string };

/** A query to a memory, without its owner. */
export type MemoryQuestion =
  | { readonly method: "lares/memory/query"; readonly params: Omitted<ParamsOf<"lares/memory/query">> }
  | { readonly method: "lares/memory/count"; readonly params: Omitted<ParamsOf<"lares/memory/count">> };
type Omitted<Params> = Params extends unknown ? Omit<Params, "agent"> : never;

/** The owner of a memory: an agent, or a namespace that the agent shares. */
export interface MemoryOwner {
  readonly agent: string;
  readonly namespace?: string;
}

/** The notifications of the kernel. */
interface KernelNews {
  readonly "lares/agents/changed": Agent;
  readonly "lares/actions/changed": Action;
  readonly "lares/asks/changed": Ask;
  readonly "lares/traces/entry": { readonly subscription: string; readonly entry: TraceEntry };
  readonly "lares/conversations/entry": { readonly subscription: string; readonly entry: Entry };
  readonly "lares/conversations/delta": Delta & { readonly subscription: string };
  readonly "lares/conversations/changed": Conversation;
  readonly "lares/conversations/deleted": { readonly id: string };
  readonly "lares/notify": Notice;
  readonly "$/progress": WorkDone;
}

/** Long work: it began, made progress, or ended. */
export interface WorkDone {
  readonly token: string;
  readonly value:
    | { readonly kind: "begin"; readonly title: string }
    | { readonly kind: "report"; readonly message?: string; readonly percentage?: number }
    | { readonly kind: "end"; readonly message?: string };
}

/** The requests of the protocol that the commands use, with their types. */
export class KernelClient {
  readonly #connection: KernelConnection;

  constructor(connection: KernelConnection) {
    this.#connection = connection;
  }

  get closed(): KernelConnection["closed"] {
    return this.#connection.closed;
  }

  on<Method extends keyof KernelNews>(
    method: Method,
    listener: (news: KernelNews[Method]) => void,
  ): Disposable {
    return this.#connection.onNotification((name, params) => {
      if (name === method) listener(params as KernelNews[Method]);
    });
  }

  status = (): Promise<Status> => this.#ask("lares/status", {});
  /** Accepts what was shown, bound to its digest: the parts that `grants` names, or everything. */
  trust = (digest: string, grants?: TrustGrants): Promise<Status> =>
    this.#ask("lares/trust", { trusted: true, digest, ...(grants === undefined ? {} : { grants }) });
  /** Revokes every acceptance of this workspace's documents. */
  distrust = (): Promise<Status> => this.#ask("lares/trust", { trusted: false });
  question = (): Promise<TrustQuestion> => this.#ask("lares/trust/question", {});
  program = (extension: string, path?: string): Promise<TrustProgram> =>
    this.#ask("lares/trust/program", path === undefined ? { extension } : { extension, path });

  agents = (): Promise<Agent[]> => this.#ask("lares/agents/list", {});
  control = (id: string, command: AgentCommand, hook?: number): Promise<Agent> =>
    this.#ask("lares/agents/control", hook === undefined ? { id, command } : { id, command, hook });

  traces = (query: TraceQuery): Promise<TraceEntry[]> => this.#ask("lares/traces/query", query);
  follow = (
    query: Pick<TraceQuery, "agent" | "level"> & { readonly inspect?: boolean },
  ): Promise<{ subscription: string }> => this.#ask("lares/traces/follow", query);

  /**
   * Repeats the request until it has all actions, because one answer may not have room for them. `limit`: 100 by
   * default.
   */
  actions = async (query: { state?: string; agent?: string; limit?: number }): Promise<Action[]> => {
    const { limit = 100 } = query;
    const actions: Action[] = [];
    while (actions.length < limit) {
      const last = actions.at(-1);
      const page = await this.#ask<Action[]>("lares/actions/list", {
        ...query,
        limit: limit - actions.length,
        ...(last === undefined ? {} : { before: last.id }),
      });
      actions.push(...page);
      if (page.length === 0) break;
    }
    return actions;
  };
  action = (id: string): Promise<Action> => this.#ask("lares/actions/get", { id });
  diff = async (id: string, effect: number): Promise<string | null> =>
    (await this.#ask<ResultOf<"lares/actions/diff">>("lares/actions/diff", { id, effect })).diff;
  content = (
    id: string,
    effect: number,
    side: "before" | "after",
    offset: number,
  ): Promise<ResultOf<"lares/actions/content">> =>
    this.#ask("lares/actions/content", { id, effect, side, offset });
  /** A person may have typed the digest, so the kernel checks it. */
  approve = (id: string, approval: Omit<Approval, "digest"> & { readonly digest: string }): Promise<Action> =>
    this.#ask("lares/actions/approve", { id, ...approval });
  reject = (id: string, reason?: string): Promise<Action> =>
    this.#ask("lares/actions/reject", reason === undefined ? { id } : { id, reason });
  rebase = (id: string): Promise<Action> => this.#ask("lares/actions/rebase", { id });
  undo = (id: string): Promise<Action> => this.#ask("lares/actions/undo", { id });

  asks = (state?: Ask["state"]): Promise<Ask[]> =>
    this.#ask("lares/asks/list", state === undefined ? {} : { state });
  answerAsk = (id: string, answer: Omit<ParamsOf<"lares/asks/answer">, "id">): Promise<Ask> =>
    this.#ask("lares/asks/answer", { id, ...answer });
  decisions = (): Promise<ResultOf<"lares/decisions/list">> => this.#ask("lares/decisions/list", {});
  revokeDecision = (id: string): Promise<Decision> => this.#ask("lares/decisions/revoke", { id });

  tools = (agent?: string): Promise<Tool[]> =>
    this.#ask("lares/tools/list", agent === undefined ? {} : { agent });
  callTool = (agent: string, name: string, args: unknown): Promise<ToolResult> =>
    this.#ask("lares/tools/call", { agent, name, arguments: args });
  commands = (): Promise<ResultOf<"lares/commands/list">> => this.#ask("lares/commands/list", {});
  runCommand = (agent: string, name: string, args: unknown): Promise<ToolResult> =>
    this.#ask("lares/commands/run", { agent, name, arguments: args });

  notifications = (
    query: ParamsOf<"lares/notifications/list">,
  ): Promise<ResultOf<"lares/notifications/list">> => this.#ask("lares/notifications/list", query);
  dismissNotifications = (ids: string[]): Promise<{ readonly dismissed: number }> =>
    this.#ask("lares/notifications/dismiss", { ids });
  actOnNotification = (id: string): Promise<ResultOf<"lares/notifications/act">> =>
    this.#ask("lares/notifications/act", { id });

  jobs = (query: { agent?: string; limit: number; state?: "dead" }): Promise<ResultOf<"lares/jobs/list">> =>
    this.#ask("lares/jobs/list", query);
  cancelJob = (id: string, agent?: string): Promise<Job> =>
    this.#ask("lares/jobs/cancel", agent === undefined ? { id } : { id, agent });
  retryJob = (id: string): Promise<Job> => this.#ask("lares/jobs/retry", { id });
  removeJob = (id: string): Promise<Job> => this.#ask("lares/jobs/remove", { id });

  types = async (): Promise<ResultOf<"lares/types/list">["items"]> =>
    (await this.#ask<ResultOf<"lares/types/list">>("lares/types/list", {})).items;
  /** Returns all values of a type, page by page. */
  typeValues = async (type: string): Promise<ResultOf<"lares/types/values">["items"]> => {
    const items: ResultOf<"lares/types/values">["items"] = [];
    for (let cursor: string | undefined; ;) {
      const page = await this.#ask<ResultOf<"lares/types/values">>("lares/types/values", {
        type,
        ...(cursor === undefined ? {} : { cursor }),
      });
      items.push(...page.items);
      if (page.cursor === undefined) return items;
      cursor = page.cursor;
    }
  };

  entries = (query: ParamsOf<"lares/entries/query">): Promise<ResultOf<"lares/entries/query">> =>
    this.#ask("lares/entries/query", query);
  models = (): Promise<ResultOf<"lares/models/list">> => this.#ask("lares/models/list", {});

  openConversation = (request: ParamsOf<"lares/conversations/open">): Promise<Conversation> =>
    this.#ask("lares/conversations/open", request);
  conversations = (
    query: ParamsOf<"lares/conversations/list">,
  ): Promise<ResultOf<"lares/conversations/list">> => this.#ask("lares/conversations/list", query);
  /** Returns all that match, page by page, the last used first. */
  allConversations = async (query: ParamsOf<"lares/conversations/list">): Promise<Conversation[]> => {
    const found: Conversation[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.conversations({
        ...query,
        limit: 1_000,
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
    return found;
  };
  conversation = (id: string): Promise<Conversation> => this.#ask("lares/conversations/get", { id });
  send = (message: ParamsOf<"lares/conversations/send">): Promise<ResultOf<"lares/conversations/send">> =>
    this.#ask("lares/conversations/send", message);
  followConversation = (id: string, from: number): Promise<ResultOf<"lares/conversations/follow">> =>
    this.#ask("lares/conversations/follow", { id, from });
  unfollowConversation = (subscription: string): Promise<null> =>
    this.#ask("lares/conversations/unfollow", { subscription });
  cancelConversation = (id: string, process?: string): Promise<Conversation> =>
    this.#ask("lares/conversations/cancel", process === undefined ? { id } : { id, process });
  forkConversation = (id: string, at?: number): Promise<Conversation> =>
    this.#ask("lares/conversations/fork", at === undefined ? { id } : { id, at });
  compactConversation = (id: string): Promise<Conversation> =>
    this.#ask("lares/conversations/compact", { id });
  pinEntry = (id: string, entry: string, pinned: boolean): Promise<Conversation> =>
    this.#ask("lares/conversations/pin", { id, entry, pinned });
  conversationEntries = (
    query: ParamsOf<"lares/conversations/entries">,
  ): Promise<ResultOf<"lares/conversations/entries">> => this.#ask("lares/conversations/entries", query);
  redactConversation = (
    request: ParamsOf<"lares/conversations/redact">,
  ): Promise<ResultOf<"lares/conversations/redact">> => this.#ask("lares/conversations/redact", request);
  blocks = (place: ParamsOf<"lares/conversations/blocks">): Promise<ResultOf<"lares/conversations/blocks">> =>
    this.#ask("lares/conversations/blocks", place);
  editBlock = (
    edit: ParamsOf<"lares/conversations/editBlock">,
  ): Promise<ResultOf<"lares/conversations/editBlock">> => this.#ask("lares/conversations/editBlock", edit);
  updateConversation = (change: ParamsOf<"lares/conversations/update">): Promise<Conversation> =>
    this.#ask("lares/conversations/update", change);
  verifyConversation = (
    whose: ParamsOf<"lares/conversations/verify">,
  ): Promise<ResultOf<"lares/conversations/verify">> => this.#ask("lares/conversations/verify", whose);
  deleteConversation = (id: string): Promise<ResultOf<"lares/conversations/delete">> =>
    this.#ask("lares/conversations/delete", { id });
  whyAnswered = (query: ParamsOf<"lares/conversations/why">): Promise<ResultOf<"lares/conversations/why">> =>
    this.#ask("lares/conversations/why", query);
  conversationContext = (id: string): Promise<ResultOf<"lares/conversations/context">> =>
    this.#ask("lares/conversations/context", { id });

  sharedMemories = (): Promise<ResultOf<"lares/memory/namespaces">> =>
    this.#ask("lares/memory/namespaces", {});
  verifyMemory = (whose: MemoryOwner): Promise<ResultOf<"lares/memory/verify">> =>
    this.#ask("lares/memory/verify", whose);
  memoryStats = (whose: MemoryOwner): Promise<ResultOf<"lares/memory/stats">> =>
    this.#ask("lares/memory/stats", whose);
  askMemory = (
    whose: MemoryOwner,
    { method, params }: MemoryQuestion,
  ): Promise<ResultOf<"lares/memory/query" | "lares/memory/count">> =>
    this.#ask(method, { ...whose, ...params });
  exportMemory = (
    whose: MemoryOwner,
    path: string,
    overwrite: boolean,
  ): Promise<ResultOf<"lares/memory/export">> =>
    this.#ask("lares/memory/export", { ...whose, path, overwrite });
  importMemory = (
    agent: string,
    path: string,
    options: { preview: boolean; head?: string },
  ): Promise<ResultOf<"lares/memory/import">> =>
    this.#ask("lares/memory/import", { agent, path, ...options });
  correctMemory = (agent: string, id: string, text: string): Promise<ResultOf<"lares/memory/correct">> =>
    this.#ask("lares/memory/correct", { agent, id, text });
  forgetMemory = (
    agent: string,
    id: string,
    options: { readonly reason?: string; readonly copies?: boolean } = {},
  ): Promise<ResultOf<"lares/memory/forget">> => this.#ask("lares/memory/forget", { agent, id, ...options });

  async #ask<Result>(method: string, params: object): Promise<Result> {
    // The kernel is the same program as this one, and its answers follow the protocol's schemas.
    return (await this.#connection.request(method, params)) as Result;
  }
}
