import fc from "fast-check";
import { expect } from "vitest";
import { Emitter } from "../../kernel/src/base/emitter.ts";
import { isLaresError, LaresError } from "../../kernel/src/base/errors.ts";
import { ManualClock } from "../../kernel/src/base/testing/manual-clock.ts";
import { wireCodes } from "../../kernel/src/protocol/errors.ts";
import { abiBounds as bounds } from "../../kernel/src/sandbox/abi/v1/bounds.ts";
import { connectGuest } from "../../kernel/src/sandbox/abi/v1/connection.ts";
import { readMessage } from "../../kernel/src/sandbox/abi/v1/messages.ts";
import { fuzz } from "./support/campaign.ts";

const target = "guest-protocol";

/** A guest's message, as data: honest, late, repeated, with another's id, or nonsense. */
type Saying =
  | { readonly do: "answer"; readonly which: number; readonly how: number }
  | { readonly do: "call"; readonly id: number | string; readonly method: string }
  | { readonly do: "settle"; readonly which: number }
  | { readonly do: "notify"; readonly method: string }
  | { readonly do: "ask" }
  | { readonly do: "raw"; readonly line: string }
  | { readonly do: "wait"; readonly ms: number };

const anyId = fc.oneof(fc.nat(8), fc.constantFrom("a", "b", "1", "__proto__", "constructor", -1, 1.5));
const method = fc.constantFrom("vdfs/query", "trace", "notify", "toString", "__proto__", "");
const depth = fc.constantFrom(1, 63, 64, 65, 200);
const line = fc.oneof(
  fc.json(),
  fc.string({ unit: "binary", maxLength: 30 }),
  depth.map((deep) => `{"jsonrpc":"2.0","id":1,"result":${"[".repeat(deep)}${"]".repeat(deep)}}`),
  depth.map(
    (deep) => `{"jsonrpc":"2.0","id":"d","method":"m","params":{"x":${"[".repeat(deep)}${"]".repeat(deep)}}}`,
  ),
  fc
    .record(
      {
        jsonrpc: fc.constantFrom("2.0", "1.0"),
        id: fc.oneof(anyId, fc.constantFrom(null, true, "x".repeat(200))),
        method: fc.oneof(method, fc.jsonValue()),
        params: fc.jsonValue(),
        result: fc.jsonValue(),
        error: fc.oneof(
          fc.jsonValue(),
          fc.record({ code: fc.integer(), message: fc.string(), data: fc.jsonValue() }),
        ),
      },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
);
const saying: fc.Arbitrary<Saying> = fc.oneof(
  fc.record({ do: fc.constant("answer" as const), which: fc.nat(80), how: fc.nat(2) }),
  fc.record({ do: fc.constant("call" as const), id: anyId, method }),
  fc.record({ do: fc.constant("settle" as const), which: fc.nat(80) }),
  fc.record({ do: fc.constant("notify" as const), method }),
  fc.record({ do: fc.constant("ask" as const) }),
  fc.record({ do: fc.constant("raw" as const), line }),
  fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(0, 10, 1000) }),
);

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

fuzz({
  target,
  property:
    "whatever a guest says, each request is answered by its own answer or its end, each call at most once",
  arbitrary: fc.array(saying, { maxLength: 60 }),
  runs: 900,
  check: async (sayings) => {
    const lines = new Emitter<string>();
    const clock = new ManualClock();
    const exit = Promise.withResolvers<{ reason: string }>();
    const sent: Record<string, unknown>[] = [];
    const faults: string[] = [];
    const notified: string[] = [];
    const calls: PromiseWithResolvers<unknown>[] = [];
    let isKilled = false;
    const connection = connectGuest(
      {
        lines,
        exited: exit.promise,
        send: (text) => {
          expect(text).not.toMatch(/\n/);
          sent.push(JSON.parse(text) as Record<string, unknown>);
        },
        kill: async (reason = "") => {
          isKilled = true;
          exit.resolve({ reason });
        },
      },
      {
        clock,
        errors: wireCodes,
        call: () => {
          const reply = Promise.withResolvers<unknown>();
          calls.push(reply);
          return reply.promise;
        },
        notify: (name) => void notified.push(name),
        fault: (sentence) => void faults.push(sentence),
      },
    );
    const asked: { id: number; outcome: Promise<unknown>; expected?: unknown }[] = [];

    const isOpen = (id: unknown): boolean => asked.some((one) => one.id === id && one.expected === undefined);
    for (const what of sayings) {
      if (what.do === "ask") {
        const outcome = connection.request("hook", { n: asked.length }).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        );
        if (!isKilled) asked.push({ id: asked.length + 1, outcome });
      } else if (what.do === "answer") {
        const one = asked[what.which % Math.max(1, asked.length)];
        if (one === undefined) continue;
        const answer = [{ result: what.which }, { error: { code: 5, message: "no" } }, { result: null }][
          what.how
        ];
        if (!isKilled && one.expected === undefined) one.expected = answer;
        lines.emit(JSON.stringify({ jsonrpc: "2.0", id: one.id, ...answer }));
      } else if (what.do === "call") {
        lines.emit(JSON.stringify({ jsonrpc: "2.0", id: what.id, method: what.method, params: {} }));
      } else if (what.do === "settle") {
        calls[what.which % Math.max(1, calls.length)]?.resolve({ done: true });
      } else if (what.do === "notify") {
        lines.emit(JSON.stringify({ jsonrpc: "2.0", method: what.method, params: {} }));
      } else if (what.do === "raw") {
        const read = readMessage(what.line);
        // An unexpected answer that happens to fit is an answer.
        if ((read.kind === "result" || read.kind === "error") && isOpen(read.id)) continue;
        lines.emit(what.line);
      } else {
        clock.advance(what.ms);
      }
      await settled();
      expect(connection.openCalls).toBeLessThanOrEqual(bounds.maxOpenCalls);
      expect(faults.length).toBeLessThanOrEqual(sayings.length + bounds.maxFaults);
    }
    for (const fault of faults)
      expect(fault).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(notified.filter((name) => name !== "trace" && name !== "notify")).toEqual([]);
    const answered = sent.filter((message) => "result" in message || "error" in message).length;
    const readable = sayings.filter(
      (what) => what.do === "call" || (what.do === "raw" && readMessage(what.line).kind === "call"),
    );
    expect(answered, "no more answers than calls").toBeLessThanOrEqual(readable.length);
    exit.resolve({ reason: "over" });
    await settled();
    for (const { outcome, expected } of asked) {
      const got = (await outcome) as { value?: unknown; error?: unknown };
      if (expected === undefined) expect(isLaresError(got.error, "AgentError")).toBe(true);
      else if ("result" in (expected as object))
        expect(got.value).toEqual((expected as { result: unknown }).result);
      else expect(got.error).toBeInstanceOf(LaresError);
    }
    connection[Symbol.dispose]();
    expect(clock.pendingTimers).toBe(0);
  },
});
