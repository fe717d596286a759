import { Type } from "typebox";
import { ChainCheck } from "../../base/vocabulary/chain-check.ts";
import { Conversation } from "../../base/vocabulary/conversation.ts";
import { Why, WhyQuery } from "../../base/vocabulary/answer-reasons.ts";
import {
  Block,
  ConversationContext,
  ConversationEntries,
  ConversationId,
  ConversationPage,
  ConversationQuery,
  ConversationSearch,
  EditBlock,
  EntriesPage,
  ModelName,
  OpenConversation,
  RedactConversation,
  RedactedConversation,
  SearchPage,
  SendMessage,
} from "../../base/vocabulary/conversation-requests.ts";
import { AgentId, Named } from "../../base/vocabulary/request-fields.ts";
import { define } from "../define.ts";
import { Subscription } from "./traces.ts";

const unknown = "There is no such conversation.";
const damaged =
  "Its log is not what was written; `data.firstBad` names the first bad entry. It is left as it is.";
const person = "Only a person can do this.";

export const conversationRequests = define({
  "lares/conversations/open": {
    about: "Begins a conversation with an agent's mind and returns it once it is on the disk.",
    errors: {
      NotFound: "There is no such agent, or it has no mind.",
      ModelError: "The model does not name a configured provider.",
      PermissionDenied: person,
    },
    params: OpenConversation,
    result: Conversation,
  },
  "lares/conversations/list": {
    about: "Returns conversations, the last used first. Reads no log.",
    errors: { InvalidParams: "The cursor is not one of this method." },
    params: ConversationQuery,
    result: ConversationPage,
  },
  "lares/conversations/get": {
    about: "Returns a conversation.",
    errors: { NotFound: unknown },
    params: Type.Object({ id: ConversationId }),
    result: Conversation,
  },
  "lares/conversations/send": {
    about:
      "Writes a person's message and returns the id of its entry once that is on the disk. The files that it names are read with it, as far as the mind may read them; those that are pictures (PNG, JPEG, GIF, WebP, by their first bytes) are shown to the model behind their names. A model that takes no pictures reads a sentence in their place. The answer comes as entries. What goes wrong with it is an entry too, and no error of this method.",
    errors: {
      NotFound: unknown,
      StorageError: damaged,
      LimitExceeded:
        "The message is too long, has too many or too large pictures, or the log is full, or too many messages wait.",
      InvalidParams:
        "Both or none of `text` and `parts` are given, or the message is empty, or a picture's bytes are none of its type.",
      IllegalTransition: "The conversation is archived.",
      PermissionDenied: person,
    },
    params: SendMessage,
    result: Type.Object({ entry: Type.String({ description: "The entry's id" }) }),
  },
  "lares/conversations/follow": {
    about:
      "Sends the entries of a conversation to this client as `lares/conversations/entry`, each once and in order: first those behind `from`, then new ones; and what a model writes meanwhile as `lares/conversations/delta`. Until `lares/conversations/unfollow` or the end of the connection. `lares serve` follows again by itself when the kernel is replaced.",
    errors: {
      NotFound: unknown,
      StorageError: damaged,
      LimitExceeded: "This client follows 64 conversations and traces already.",
    },
    params: Type.Object({
      id: ConversationId,
      from: Type.Optional(
        Type.Integer({
          minimum: 0,
          default: 0,
          description: "The seq of the last entry that the client has; default 0, which is before the first",
        }),
      ),
    }),
    result: Type.Object({
      subscription: Subscription,
      seq: Type.Integer({ minimum: 0, description: "The seq of the last entry as of now" }),
    }),
  },
  "lares/conversations/unfollow": {
    about: "Ends a subscription of this connection. An unknown one is ignored.",
    errors: {},
    params: Type.Object({ subscription: Subscription }),
    result: Type.Null(),
  },
  "lares/conversations/entries": {
    about: "Returns entries of a conversation, or of the activity log of an agent's mind.",
    errors: { NotFound: unknown, InvalidParams: "Both or none of `id` and `agent` are given." },
    params: ConversationEntries,
    result: EntriesPage,
  },
  "lares/conversations/verify": {
    about:
      "Reads the log of a conversation, or of an agent's mind itself, from its first record and checks every hash of the chain; of a fork, the logs of its origins too. Answers for a damaged log as well.",
    errors: { NotFound: unknown, InvalidParams: "Both or none of `id` and `agent` are given." },
    params: Type.Object({
      id: Type.Optional(ConversationId),
      agent: Type.Optional(Named("Instead of `id`: the agent whose mind's own log to check")),
    }),
    result: ChainCheck,
  },
  "lares/conversations/search": {
    about: "Searches what was said in a mind's conversations, what it knows, and its blocks.",
    errors: {
      NotFound: "There is no such agent, or it has no mind.",
      VectorSearchNotConfigured:
        "The mode is `vector`, and no embedder answers. A service elsewhere gets messages only of agents that may use_models with the category `embedding`.",
    },
    params: ConversationSearch,
    result: SearchPage,
  },
  "lares/conversations/cancel": {
    about:
      "Stops a process and all that it started, or everything that runs in the conversation. Returns the conversation once nothing runs there and that is written.",
    errors: { NotFound: "There is no such conversation or process.", PermissionDenied: person },
    params: Type.Object({
      id: ConversationId,
      process: Type.Optional(Named("The process; default all of the conversation")),
    }),
    result: Conversation,
  },
  "lares/conversations/fork": {
    about: "Begins a conversation with the entries that another one has up to a seq.",
    errors: {
      NotFound: unknown,
      InvalidParams: "`at` is not the seq of an entry.",
      PermissionDenied: person,
    },
    params: Type.Object({
      id: ConversationId,
      at: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: "The seq of the last entry that both have; default the last",
        }),
      ),
    }),
    result: Conversation,
  },
  "lares/conversations/compact": {
    about:
      "Summarises the conversation's earlier turns, so that its context gets smaller. Returns when that has begun; its end is an entry.",
    errors: {
      NotFound: unknown,
      IllegalTransition: "A compaction runs already, or there is nothing to summarise.",
      PermissionDenied: person,
    },
    params: Type.Object({ id: ConversationId }),
    result: Conversation,
  },
  "lares/conversations/pin": {
    about: "Keeps an entry in the context whatever is summarised, or lets it go.",
    errors: {
      NotFound: "There is no such conversation or entry.",
      LimitExceeded: "256 entries are pinned.",
      PermissionDenied: person,
    },
    params: Type.Object({
      id: ConversationId,
      entry: Named("The entry's id"),
      pinned: Type.Boolean({ description: "Whether it is pinned" }),
    }),
    result: Conversation,
  },
  "lares/conversations/redact": {
    about:
      "Removes an entry, or a text wherever it stands, from a conversation and from all that share its entries, for good: from the logs, whose hashes stay and prove as before, from pages, searches and what models read. `[redacted by the person]` stands in its place; calls keep their results, and what tainted a conversation still does. With an entry go summaries that stand for it, and copies of its whole text. Clients that follow get a `redaction` with the entries as they are from then on. Copies in questions, actions, outcomes of calls, events, jobs, notifications, shared values, traces and memories of these conversations are removed too (`removed`); an action that waits and has the text is withdrawn. What stays is named with the reason (`remains`): what an action needs so that it can be undone, files of the workspace that show the conversation, which are the person's own, and whatever else in the state folder has the text. What was made from it by models is listed, and removed with `with_derived`; `preview` lists it before anything is removed. If the kernel dies meanwhile, the next one completes it.",
    errors: {
      NotFound: "There is no such conversation or entry.",
      InvalidParams: "Both or none of `entry` and `text` are given, or the entry has no text.",
      IllegalTransition: "Something runs in one of the conversations.",
      StorageError: damaged,
      PermissionDenied: person,
    },
    params: RedactConversation,
    result: RedactedConversation,
  },
  "lares/conversations/blocks": {
    about:
      "Returns the blocks of a mind with their texts: those that all its conversations share, and with `id` those of that conversation too.",
    errors: { NotFound: "There is no such agent or conversation, or the agent has no mind." },
    params: Type.Object({
      agent: AgentId,
      id: Type.Optional(Named("A conversation of the mind, for its own blocks")),
    }),
    result: Type.Object({ items: Type.Array(Block, { description: "In the order of the manifest" }) }),
  },
  "lares/conversations/editBlock": {
    about:
      "Writes a block of a mind as a person wants it, also a read-only one, and returns it once that is on the disk. The text is the person's, so it is not tainted. Conversations that have the block are told before their next request. With `forget`, what the block said before is removed for good, as `lares/conversations/redact` does, from the logs of all conversations that may have been told.",
    errors: {
      NotFound: "There is no such agent, conversation or block, or the agent has no mind.",
      InvalidParams: "Each conversation has its own block of this name, and `id` is not given.",
      LimitExceeded: "The text is longer than the manifest allows.",
      IllegalTransition:
        "What it said is to be forgotten, and something runs in a conversation that may have it.",
      StorageError: damaged,
      PermissionDenied: person,
    },
    params: EditBlock,
    result: Block,
  },
  "lares/conversations/update": {
    about:
      "Changes the title, the model or the state of a conversation, or marks it as read: a client that shows it to the person does that.",
    errors: {
      NotFound: unknown,
      ModelError: "The model does not name a configured provider.",
      IllegalTransition: "It cannot be archived while something runs in it.",
      PermissionDenied: person,
    },
    params: Type.Object({
      id: ConversationId,
      title: Type.Optional(Type.String({ maxLength: 256, description: "The title from now on" })),
      model: Type.Optional(ModelName),
      state: Type.Optional(
        Type.Union(Conversation.properties.state.anyOf, { description: "The state from now on" }),
      ),
      read: Type.Optional(
        Type.Integer({
          minimum: 1,
          description:
            "The seq of the last entry that the person has seen: what came until then is not unread",
        }),
      ),
    }),
    result: Conversation,
  },
  "lares/conversations/delete": {
    about:
      "Deletes a conversation for good. What runs in it is cancelled first. Entries that forks of it have stay until these are deleted; `kept_for_forks` says so.",
    errors: { NotFound: unknown, PermissionDenied: person },
    params: Type.Object({ id: ConversationId }),
    result: Type.Object({
      kept_for_forks: Type.Boolean({ description: "A fork has entries of it, which are kept" }),
    }),
  },
  "lares/conversations/context": {
    about: "Returns what a process's model would see if it were asked now.",
    errors: { NotFound: "There is no such conversation or process." },
    params: Type.Object({
      id: ConversationId,
      process: Type.Optional(Named("The process; default the channel")),
    }),
    result: ConversationContext,
  },
  "lares/conversations/why": {
    about:
      "Returns what the model had before it when it wrote an answer, beside the conversation itself: the blocks, the bulletin, and the memories that were recalled, by it or by the branches whose conclusions it read. Worked out from the log as it was then, with what became of each memory since. What a person had removed is not in it.",
    errors: {
      NotFound: "There is no such conversation or entry, or nothing was answered yet.",
      InvalidParams: "The entry is not an answer of a model.",
    },
    params: WhyQuery,
    result: Why,
  },
});
