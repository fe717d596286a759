import type { Emitter } from "../base/emitter.ts";
import type { ChainCheck } from "../base/vocabulary/chain-check.ts";
import type { Conversation, Entry } from "../base/vocabulary/conversation.ts";
import type {
  ConversationContext,
  ConversationEntries,
  ConversationPage,
  ConversationQuery,
  ConversationSearch,
  Delta,
  EntriesPage,
  OpenConversation,
  SearchPage,
  SendMessage,
} from "../base/vocabulary/conversation-requests.ts";
import type { Principal } from "../base/vocabulary/principal.ts";

/** Where the entries of a followed conversation go, and what its models write meanwhile. */
export interface ConversationSink {
  entry(entry: Entry): void;
  delta(delta: Delta): void;
}

/** The requests about conversations. Those that change one are for persons only: PermissionDenied for others. */
export interface ConversationService {
  open(by: Principal, request: OpenConversation): Promise<Conversation>;
  list(query: ConversationQuery): Promise<ConversationPage>;
  get(id: string): Promise<Conversation>;
  /** Returns the id of the message's entry, once it is on the disk. */
  send(by: Principal, message: SendMessage): Promise<string>;
  /** Passes each entry behind `from` on once and in order, then new ones. */
  follow(id: string, from: number, sink: ConversationSink): Promise<Disposable & { readonly seq: number }>;
  entries(query: ConversationEntries): Promise<EntriesPage>;
  /** Proves the log of a conversation, or of an agent's mind itself, from its first record. */
  verify(whose: { readonly id?: string; readonly agent?: string }, signal?: AbortSignal): Promise<ChainCheck>;
  search(query: ConversationSearch): Promise<SearchPage>;
  cancel(by: Principal, id: string, process?: string): Promise<Conversation>;
  fork(by: Principal, id: string, at?: number): Promise<Conversation>;
  compact(by: Principal, id: string): Promise<Conversation>;
  pin(by: Principal, id: string, entry: string, pinned: boolean): Promise<Conversation>;
  update(
    by: Principal,
    id: string,
    change: {
      readonly title?: string;
      readonly model?: string;
      readonly state?: Conversation["state"];
      /** The seq of the last entry that the person has seen. */
      readonly read?: number;
    },
  ): Promise<Conversation>;
  delete(by: Principal, id: string): Promise<{ readonly kept_for_forks: boolean }>;
  context(id: string, process?: string): Promise<ConversationContext>;
  /** Emitted after a conversation's entries, at most ten times a second for each. */
  readonly changed: Emitter<Conversation>;
  /** Emits the id of a conversation that was deleted. */
  readonly deleted: Emitter<string>;
}
