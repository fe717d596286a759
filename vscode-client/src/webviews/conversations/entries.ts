import * as v from "valibot";
import { Count, Text } from "../shared/common-state.ts";

/** Entries of a conversation as the page gets them: bounded, and without what it does not draw. */

/** Characters of one text of an entry; “Open” shows the rest in an editor. */
export const maxEntryCharacters = 40_000;
/** Characters of a tool's arguments or result. */
export const maxCallCharacters = 8_000;
/** Parts of one message. */
export const maxParts = 128;
/** Processes of a conversation: eight at a time, and those that have ended. */
export const maxProcesses = 512;

const Id = v.pipe(v.string(), v.minLength(1), v.maxLength(128));
const Seq = v.pipe(v.number(), v.integer(), v.minValue(1));
const Range = v.tuple([Seq, Seq]);
const Path = Text(4_096);

export const ShownPart = v.variant("type", [
  v.object({ type: v.literal("text"), text: Text(maxEntryCharacters) }),
  v.object({ type: v.literal("reasoning"), text: Text(maxEntryCharacters) }),
  v.object({ type: v.literal("image"), mediaType: Text(128), bytes: Count }),
  v.object({ type: v.literal("file"), path: Path, range: v.optional(Range) }),
]);
export type ShownPart = v.InferOutput<typeof ShownPart>;

const ProcessState = v.picklist([
  "Waiting",
  "Running",
  "WaitingForInput",
  "WaitingForApproval",
  "Done",
  "Failed",
  "Cancelled",
]);
type ProcessState = v.InferOutput<typeof ProcessState>;

export const ShownProcess = v.object({
  id: Id,
  kind: v.picklist(["channel", "branch", "worker", "compaction", "cortex"]),
  name: v.optional(Text(128)),
  state: ProcessState,
  parent: v.optional(Id),
  task: v.optional(Text(4_000)),
  status: v.optional(Text(400)),
  started: Text(40),
  ended: v.optional(Text(40)),
  error: v.optional(v.object({ code: Text(64), class: v.optional(Text(64)), message: Text(4_000) })),
});
export type ShownProcess = v.InferOutput<typeof ShownProcess>;

const common = {
  seq: Seq,
  id: Id,
  process: Id,
  created: Text(40),
  origin: Text(256),
  /** The extension that changed it. */
  by: v.optional(Text(256)),
  /** Where the text comes from, if it is foreign. */
  sources: v.optional(v.pipe(v.array(Text(512)), v.maxLength(16))),
  /** A text of it is longer than what the page gets. */
  isCut: v.optional(v.literal(true)),
  /** A person had texts removed: it takes the place of the entry with its seq. */
  isRedacted: v.optional(v.literal(true)),
};
const entry = <Kind extends string, Fields extends v.ObjectEntries>(kind: Kind, fields: Fields) =>
  v.object({ ...common, kind: v.literal(kind), ...fields });
const said = { text: Text(maxEntryCharacters), covers: v.optional(Range) };
const reference = { ref: Id, state: Text(40) };

export const ShownEntry = v.variant("kind", [
  entry("message", {
    role: v.picklist(["user", "assistant"]),
    parts: v.pipe(v.array(ShownPart), v.maxLength(maxParts)),
    partial: v.optional(v.literal(true)),
    /** Why the answer ends early. */
    cut: v.optional(v.picklist(["length", "filtered"])),
  }),
  entry("tool_call", {
    call: Id,
    tool: Text(256),
    /** The argument that says most: a path, a query, a task. */
    main: Text(400),
    arguments: Text(maxCallCharacters),
  }),
  entry("tool_result", {
    call: Id,
    status: v.picklist(["success", "error", "needs_approval"]),
    text: Text(maxCallCharacters),
    /** The proposal that waits for the person. */
    action: v.optional(Id),
  }),
  entry("conclusion", said),
  entry("summary", said),
  entry("notice", said),
  entry("process", { value: ShownProcess }),
  entry("action", reference),
  entry("ask", reference),
  entry("block", { name: Text(256), text: Text(maxEntryCharacters) }),
  entry("pin", { entry: Id, pinned: v.boolean() }),
  entry("meta", { title: v.optional(Text(256)), model: v.optional(Text(322)), state: v.optional(Text(40)) }),
  entry("void", { message: Id }),
]);
export type ShownEntry = v.InferOutput<typeof ShownEntry>;
export type ShownEntryOf<Kind extends ShownEntry["kind"]> = Extract<ShownEntry, { kind: Kind }>;

/** A piece of a message that is not finished. */
export const ShownDelta = v.object({
  process: Id,
  message: Id,
  part: Count,
  type: v.picklist(["text", "reasoning", "tool_call"]),
  text: Text(maxEntryCharacters),
});
export type ShownDelta = v.InferOutput<typeof ShownDelta>;
