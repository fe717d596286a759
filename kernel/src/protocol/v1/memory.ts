import { ChainCheck } from "../../base/vocabulary/chain-check.ts";
import { maxForgetReason } from "../../base/vocabulary/bounds.ts";
import { Type } from "typebox";
import { memoryFields, memoryResults } from "../../base/vocabulary/memory-calls.ts";
import {
  MemoryExport,
  MemoryImport,
  MemoryStats,
  SharedMemory,
} from "../../base/vocabulary/memory-reports.ts";
import { forgottenFields } from "../../base/vocabulary/conversation-requests.ts";
import { stillSaidFields } from "../../base/vocabulary/still-said.ts";
import { define } from "../define.ts";
import { AgentId, Named } from "../../base/vocabulary/request-fields.ts";

/** An absolute path on the kernel's machine. */
const MachinePath = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 4096,
    description: `${description}; an absolute path on the kernel's machine`,
  });

/** The memory's owner: the agent's own memory, or a shared one of this workspace. */
const Whose = { agent: AgentId, ...memoryFields.workingRead };

const noAgent = "There is no agent with this id.";
const noMemory = `${noAgent} Or no shared memory has this \`namespace\`.`;
const busy = "Too many requests to this memory are waiting.";
const ofAnother = "The `namespace` belongs to another workspace's memory, which can only be queried here.";

export const memoryRequests = define({
  "lares/memory/query": {
    about:
      "Queries an agent's memory. `kind` selects the part: `temporal` for its history, `associative` for its knowledge, `working` for its plan, `search` for history and knowledge together. The other fields and the result are those of the host calls `memory/temporal/query`, `memory/associative/query`, `memory/working/read` and `memory/search`.",
    errors: {
      NotFound: noMemory,
      VectorSearchNotConfigured: "The search has the mode `vector`, and no embedder answers.",
      LimitExceeded: "The answer would be too large. Ask for fewer items at once.",
      Busy: busy,
    },
    params: Type.Union([
      Type.Object({
        ...memoryFields.temporalQuery,
        agent: AgentId,
        kind: Type.Literal("temporal", { description: "Events of the history" }),
      }),
      Type.Object({
        ...memoryFields.associativeQuery,
        agent: AgentId,
        kind: Type.Literal("associative", { description: "Items of the knowledge" }),
      }),
      Type.Object({
        ...memoryFields.workingRead,
        agent: AgentId,
        kind: Type.Literal("working", { description: "The working memory, also called the plan" }),
      }),
      Type.Object({
        ...memoryFields.search,
        agent: AgentId,
        kind: Type.Literal("search", { description: "Items of history and knowledge that match a text" }),
      }),
    ]),
    result: Type.Union([
      memoryResults.temporalQuery,
      memoryResults.associativeQuery,
      memoryResults.workingRead,
      memoryResults.search,
    ]),
  },
  "lares/memory/count": {
    about: "Counts events of an agent's history, as the host call `memory/temporal/count` does.",
    errors: {
      NotFound: noMemory,
      LimitExceeded: "There are too many groups. Narrow the time, or group by day.",
      Busy: busy,
    },
    params: Type.Object({ ...memoryFields.temporalCount, agent: AgentId }),
    result: memoryResults.temporalCount,
  },
  "lares/memory/verify": {
    about: "Reads a memory's journal from its first record and checks every hash of the chain.",
    errors: { NotFound: noMemory, PermissionDenied: ofAnother },
    params: Type.Object(Whose),
    result: ChainCheck,
  },
  "lares/memory/export": {
    about: "Writes a memory, as it is now, into one file that `lares/memory/import` reads.",
    errors: {
      NotFound: `${noMemory} Or there is nothing in the memory yet.`,
      PermissionDenied: ofAnother,
      StorageError: "The file cannot be written. Also as for any request.",
    },
    params: Type.Object({
      ...Whose,
      path: MachinePath("The file to write"),
      overwrite: Type.Optional(
        Type.Boolean({
          description: "Replaces a file that exists, which is InvalidParams otherwise",
          default: false,
        }),
      ),
    }),
    result: MemoryExport,
  },
  "lares/memory/import": {
    about:
      "Reads an exported memory into an agent's empty one. The whole file is verified first, also for a preview.",
    errors: {
      NotFound: noAgent,
      DigestMismatch: "The file's head differs from `head`.",
      StorageError: "The file cannot be read or is damaged. Also as for any request.",
    },
    params: Type.Object({
      agent: AgentId,
      path: MachinePath("The file to read"),
      preview: Type.Optional(
        Type.Boolean({
          description: "Verifies the file, returns a summary of it, and writes nothing",
          default: false,
        }),
      ),
      head: Type.Optional(
        Type.String({
          pattern: "^[0-9a-f]{64}$",
          description: "The expected head, as shown to the user",
        }),
      ),
    }),
    result: MemoryImport,
  },
  "lares/memory/stats": {
    about: "Returns how large a memory is, and the state of its projections.",
    errors: { NotFound: noMemory, PermissionDenied: ofAnother },
    params: Type.Object(Whose),
    result: MemoryStats,
  },
  "lares/memory/namespaces": {
    about: "Returns the shared memories that are in force, in the order of the document.",
    errors: { NotFound: noAgent },
    params: Type.Object({
      agent: Type.Optional(Named("Only the shared memories that the agent with this id may open")),
    }),
    result: Type.Object({
      namespaces: Type.Array(SharedMemory, { description: "The shared memories" }),
    }),
  },
  "lares/memory/correct": {
    about:
      "Replaces the text of what a mind remembers by what a person says. Type, importance and subject stay; the text is the person's, so it is not tainted, whatever the old one was made of. The old text is forgotten, as `lares/memory/forget` does. All conversations recall the new one. The result says where else the old text stands, as that of `lares/memory/forget` does.",
    errors: {
      NotFound: `${noAgent} Or it knows no item with this \`id\`.`,
      InvalidParams: "No mind has saved the item, or the text is blank.",
      PermissionDenied: "Only a person can do this.",
    },
    params: Type.Object({
      agent: AgentId,
      id: Named("The id of the item"),
      text: Type.String({
        minLength: 1,
        maxLength: 4_000,
        pattern: "\\S",
        description: "What it says from now on",
      }),
    }),
    result: Type.Object({
      ...stillSaidFields,
      id: Type.String({ description: "The id that it has from now on" }),
      seq: Type.Integer({ description: "The number of the record that says that the old text is forgotten" }),
    }),
  },
  "lares/memory/forget": {
    about:
      "Removes an event or an item from an agent's memory: from the journal, which keeps a record that something was removed, and from everything that the memory made of it. If a mind's bulletin was written from it, that is emptied. The result names the blocks and the conversations in which the text still stands. With `copies`, copies of its text in the mind's conversations and elsewhere are removed first, as by `lares/conversations/redact`; other memories stay.",
    errors: { NotFound: `${noAgent} Or nothing in its memory has this \`id\`.` },
    params: Type.Object({
      agent: AgentId,
      id: Named("The id of the event or item"),
      reason: Type.Optional(
        Type.String({ maxLength: maxForgetReason, description: "Why; it is kept with the record" }),
      ),
      copies: Type.Optional(
        Type.Boolean({
          description: "Also removes copies of the text of an item elsewhere. Default: false",
        }),
      ),
    }),
    result: Type.Object({
      ...stillSaidFields,
      seq: Type.Integer({ description: "The number of the record that says so" }),
      removed: Type.Optional(forgottenFields.removed),
      remains: Type.Optional(forgottenFields.remains),
    }),
  },
});
