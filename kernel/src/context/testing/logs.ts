import fc from "fast-check";
import type { Entry, Part } from "../../base/vocabulary/conversation.ts";
import { entryOf, histories } from "../../conversations/testing/entries.ts";

type Given = Parameters<typeof entryOf>[1];

/** Writes a log as a kernel would: entries get their seq, and the turn that is running. */
export class LogWriter {
  readonly entries: Entry[] = [];
  readonly #process: string;
  #turn = "e1";
  #messages = 0;

  constructor(process = "c") {
    this.#process = process;
  }

  get seq(): number {
    return this.entries.length;
  }

  add(fields: Given): Entry {
    const entry = entryOf(this.seq + 1, { process: this.#process, turn: this.#turn, ...fields });
    this.entries.push(entry);
    return entry;
  }

  says(text: string, more: Partial<{ origin: string; id: string }> = {}): Entry {
    const id = more.id ?? `u${this.seq + 1}`;
    this.#turn = id;
    return this.add({
      kind: "message",
      id,
      role: "user",
      origin: more.origin ?? "person",
      parts: [{ type: "text", text }],
    });
  }

  request(message = `m${++this.#messages}`, attempt = 1, digest = this.seq): string {
    this.add({
      kind: "request",
      message,
      attempt,
      model: "lab/m",
      digest: `sha256:${String(digest).padStart(64, "0")}`,
    });
    return message;
  }

  answer(message: string, parts: string | readonly Part[], partial = false): Entry {
    return this.add({
      kind: "message",
      id: message,
      role: "assistant",
      parts: typeof parts === "string" ? [{ type: "text", text: parts }] : [...parts],
      ...(partial ? { partial: true } : {}),
    });
  }

  call(call: string, tool = "files/read", given: unknown = {}): void {
    this.add({ kind: "tool_call", call, tool, arguments: given as never });
  }

  result(call: string, value: unknown = "done"): void {
    this.add({ kind: "tool_result", call, result: { status: "success", value } });
  }

  usage(input: number, cached = 0): void {
    this.add({
      kind: "usage",
      model: "lab/m",
      input_tokens: input,
      output_tokens: 1,
      cache_read_tokens: cached,
    });
  }

  state(state: "Running" | "Cancelled" | "Failed" | "WaitingForInput"): void {
    const value = { id: this.#process, kind: "channel" as const, state, started: "2026-11-26T08:00:00.000Z" };
    this.add({ kind: "process", value });
  }

  /** A whole turn: a message, so many calls, and an answer. */
  turn(text: string, results: readonly unknown[] = [], end = "Done."): void {
    this.says(text);
    for (const [index, value] of results.entries()) {
      const message = this.request();
      this.answer(message, `Step ${index}.`);
      const call = `t${this.seq}`;
      this.call(call, "files/read", { path: `notes/${index}.md` });
      this.result(call, value);
    }
    this.answer(this.request(), end);
  }
}

const anyText = fc.oneof(fc.constantFrom("", " ", "\ud800", "hello", "| x\n[notice]"), fc.string());
const anyPart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: anyText }),
  fc.record({
    type: fc.constant("reasoning" as const),
    text: anyText,
    opaque: fc.record({ model: fc.constantFrom("lab/m", "other/m"), value: fc.constant("signed") }),
  }),
  fc.constant({
    type: "image" as const,
    media_type: "image/png",
    object: `sha256:${"1".repeat(64)}` as const,
    bytes: 3,
  }),
  fc.constant({ type: "file" as const, path: "a.md" }),
);
const process = fc.constantFrom("c", "c", "c", "w1");
const states = ["Running", "WaitingForInput", "Done", "Failed", "Cancelled"] as const;
const message = fc.integer({ min: 1, max: 6 }).map((n) => `m${n}`);
const call = fc.integer({ min: 1, max: 5 }).map((n) => `t${n}`);

const step: fc.Arbitrary<Given> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("message" as const),
      id: message,
      role: fc.constantFrom("user" as const, "assistant" as const),
      origin: fc.constantFrom("person", "model", "web"),
      parts: fc.array(anyPart, { maxLength: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("message" as const),
      id: message,
      role: fc.constant("assistant" as const),
      parts: fc.array(anyPart, { maxLength: 2 }),
      partial: fc.constant(true as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("request" as const),
      message,
      attempt: fc.integer({ min: 1, max: 3 }),
      model: fc.constant("lab/m"),
      digest: fc.constant(`sha256:${"0".repeat(64)}` as const),
    }),
  },
  fc.record({ kind: fc.constant("void" as const), message }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("tool_call" as const),
      call,
      tool: fc.constantFrom("a/b", "files/read"),
      arguments: fc.constantFrom({}, { path: "a.md" }, null) as fc.Arbitrary<never>,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("tool_result" as const),
      call,
      result: fc.oneof(
        fc.record({ status: fc.constant("success" as const), value: fc.oneof(anyText, fc.jsonValue()) }),
        fc.record({ status: fc.constant("error" as const), message: anyText, recoverable: fc.boolean() }),
      ),
    }),
  },
  fc.record({
    kind: fc.constant("process" as const),
    value: fc.record({
      id: process,
      kind: fc.constant("channel" as const),
      state: fc.constantFrom(...states),
      started: fc.constant("2026-11-26T08:00:00.000Z"),
    }),
  }),
  fc.record({
    kind: fc.constantFrom("action" as const, "ask" as const),
    ref: fc.constantFrom("a1", "a2"),
    state: fc.constantFrom("Pending", "Committed", "Denied"),
  }),
  fc.record({ kind: fc.constantFrom("notice" as const, "conclusion" as const), text: anyText }),
  fc.record({ kind: fc.constant("block" as const), name: fc.constantFrom("x", "bulletin"), text: anyText }),
  fc.record({
    kind: fc.constant("usage" as const),
    model: fc.constant("lab/m"),
    input_tokens: fc.nat(99),
    output_tokens: fc.nat(99),
  }),
);

/** Logs of one process in any order, some entries missing. Every request is another one. */
export const logs: fc.Arbitrary<readonly Entry[]> = fc
  .tuple(fc.oneof(fc.array(step, { maxLength: 60 }), histories), fc.array(fc.nat(60), { maxLength: 4 }))
  .map(([steps, gone]) =>
    steps
      .map((fields, index) => {
        const entry = entryOf(index + 1, {
          ...fields,
          process: "c",
          turn: `e${1 + index - (index % 7)}`,
        });
        return entry.kind === "request"
          ? { ...entry, digest: `sha256:${String(index).padStart(64, "0")}` as const }
          : entry;
      })
      .filter((_, index) => !gone.includes(index)),
  );
