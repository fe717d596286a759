import type { Emitter } from "../base/emitter.ts";
import type { Why, WhyQuery } from "../base/vocabulary/answer-reasons.ts";
import type { ChainCheck } from "../base/vocabulary/chain-check.ts";
import type { Conversation, Entry } from "../base/vocabulary/conversation.ts";
import type {
  Block,
  ConversationContext,
  ConversationEntries,
  ConversationPage,
  ConversationQuery,
  ConversationSearch,
  Delta,
  EditBlock,
  EntriesPage,
  OpenConversation,
  RedactConversation,
  RedactedConversation,
  SearchPage,
  SendMessage,
} from "../base/vocabulary/conversation-requests.ts";
import type { Principal } from "../base/vocabulary/principal.ts";

/** Where the entries of a followed conversation go, and what its models write meanwhile. */
interface ConversationSink {
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
  /** Has the mind follow the prompt of a command of its own extension, and reads behind it what a person gave as arguments. */
  runPrompt(
    by: Principal,
    command: { readonly id: string; readonly prompt: string; readonly said?: string },
  ): Promise<void>;
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
  /**
   * Removes an entry, or a text wherever it stands, for good. Resolves when it is in no file of the conversations that had
   * it. IllegalTransition while something runs in one of them.
   */
  redact(by: Principal, request: RedactConversation): Promise<RedactedConversation>;
  /** Returns the blocks of all conversations of a mind, and those of one, if it is named. */
  blocks(place: Pick<EditBlock, "agent" | "id">): Promise<{ readonly items: readonly Block[] }>;
  /** Writes a block. IllegalTransition if what it said before is to be forgotten while something runs that may have it. */
  editBlock(by: Principal, edit: EditBlock): Promise<Block>;
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
  /** Returns what a model had before it when it wrote an answer, beside the conversation itself. */
  why(query: WhyQuery): Promise<Why>;
  /** Emitted after a conversation's entries, at most ten times a second for each. */
  readonly changed: Emitter<Conversation>;
  /** Emits the id of a conversation that was deleted. */
  readonly deleted: Emitter<string>;
}
