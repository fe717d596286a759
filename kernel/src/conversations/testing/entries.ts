import fc from "fast-check";
import type { Entry } from "../../base/vocabulary/conversation.ts";

/** The fields of one kind of entry; those that all kinds have may be left out. */
type Given = {
  [Kind in Entry["kind"]]: { readonly kind: Kind } & Omit<
    Extract<Entry, { kind: Kind }>,
    keyof Common | "kind" | "seq"
  > &
    Partial<Common>;
}[Entry["kind"]];
type Common = Pick<Entry, "id" | "conversation" | "process" | "created" | "origin" | "turn"> &
  Partial<Pick<Entry, "sources" | "tainted" | "by" | "to">>;

export function entryOf(seq: number, fields: Given): Entry {
  return {
    seq,
    id: `e${seq}`,
    conversation: "v",
    process: "p",
    created: new Date(Date.UTC(2026, 10, 26) + seq).toISOString(),
    origin: "model",
    turn: "e1",
    ...fields,
  };
}

const process = fc.constantFrom("c", "w1", "w2", "b1");
const message = fc.constantFrom("m1", "m2", "m3");
const call = fc.integer({ min: 0, max: 40 }).map((n) => `t${n}`);
const fields: fc.Arbitrary<Given> = fc.oneof(
  fc.record({
    kind: fc.constant("message" as const),
    id: message,
    process,
    role: fc.constantFrom("user" as const, "assistant" as const),
    origin: fc.constantFrom("person", "model", "web"),
    parts: fc.constant([]),
  }),
  fc.record({
    kind: fc.constant("message" as const),
    id: message,
    process,
    role: fc.constant("assistant" as const),
    parts: fc.constant([]),
    partial: fc.constant(true as const),
  }),
  fc.record({
    kind: fc.constant("request" as const),
    process,
    message,
    attempt: fc.integer({ min: 1, max: 3 }),
    model: fc.constant("lab/m"),
    digest: fc.constant(`sha256:${"0".repeat(64)}` as const),
  }),
  fc.record({ kind: fc.constant("void" as const), message }),
  fc.record({
    kind: fc.constant("tool_call" as const),
    process,
    call,
    tool: fc.constant("a/b"),
    arguments: fc.constant({}),
  }),
  fc.record({
    kind: fc.constant("tool_result" as const),
    call,
    result: fc.constant({ status: "success" as const, value: null }),
  }),
  fc.record({
    kind: fc.constant("process" as const),
    value: fc.record({
      id: process,
      kind: fc.constantFrom("channel" as const, "worker" as const, "branch" as const),
      state: fc.constantFrom(
        "Running" as const,
        "WaitingForInput" as const,
        "Done" as const,
        "Cancelled" as const,
      ),
      started: fc.constant("2026-11-26T08:00:00.000Z"),
    }),
  }),
  fc.record({
    kind: fc.constantFrom("action" as const, "ask" as const),
    ref: fc.constantFrom("a1", "a2"),
    state: fc.constantFrom("Pending", "Committed", "Denied"),
  }),
  fc.record({ kind: fc.constant("notice" as const), text: fc.string(), tainted: fc.constant(true as const) }),
  fc.record({
    kind: fc.constant("usage" as const),
    model: fc.constant("lab/m"),
    input_tokens: fc.nat(99),
    output_tokens: fc.nat(99),
  }),
  fc.record({ kind: fc.constant("pin" as const), entry: message, pinned: fc.boolean() }),
  fc.record({
    kind: fc.constant("block" as const),
    name: fc.constantFrom("x", "__proto__"),
    text: fc.string(),
  }),
) as fc.Arbitrary<Given>;

/** Histories in which everything comes in any order, as no kernel would write it. */
export const histories: fc.Arbitrary<readonly Entry[]> = fc
  .array(fields, { maxLength: 120 })
  .map((all) => all.map((each, index) => entryOf(index + 1, each)));
