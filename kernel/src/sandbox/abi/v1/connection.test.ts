import { describe, expect, test } from "vitest";
import { Emitter } from "../../../base/emitter.ts";
import { conflict, type ErrorCode, LaresError } from "../../../base/errors.ts";
import { ManualClock } from "../../../base/testing/manual-clock.ts";
import { abiBounds as bounds } from "./bounds.ts";
import { connectGuest, isAgentEnd, type ConnectionPorts, type GuestConnection } from "./connection.ts";
import type { ErrorNumbers } from "./wire-errors.ts";

const words: readonly ErrorCode[] = [
  "NotFound",
  "Conflict",
  "LimitExceeded",
  "AgentError",
  "MethodNotFound",
  "InternalError",
];
const numbers = Object.fromEntries(words.map((word, index) => [word, -33000 - index])) as ErrorNumbers;

/** A guest whose lines the test writes. */
class Wire {
  readonly lines = new Emitter<string>();
  readonly sent: Record<string, unknown>[] = [];
  readonly faults: string[] = [];
  readonly notified: unknown[] = [];
  readonly clock = new ManualClock();
  readonly #exit = Promise.withResolvers<{ reason: string }>();
  readonly exited = this.#exit.promise;
  killedFor: string | undefined;
  readonly connection: GuestConnection;

  constructor(call: ConnectionPorts["call"] = () => Promise.resolve(null)) {
    this.connection = connectGuest(this, {
      clock: this.clock,
      errors: numbers,
      call,
      notify: (method, params) => void this.notified.push([method, params]),
      fault: (sentence) => void this.faults.push(sentence),
    });
  }

  send(line: string): void {
    this.sent.push(JSON.parse(line) as Record<string, unknown>);
  }

  async kill(reason = ""): Promise<void> {
    this.killedFor = reason;
    this.#exit.resolve({ reason });
    await this.exited;
  }

  says(message: object): void {
    this.lines.emit(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("requests to the guest", () => {
  test("answers in any order reach their callers; duplicate and unrequested answers are counted and ignored", async () => {
    const wire = new Wire();
    const first = wire.connection.request("hook", { a: 1 });
    const second = wire.connection.request("tool", {});
    expect(wire.sent).toEqual([
      { jsonrpc: "2.0", id: 1, method: "hook", params: { a: 1 } },
      { jsonrpc: "2.0", id: 2, method: "tool", params: {} },
    ]);
    wire.says({ id: 2, result: "two" });
    wire.says({ id: 1, result: "one" });
    expect([await first, await second]).toEqual(["one", "two"]);
    wire.says({ id: 1, result: "again" });
    wire.says({ id: 77, result: null });
    wire.says({ id: "1", result: null });
    expect([wire.connection.strayAnswers, wire.faults]).toEqual([3, []]);
    wire.clock.advance(1000);
    expect(wire.faults).toEqual(["It answered 3 times without an open request."]);
  });

  test.each<[string, object, object]>([
    [
      "of the catalogue",
      { code: -33001, message: "no", data: { code: "Conflict", revision: 3 } },
      { code: "Conflict", message: "no", facts: { revision: 3 } },
    ],
    [
      "whose word and number disagree",
      { code: 5, message: "no", data: { code: "Conflict" } },
      { code: "AgentError" },
    ],
    ["with no data", { code: 1, message: "thrown" }, { code: "AgentError", message: "thrown", facts: {} }],
    [
      "with a word of Object's",
      { code: 1, message: "x", data: { code: "constructor" } },
      { code: "AgentError" },
    ],
  ])("an error %s", async (_name, error, expected) => {
    const wire = new Wire();
    const asked = wire.connection.request("hook", {});
    wire.says({ id: 1, error });
    await expect(asked).rejects.toMatchObject(expected);
  });

  test("requests beyond the open limit wait in order; requests beyond the waiting limit are refused", async () => {
    const wire = new Wire();
    const all = Array.from({ length: bounds.maxOpenCalls + bounds.maxWaitingRequests }, () =>
      wire.connection.request("hook", {}),
    );
    expect(wire.sent).toHaveLength(bounds.maxOpenCalls);
    await expect(wire.connection.request("hook", {})).rejects.toMatchObject({ code: "LimitExceeded" });
    wire.says({ id: 5, result: 5 });
    expect(wire.sent.at(-1)?.["id"]).toBe(bounds.maxOpenCalls + 1);
    for (let id = 1; id <= all.length; id++) if (id !== 5) wire.says({ id, result: id });
    expect(await Promise.all(all)).toEqual(all.map((_, index) => index + 1));
  });

  test("an abandoned request rejects at once and frees its place; its late answer is stray", async () => {
    const wire = new Wire();
    const all = Array.from({ length: bounds.maxOpenCalls + 1 }, () => wire.connection.request("tool", {}));
    wire.connection.abandon(3, new LaresError("AgentError", "too late"));
    wire.connection.abandon(3, new LaresError("AgentError", "again"));
    await expect(all[2]).rejects.toThrow("too late");
    expect(wire.sent).toHaveLength(bounds.maxOpenCalls + 1);
    wire.says({ id: 3, result: "late" });
    expect(wire.connection.strayAnswers).toBe(1);
  });

  test("open and waiting requests reject when the guest ends, and so do later ones", async () => {
    const wire = new Wire();
    const all = Array.from({ length: 70 }, () => wire.connection.request("hook", {}));
    const results = Promise.allSettled(all);
    await wire.kill("It trapped.");
    expect(
      new Set((await results).map((result) => (result as PromiseRejectedResult).reason.message)),
    ).toEqual(new Set(["The agent ended before it answered. It trapped."]));
    await expect(wire.connection.request("hook", {})).rejects.toMatchObject({ code: "AgentError" });
  });

  test("params over the bound of a line are refused, counted in bytes and not in characters", async () => {
    const wire = new Wire();
    const text = "ä".repeat(bounds.maxLineBytes / 2);
    await expect(wire.connection.request("hook", { text })).rejects.toMatchObject({ code: "LimitExceeded" });
    expect(wire.sent).toEqual([]);
  });
});

describe("calls of the guest", () => {
  test("results and errors are sent back; an unexpected error reveals nothing about the kernel", async () => {
    const wire = new Wire(async (method) => {
      if (method === "conflict") throw conflict(7);
      if (method === "crash") throw new Error("secret of the kernel");
      return method === "nothing" ? undefined : { method };
    });
    for (const [id, method] of ["fine", "nothing", "conflict", "crash"].entries())
      wire.says({ id, method, params: {} });
    await settled();
    expect(wire.sent).toMatchObject([
      { id: 0, result: { method: "fine" } },
      { id: 1, result: null },
      { id: 2, error: { code: -33001, data: { code: "Conflict", revision: 7 } } },
      { id: 3, error: { code: -33005, data: { code: "InternalError" } } },
    ]);
    expect(JSON.stringify(wire.sent)).not.toContain("secret");
    expect(wire.faults).toEqual(['Its call "crash" failed in the kernel: secret of the kernel']);
  });

  test("a call that throws at once is answered like one that rejects", async () => {
    const wire = new Wire(() => {
      throw new LaresError("NotFound", "gone");
    });
    wire.says({ id: 1, method: "vdfs/get" });
    await settled();
    expect(wire.sent).toMatchObject([{ id: 1, error: { message: "gone" } }]);
  });

  test("the 65th open call is refused; after an answer another one is accepted", async () => {
    const replies: PromiseWithResolvers<unknown>[] = [];
    const wire = new Wire(() => {
      const reply = Promise.withResolvers<unknown>();
      replies.push(reply);
      return reply.promise;
    });
    for (let id = 0; id < 65; id++) wire.says({ id, method: "wait" });
    await settled();
    expect(wire.connection.openCalls).toBe(64);
    expect(wire.sent).toMatchObject([{ id: 64, error: { code: -33002, data: { limit: "maxOpenCalls" } } }]);
    replies[0]?.resolve("done");
    await settled();
    wire.says({ id: 99, method: "wait" });
    await settled();
    expect([wire.connection.openCalls, wire.sent.length]).toEqual([64, 2]);
  });

  test("a trace sent as a call is refused, because it has no answer", async () => {
    const handed: string[] = [];
    const wire = new Wire(async (method) => void handed.push(method));
    wire.says({ id: 1, method: "trace", params: { level: "info", message: "m" } });
    await settled();
    expect(wire.sent).toMatchObject([{ id: 1, error: { code: -33004, data: { code: "MethodNotFound" } } }]);
    expect(handed).toEqual([]);
  });

  test("notify is rate-limited as a notification and as a call; calls over the rate are refused", async () => {
    const handed: string[] = [];
    const wire = new Wire(async (method) => void handed.push(method));
    for (let index = 0; index < 2; index++) wire.says({ method: "notify", params: {} });
    for (let id = 0; id < 5; id++) wire.says({ id, method: "notify", params: {} });
    await settled();
    expect([wire.notified.length, handed.length]).toEqual([2, 3]);
    expect(wire.sent.filter((answer) => "error" in answer)).toMatchObject([
      { id: 3, error: { code: -33002, data: { code: "LimitExceeded", value: bounds.maxNotifiesPerSecond } } },
      { id: 4, error: { code: -33002 } },
    ]);
    wire.clock.advance(1000);
    wire.says({ id: 5, method: "notify", params: {} });
    await settled();
    expect(handed).toHaveLength(4);
  });

  test("an answer that is too long or has no JSON form becomes an error", async () => {
    const wire = new Wire(async (method) => (method === "long" ? "x".repeat(bounds.maxLineBytes) : 1n));
    wire.says({ id: 1, method: "long" });
    wire.says({ id: 2, method: "bigint" });
    await settled();
    expect(wire.sent).toMatchObject([
      { id: 1, error: { code: -33002 } },
      { id: 2, error: { code: -33005 } },
    ]);
  });

  test("a duplicate id is a fault, and the first call is still answered once", async () => {
    const wire = new Wire(async () => "answer");
    wire.says({ id: "a", method: "one" });
    wire.says({ id: "a", method: "two" });
    await settled();
    expect(wire.sent).toEqual([{ jsonrpc: "2.0", id: "a", result: "answer" }]);
    expect(wire.faults).toEqual(['It called "two" with the id "a", which an open call already uses.']);
  });
});

describe("a message that is nested too deep", () => {
  /** Returns an array that makes a message exactly as deep as allowed, or deeper by `more`. */
  const nested = (more = 0): string => {
    const depth = bounds.maxDepth - 1 + more;
    return "[".repeat(depth) + "]".repeat(depth);
  };
  const says = (wire: Wire, members: string): void => wire.lines.emit(`{"jsonrpc":"2.0",${members}}`);

  test("is refused as a call; one level less is accepted", async () => {
    const handed: unknown[] = [];
    const wire = new Wire(async (_method, params) => void handed.push(params));
    says(wire, `"id":1,"method":"actions/propose","params":{"a":${nested(-1)}}`);
    says(wire, `"id":2,"method":"actions/propose","params":{"a":${nested()}}`);
    await settled();
    expect(wire.sent).toMatchObject([
      { id: 2, error: { code: -33002, data: { code: "LimitExceeded", limit: "maxDepth", value: 64 } } },
      { id: 1, result: null },
    ]);
    expect([handed.length, wire.faults]).toEqual([1, []]);
  });

  test("as an answer rejects its request, which is then closed", async () => {
    const wire = new Wire();
    const asked = [wire.connection.request("tool", {}), wire.connection.request("tool", {})];
    says(wire, `"id":1,"result":${nested(1)}`);
    says(wire, `"id":2,"result":${nested()}`);
    await expect(asked[0]).rejects.toMatchObject({ code: "LimitExceeded", facts: { limit: "maxDepth" } });
    expect(await asked[1]).toBeInstanceOf(Array);
    says(wire, '"id":1,"result":1');
    expect(wire.connection.strayAnswers).toBe(1);
  });

  test("is a fault as a notification or with the id of an open call", async () => {
    const wire = new Wire(async () => "answer");
    says(wire, `"method":"trace","params":{"a":${nested()}}`);
    wire.says({ id: 1, method: "one" });
    says(wire, `"id":1,"method":"two","params":{"a":${nested()}}`);
    await settled();
    expect(wire.sent).toEqual([{ jsonrpc: "2.0", id: 1, result: "answer" }]);
    expect([wire.notified, wire.faults]).toEqual([
      [],
      [expect.stringMatching(/nests deeper than 64 levels/), expect.stringMatching(/nests deeper than 64/)],
    ]);
  });

  test("is refused even with hundreds of thousands of levels", async () => {
    const wire = new Wire();
    says(wire, `"id":1,"method":"x","params":{"a":${"[".repeat(400_000)}${"]".repeat(400_000)}}`);
    await settled();
    expect(wire.sent).toMatchObject([{ id: 1, error: { code: -33002 } }]);
  });
});

describe("violations of the ABI", () => {
  test.each<[string, string, RegExp]>([
    ["no JSON", "debug: here", /is not JSON: "debug: here"/],
    ["an array", "[]", /is not a JSON-RPC message/],
    ["null", "null", /is not a JSON-RPC message/],
    ["another version", `{"jsonrpc":"1.0"}`, /does not say/],
    ["a method that is a number", `{"jsonrpc":"2.0","method":1}`, /method that is not a string/],
    [
      "params that are a list, of a notification",
      `{"jsonrpc":"2.0","method":"trace","params":[]}`,
      /params that are not an object/,
    ],
    ["an id that is an object", `{"jsonrpc":"2.0","id":{},"method":"x"}`, /an id that is neither/],
    [
      "an id of 200 characters",
      `{"jsonrpc":"2.0","id":"${"x".repeat(200)}","method":"x"}`,
      /an id that is neither/,
    ],
    ["neither call nor answer", `{"jsonrpc":"2.0"}`, /neither a call nor an answer/],
    ["result and error", `{"jsonrpc":"2.0","id":1,"result":1,"error":{}}`, /both or neither/],
    ["an error without a code", `{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}`, /no code or no message/],
    [
      "an unknown notification",
      `{"jsonrpc":"2.0","method":"constructor"}`,
      /unknown notification "constructor"/,
    ],
    ["control characters, which are not shown", "\u001b[2Jx", /"\?\[2Jx"/],
    ["an empty line", "", /is not JSON/],
  ])("%s is reported, and the next message counts", async (_name, line, fault) => {
    const wire = new Wire(async () => "ok");
    wire.lines.emit(line);
    expect(wire.faults).toHaveLength(1);
    expect(wire.faults[0]).toMatch(fault);
    wire.says({ id: 1, method: "x" });
    await settled();
    expect(wire.sent).toHaveLength(1);
  });

  test("one fault too many terminates the guest with that fault as the reason; later faults are not reported", async () => {
    const wire = new Wire();
    for (let index = 0; index < 30; index++) wire.lines.emit(`garbage ${index}`);
    expect(wire.faults).toHaveLength(bounds.maxFaults);
    expect(wire.killedFor).toBe(
      'It violated the ABI 9 times. The last violation: A line of its stdout is not JSON: "garbage 8".',
    );
  });

  test.each<[string, (wire: Wire, at: number) => void, string]>([
    ["answers to nothing", (wire) => wire.says({ id: 77, result: null }), "more than 20000 of its messages"],
    [
      "traces beyond their rate",
      (wire) => wire.says({ method: "trace", params: { level: "info", message: "m" } }),
      "more than 20000 of its messages",
    ],
    [
      "calls beyond those that may be open",
      (wire, at) => wire.says({ id: at, method: "vdfs/count", params: {} }),
      "more than 2000 of its calls",
    ],
    [
      "notifications of a megabyte",
      (wire) => wire.says({ method: "trace", params: { level: "info", message: "m".repeat(1_000_000) } }),
      "more than 33554432 characters",
    ],
  ])("%s: a flood of them ends the guest; as many over more time do not", async (_name, say, reason) => {
    const slow = new Wire(() => new Promise(() => {}));
    for (let at = 0; at < 30; at++) {
      for (let count = 0; count < 2; count++) say(slow, at * 2 + count);
      slow.clock.advance(1000);
    }
    expect(slow.killedFor).toBeUndefined();
    const wire = new Wire(() => new Promise(() => {}));
    const asked = wire.connection.request("hook", {});
    for (let at = 0; at < 20_300 && wire.killedFor === undefined; at++) say(wire, at);
    expect(wire.killedFor).toContain(reason);
    await expect(asked).rejects.toSatisfy(isAgentEnd);
  });

  test("a guest's error that imitates the kernel's own is not taken for it", async () => {
    const wire = new Wire();
    const asked = wire.connection.request("hook", {});
    wire.says({
      id: 1,
      error: {
        code: numbers.AgentError,
        message: "The agent ended before it answered.",
        data: { code: "AgentError" },
      },
    });
    await expect(asked).rejects.not.toSatisfy(isAgentEnd);
  });

  test("notifications over the rate are dropped and counted; the next second admits them again", () => {
    const wire = new Wire();
    for (let index = 0; index < 250; index++) wire.says({ method: "trace", params: { message: `${index}` } });
    for (let index = 0; index < 8; index++) wire.says({ method: "notify", params: {} });
    expect(wire.notified).toHaveLength(bounds.maxTracesPerSecond + bounds.maxNotifiesPerSecond);
    wire.clock.advance(1000);
    expect(wire.faults.toSorted()).toEqual([
      '"notify" was dropped or refused 3 times: more than 5 came within a second.',
      '"trace" was dropped or refused 50 times: more than 200 came within a second.',
    ]);
    wire.says({ method: "trace", params: {} });
    expect(wire.notified).toHaveLength(bounds.maxTracesPerSecond + bounds.maxNotifiesPerSecond + 1);
  });
});

describe("a call that the guest cancels", () => {
  /** A connection whose calls wait until the test answers them. */
  function waiting() {
    const signals: AbortSignal[] = [];
    const answer = Promise.withResolvers<unknown>();
    const wire = new Wire((_method, _params, cancelled) => {
      signals.push(cancelled);
      return answer.promise;
    });
    return { wire, signals, answer };
  }
  const cancel = (id: unknown) => ({ method: "cancel", params: { id } });

  test("has its signal aborted, the others not, and is answered by whoever does it", async () => {
    const { wire, signals, answer } = waiting();
    wire.says({ id: 1, method: "vdfs/query", params: {} });
    wire.says({ id: "1", method: "vdfs/query", params: {} });
    await settled();
    wire.says(cancel(1));
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(signals[0]?.reason).toMatchObject({ code: "RequestCancelled" });
    answer.resolve("done");
    await settled();
    expect(wire.sent).toEqual([
      { jsonrpc: "2.0", id: 1, result: "done" },
      { jsonrpc: "2.0", id: "1", result: "done" },
    ]);
  });

  test("race: cancelled in the line after it, before anything has begun", async () => {
    const { wire, signals } = waiting();
    wire.says({ id: 1, method: "vdfs/query", params: {} });
    wire.says(cancel(1));
    await settled();
    expect(signals[0]?.aborted).toBe(true);
  });

  test("terminal state: answered, never made or cancelled before, nothing happens, without a fault", async () => {
    const { wire, signals, answer } = waiting();
    wire.says({ id: 1, method: "vdfs/query", params: {} });
    answer.resolve(null);
    await settled();
    for (const id of [1, 1, 99, "x"]) wire.says(cancel(id));
    expect([signals[0]?.aborted, wire.faults, wire.sent.length, wire.killedFor]).toEqual([
      false,
      [],
      1,
      undefined,
    ]);
  });

  test("by an id that no call can have is a fault", () => {
    const { wire } = waiting();
    for (const id of [undefined, null, {}, "x".repeat(bounds.maxIdCharacters + 1)]) wire.says(cancel(id));
    wire.says({ method: "cancel" });
    expect(wire.faults).toHaveLength(5);
  });

  test("in a flood, when none is open, ends the guest", () => {
    const { wire } = waiting();
    for (let sent = 0; sent <= bounds.maxWastedPerSecond; sent++) wire.says(cancel(sent));
    expect(wire.killedFor).toContain("flooded");
  });
});
