import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { LaresError } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { Database } from "../platform/database/database.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import {
  interrupted,
  type KeyedCall,
  KeyedCalls,
  keyedCallMigrations,
  maxKeptBytes,
  maxKeptCalls,
} from "./keyed-calls.ts";
import type { GuestToolResult } from "./tool-result.ts";

let path: string;
let database: Database;
let calls: KeyedCalls;

const openDatabase = (): Promise<Database> =>
  openNearDatabase({ path, migrations: keyedCallMigrations, log: silentLog });

async function reopen(): Promise<void> {
  await database[Symbol.asyncDispose]();
  database = await openDatabase();
  calls = await KeyedCalls.open(database, new ManualClock());
}

beforeEach(async () => {
  path = join(await temporaryFolder(), "ledger.sqlite");
  database = await openDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  calls = await KeyedCalls.open(database, new ManualClock());
});

const keyed = (change: Partial<KeyedCall> = {}): KeyedCall => ({
  caller: "a.b",
  key: "k",
  identity: { tool: "t" },
  depth: 0,
  ...change,
});
const success = (value: unknown): GuestToolResult => ({ status: "success", value });

/** Makes a call whose handler answers with the number of runs. */
function counting() {
  let runs = 0;
  return {
    run: (change: Partial<KeyedCall> = {}) =>
      calls.run(keyed(change), async (begun) => {
        await begun();
        runs += 1;
        return success(runs);
      }),
    get runs() {
      return runs;
    },
  };
}

test("a repeated call gets the first one's result without running, also from the next kernel", async () => {
  const work = counting();
  expect(await work.run()).toEqual(success(1));
  expect(await work.run()).toEqual(success(1));
  await reopen();
  expect(await work.run()).toEqual(success(1));
});

test.each<[string, () => GuestToolResult, unknown]>([
  ["a result", () => success("from the web"), success("from the web")],
  [
    "an error",
    () => {
      throw new LaresError("ToolError", "from the web");
    },
    expect.objectContaining({ code: "ToolError" }),
  ],
])(
  "%s that may hold what nobody vouches for brings it again when it is repeated, in the next kernel too",
  async (_what, answer, expected) => {
    const heard: unknown[] = [];
    const ask = () =>
      calls
        .run(
          keyed(),
          async (begun, hear) => {
            await begun();
            hear({ "agent:web": "minds" });
            hear({ "downloads/a": "all" });
            return answer();
          },
          (foreign) => heard.push(foreign),
        )
        .catch((error: unknown) => error);
    expect(await ask()).toEqual(expected);
    expect(heard.splice(0)).toEqual([{ "agent:web": "minds" }, { "downloads/a": "all" }]);
    await reopen();
    expect(await ask()).toEqual(expected);
    expect(heard).toEqual([{ "agent:web": "minds", "downloads/a": "all" }]);
  },
);

test("keys of different callers, and different keys, are different calls", async () => {
  const work = counting();
  expect(await work.run()).toEqual(success(1));
  expect(await work.run({ caller: "c.d" })).toEqual(success(2));
  expect(await work.run({ key: "l" })).toEqual(success(3));
});

test("a key of another call is refused, and the other call does not run", async () => {
  const work = counting();
  await work.run();
  await expect(work.run({ identity: { tool: "u" } })).rejects.toMatchObject({ code: "InvalidParams" });
  expect(work.runs).toBe(1);
});

test("race: a call that is repeated while the first one runs waits for it and runs nothing", async () => {
  const answer = Promise.withResolvers<GuestToolResult>();
  const begins = Promise.withResolvers<void>();
  const first = calls.run(keyed(), async (begun) => {
    await begun();
    begins.resolve();
    return answer.promise;
  });
  await begins.promise;
  const work = counting();
  const second = work.run();
  answer.resolve(success("first"));
  expect(await Promise.all([first, second])).toEqual([success("first"), success("first")]);
  expect(work.runs).toBe(0);
});

test("a call that its own handler repeats is refused instead of waiting for itself; afterwards it may be repeated", async () => {
  const first = await calls.run(keyed(), async (begun) => {
    await begun();
    const inner = await counting()
      .run({ depth: 1 })
      .catch((error: unknown) => error);
    return success((inner as LaresError).facts["limit"]);
  });
  expect(first).toEqual(success("tool_call_cycle"));
  expect(await counting().run({ depth: 1 })).toEqual(first);
});

test("an error before the handler begins is not stored; one after it began is the outcome", async () => {
  const refused = new LaresError("Busy", "later");
  await expect(calls.run(keyed(), () => Promise.reject(refused))).rejects.toBe(refused);
  const failed = calls.run(keyed(), async (begun) => {
    await begun();
    throw new LaresError("ToolError", "boom", { at: 1 });
  });
  await expect(failed).rejects.toMatchObject({ code: "ToolError" });
  await reopen();
  await expect(counting().run()).rejects.toMatchObject({
    code: "ToolError",
    message: "boom",
    facts: { at: 1 },
  });
});

test("a call that had begun when its kernel ended is not run again: whether it took effect is unknown", async () => {
  const begins = Promise.withResolvers<void>();
  void calls.run(keyed(), async (begun) => {
    await begun();
    begins.resolve();
    return new Promise(() => undefined);
  });
  await begins.promise;
  await reopen();
  const work = counting();
  expect(await work.run()).toEqual(interrupted);
  expect(work.runs).toBe(0);
});

test(`the latest ${maxKeptCalls} outcomes of each caller are kept, and the oldest is deleted first`, async () => {
  const work = counting();
  await work.run({ caller: "other", key: "0" });
  for (let at = 0; at <= maxKeptCalls; at++) await work.run({ key: String(at) });
  const before = work.runs;
  await work.run({ key: "1" });
  await work.run({ caller: "other", key: "0" });
  expect(work.runs).toBe(before);
  await work.run({ key: "0" });
  expect(work.runs).toBe(before + 1);
});

test("outcomes over a caller's limit in bytes are deleted, oldest first; the newest is always kept", async () => {
  const large = (key: string, bytes: number) =>
    calls.run(keyed({ key }), async (begun) => {
      await begun();
      return success("x".repeat(bytes));
    });
  await large("small", 10);
  await large("huge", maxKeptBytes + 1);
  const work = counting();
  expect((await work.run({ key: "huge" })) as { value: unknown }).toMatchObject({ status: "success" });
  expect(work.runs).toBe(0);
  await work.run({ key: "small" });
  expect(work.runs).toBe(1);
});

test("an agent that ends within its handler leaves an unknown effect, which the error says each time", async () => {
  const ended = new LaresError("AgentError", "The agent ended before it answered. It trapped.", {});
  const message = "The agent ended before it answered. It trapped. Whether the call took effect is unknown.";
  const call = keyed({ key: "ended" });
  await expect(
    calls.run(call, async (begun) => {
      await begun();
      throw ended;
    }),
  ).rejects.toMatchObject({ code: "AgentError", message });
  await expect(calls.run(call, () => Promise.reject(new Error("run again")))).rejects.toMatchObject({
    message,
  });
  // One that could not begin had none.
  await expect(calls.run(keyed({ key: "not begun" }), () => Promise.reject(ended))).rejects.toBe(ended);
});
