import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { TraceEntry } from "../support/types.ts";
import { until } from "../support/until.ts";

const TALKER = "test.talker";
const QUIET = "test.quiet";

const PROGRAM = `
import { defineAgent } from "@lares/sdk";
import { fail } from "./helper.ts";
export default defineAgent({
  hooks: {
    async created({ entry }, ctx) { ctx.trace.info("saw " + entry.path, { path: entry.path }); },
    async thrown() { await fail(false); },
    async thrownLater() { await fail(true); },
  },
  tools: {
    async say({ level, message, fields }, ctx) { ctx.trace[level](message, fields); return null; },
    async print({ message }) { console.log(message); return null; },
    async fail({ later }) { return await fail(later); },
  },
});
`;

/** The throw is at line 17, column 5 (columns from 1). */
const HELPER = [
  "interface Options {",
  "  later: boolean;",
  "}",
  "",
  "type Wish = string | undefined;",
  "",
  "// Lines of types and comments, which a bundler drops, so that only a source map leads back.",
  "export async function fail(later: boolean): Promise<never> {",
  "  const options: Options = { later };",
  "  const wish: Wish = undefined;",
  "  if (options.later) {",
  "    await new Promise<void>((resolve) => setTimeout(resolve, 1));",
  "  }",
  "  const text: string = `boom ${String(wish)}`;",
  "",
  "  {",
  "    throw new Error(text);",
  "  }",
  "}",
  "",
].join("\n");

const anyTool = (name: string) => ({
  name,
  description: name,
  handler: name,
  parameters: { type: "object" },
});

let bench: Bench;
let client: Client;
beforeAll(async () => {
  const manifest = {
    permissions: { read_entries: true },
    agent: { trace_level: "debug" },
    hooks: [
      { on: "EntryCreated", handler: "created", filter: 'entry.extension == "txt"' },
      { on: "EntryCreated", handler: "thrown", filter: 'entry.extension == "throw"' },
      { on: "EntryCreated", handler: "thrownLater", filter: 'entry.extension == "later"' },
    ],
    tools: ["say", "print", "fail"].map(anyTool),
  };
  const files = { "helper.ts": HELPER };
  bench = await Bench.create({
    lares: { trace: { level: "debug" } },
    extensions: [
      { id: TALKER, program: PROGRAM, files, manifest },
      { id: QUIET, program: PROGRAM, files, manifest: { ...manifest, hooks: [] } },
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const query = (params: object): Promise<TraceEntry[]> => client.request("lares/traces/query", params);
const say = (agent: string, level: string, message: string, fields?: object) =>
  tool(client, agent, "say", { level, message, fields });
const appears = (text: string, agent = TALKER): Promise<TraceEntry> =>
  until(`a trace with ${text}`, async () => (await query({ agent, text }))[0]);

describe("lares/traces/query", () => {
  beforeAll(async () => {
    for (const level of ["debug", "info", "warn", "error"])
      await say(TALKER, level, `marked ${level}`, { level });
    await say(QUIET, "info", "marked by another");
    await tool(client, TALKER, "print", { message: "marked by console" });
    await until("the traces", async () => (await query({ text: "marked" })).length >= 6);
  });

  test("gives whole entries, newest first", async () => {
    const entries = await query({ agent: TALKER, text: "marked" });
    expect(entries[0]).toMatchObject({
      agent: TALKER,
      message: expect.stringContaining("marked by console"),
    });
    expect(entries.find(({ level }) => level === "warn")).toMatchObject({
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
      level: "warn",
      agent: TALKER,
      message: "marked warn",
      fields: { level: "warn" },
      trace_id: expect.stringMatching(/./),
      span_id: expect.stringMatching(/./),
    });
    const times = entries.map(({ timestamp }) => timestamp);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  const filters: [string, object, (entry: TraceEntry) => boolean][] = [
    ["agent", { agent: QUIET }, ({ agent }) => agent === QUIET],
    ["level", { level: "error" }, ({ level }) => level === "error"],
    ["text", { text: "marked by" }, ({ message }) => message.includes("marked by")],
    ["agent and text", { agent: TALKER, text: "marked by" }, ({ message }) => message.includes("console")],
  ];
  test.each(filters)("filters by %s", async (_name, params, matches) => {
    const entries = await query(params);
    expect(entries).not.toEqual([]);
    expect(entries.filter((entry) => !matches(entry))).toEqual([]);
  });

  test("filters by since and until, and by limit", async () => {
    const all = await query({ agent: TALKER, text: "marked" });
    const middle = all.find(({ message }) => message === "marked warn")?.timestamp ?? "";
    for (const { timestamp } of await query({ since: middle })) expect(timestamp >= middle).toBe(true);
    for (const { timestamp } of await query({ until: middle })) expect(timestamp <= middle).toBe(true);
    expect(await query({ since: "2999-01-01T00:00:00.000Z" })).toEqual([]);
    expect(await query({ agent: TALKER, text: "marked", limit: 2 })).toEqual(all.slice(0, 2));
  });

  test("a hook's traces name the hook, and those of one run share a trace_id", async () => {
    await bench.write("seen.txt", "x");
    const entry = await appears("saw seen.txt");
    expect(entry).toMatchObject({ hook: "created", fields: { path: "seen.txt" } });
    const other = (await query({ agent: TALKER, text: "marked warn" }))[0];
    expect(other?.trace_id).not.toBe(entry.trace_id);
  });
});

describe("lares/traces/follow", () => {
  type Notice = { subscription: string | number; entry: TraceEntry };
  const entriesOf = (subscription: string | number): TraceEntry[] =>
    client
      .notifications<Notice>("lares/traces/entry")
      .filter((notice) => notice.subscription === subscription)
      .map(({ entry }) => entry);
  const follow = async (params: object): Promise<string | number> =>
    (await client.request<{ subscription: string | number }>("lares/traces/follow", params)).subscription;

  test("sends later matching entries until unfollow", async () => {
    await say(TALKER, "error", "before following");
    await appears("before following");
    const all = await follow({});
    const loud = await follow({ agent: TALKER, level: "error" });
    expect(all).not.toBe(loud);
    await say(TALKER, "info", "followed quietly");
    await say(QUIET, "error", "followed elsewhere");
    await say(TALKER, "error", "followed loudly");
    await until("the notifications", () =>
      entriesOf(all).some(({ message }) => message === "followed loudly"),
    );
    await until("the filtered notification", () => entriesOf(loud).length > 0);
    expect(entriesOf(loud).map(({ message }) => message)).toEqual(["followed loudly"]);
    expect(
      entriesOf(all)
        .map(({ message }) => message)
        .filter((message) => message.startsWith("followed")),
    ).toEqual(["followed quietly", "followed elsewhere", "followed loudly"]);
    expect(entriesOf(all).map(({ message }) => message)).not.toContain("before following");

    await client.request("lares/traces/unfollow", { subscription: loud });
    await say(TALKER, "error", "after unfollow");
    await until("the other subscription", () =>
      entriesOf(all).some(({ message }) => message === "after unfollow"),
    );
    expect(entriesOf(loud)).toHaveLength(1);
  });
});

describe("stack traces point into the author's TypeScript", () => {
  test.each([
    ["at once", "throw"],
    ["after an await", "later"],
  ])("a throw %s shows helper.ts:17:5", async (_name, extension) => {
    await bench.write(`stack.${extension}`, "x");
    const entry = await until("the error's trace", async () => {
      const hook = extension === "throw" ? "thrown" : "thrownLater";
      return (await query({ agent: TALKER, level: "error" })).find((each) => each.hook === hook);
    });
    expect(JSON.stringify(entry)).toContain("boom undefined");
    expect(JSON.stringify(entry)).toContain("helper.ts:17:5");
  });

  test("a failed tool leaves the author's frames, and neither empty lines nor the runtime's frames", async () => {
    await expect(tool(client, TALKER, "fail", { later: true })).rejects.toThrow("boom");
    await say(TALKER, "info", "after the failed tool");
    await appears("after the failed tool");
    await appears("helper.ts:17:5");
    const messages = (await query({ agent: TALKER })).map(({ message }) => message);
    const failure = messages.indexOf("The tool fail failed: Error: boom undefined");
    // Newest first, so the frames stand before it.
    expect(messages[failure - 1]).toMatch(/^ +at .*helper\.ts:17:5/);
    expect(messages.filter((message) => message.trim() === "" || message.includes("lares:runtime"))).toEqual(
      [],
    );
  });
});
