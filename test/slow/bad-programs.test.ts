import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, event, probe } from "../support/agents.ts";
import { agent, Bench, inState, tool, type ExtensionSpec } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { Agent, TraceEntry } from "../support/types.ts";
import { until } from "../support/until.ts";
import { assemble } from "../support/wasm.ts";

const HEALTHY = "test.healthy";
const MODULES = '(module (memory (export "memory") 1) (func (export "_start")))';
const fine =
  'import { defineAgent } from "@lares/sdk";\nexport default defineAgent({ hooks: { async present() {} } });\n';

type Broken = { name: string; error: RegExp[] } & Omit<ExtensionSpec, "id">;
/** Programs that cannot run, and the error that their agent must show. */
const broken: Broken[] = [
  { name: "syntax", program: "const fine = 1;\nconst broken = ;\n", error: [/agent\.ts:2/] },
  { name: "throws", program: "\n\nthrow new Error('not at load');\n", error: [/not at load/] },
  {
    name: "node-module",
    program: 'import "./helper.ts";\n',
    files: { "helper.ts": 'import { readFileSync } from "node:fs";\nreadFileSync("/etc/passwd");\n' },
    error: [/node:fs/, /helper\.ts/],
  },
  { name: "no-module", program: 'import "left-pad";\n', error: [/left-pad/, /agent\.ts/] },
  {
    name: "outside",
    program: 'import secret from "../secret.json";\nconsole.log(secret);\n',
    error: [/secret\.json/, /agent\.ts/],
  },
  {
    name: "link",
    program: 'import secret from "./link.json";\nconsole.log(secret);\n',
    error: [/link\.json/, /agent\.ts/],
  },
  {
    name: "missing",
    manifest: { hooks: [{ on: "EntryCreated", handler: "present" }] },
    error: [/agent\.(wasm|ts|js)/],
  },
  { name: "missing-main", manifest: { main: "absent.ts" }, error: [/absent\.ts/] },
  {
    name: "no-handler",
    program: fine,
    manifest: { hooks: [{ on: "EntryCreated", handler: "vanished" }] },
    error: [/vanished/],
  },
  {
    name: "no-tool",
    program: fine,
    manifest: { tools: [{ name: "t", description: "t", handler: "gone", parameters: { type: "object" } }] },
    error: [/gone/],
  },
  {
    name: "swells",
    program: "const all = [];\nfor (;;) all.push(new Uint8Array(1e6).fill(1));\n",
    manifest: { resources: { max_memory_mb: 32 } },
    error: [/memory/i],
  },
  { name: "garbage", files: { "agent.wasm": "this is no module" }, error: [/\w+ \w+/] },
  {
    name: "truncated",
    files: { "agent.wasm": assembleLater(MODULES, (bytes) => bytes.subarray(0, bytes.length - 9)) },
    error: [/\w+ \w+/],
  },
  {
    name: "foreign-import",
    files: {
      "agent.wasm": assembleLater(
        '(module (import "env" "open_the_door" (func)) (memory (export "memory") 1) (func (export "_start")))',
      ),
    },
    error: [/env/],
  },
  {
    name: "unknown-wasi",
    files: {
      "agent.wasm": assembleLater(
        '(module (import "wasi_snapshot_preview1" "fd_teleport" (func)) (memory (export "memory") 1) (func (export "_start")))',
      ),
    },
    error: [/fd_teleport/],
  },
];

/** Programs that begin to run and then end, like one that crashes: after a few attempts they may be Suspended. */
const crashing: Broken[] = [
  {
    name: "spins",
    program: "for (;;) {}\n",
    manifest: { resources: { max_cpu_ms_per_event: 200 } },
    error: [/200 ms/],
  },
  { name: "silent", files: { "agent.wasm": assembleLater(MODULES) }, error: [/ended/] },
];

const extensionOf = ({ name, program, files, manifest }: Broken): ExtensionSpec => ({
  id: `test.${name}`,
  ...(program === undefined ? {} : { program }),
  ...(files === undefined ? {} : { files }),
  manifest: { agent: { activation: "eager" }, ...manifest },
});

function assembleLater(
  text: string,
  change: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes,
): Uint8Array {
  return change(assemble(text));
}

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    lares: { limits: { active_agents: 16 } },
    extensions: [
      probe({ id: HEALTHY, hooks: [{ on: "EntryCreated", handler: "record" }] }),
      ...broken.map(extensionOf),
    ],
  });
  await mkdir(join(bench.base, "extensions"), { recursive: true });
  await writeFile(join(bench.base, "extensions/secret.json"), '{ "secret": "never bundled" }');
  await symlink("../secret.json", join(bench.extensionFolder("test.link"), "link.json"));
  client = await bench.open(); // none of them holds ready back
});
afterAll(() => bench[Symbol.asyncDispose]());

describe("an agent whose program cannot run is Error, with reason and place", () => {
  test.each(broken.map(({ name, error }) => [name, error] as const))("%s", async (name, error) => {
    const shown = await inState(client, `test.${name}`, "Error");
    for (const pattern of error) expect(shown.error).toMatch(pattern);
    expect(shown.error).not.toContain("never bundled");
  });

  test("and the trace of a throw at load points into the author's file", async () => {
    const traces = await client.request<TraceEntry[]>("lares/traces/query", {
      agent: "test.throws",
      level: "error",
    });
    expect(JSON.stringify(traces)).toContain("agent.ts:3:");
  });

  test("and takes neither the kernel nor another agent along", async () => {
    await bench.write("sign-of-life.txt", "x");
    await event(
      client,
      HEALTHY,
      "EntryCreated",
      (seen) => (seen["entry"] as { path: string }).path === "sign-of-life.txt",
    );
    expect((await agent(client, HEALTHY)).state).toBe("Active");
  });

  test("and stays Error without being tried again", async () => {
    const first = await agent(client, "test.throws");
    await call(client, HEALTHY, "vdfs.count", {});
    expect((await agent(client, "test.throws")).since).toBe(first.since);
  });
});

const MOODY = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  memory: { plan: { good: true, handled: [] } },
  hooks: {
    async moody({ entry }, ctx) {
      const { good } = await ctx.memory.plan.read();
      if (!good) throw new Error("in a bad mood");
      await ctx.memory.plan.update((plan) => ({ ...plan, handled: [...plan.handled, entry.path] }));
    },
    async spin() { for (;;) {} },
  },
  tools: {
    async mood({ good }, ctx) { return ctx.memory.plan.update((plan) => ({ ...plan, good })); },
    async plan(_, ctx) { return ctx.memory.plan.read(); },
  },
});
`;

describe("a handler that fails", () => {
  const MOODY_ID = "test.moody";
  const manifest = {
    permissions: { read_entries: true },
    resources: { max_cpu_ms_per_event: 300 },
    hooks: [
      { on: "EntryCreated", handler: "moody", filter: 'entry.extension == "txt"' },
      { on: "EntryCreated", handler: "spin", filter: 'entry.extension == "spin"' },
    ],
    tools: ["mood", "plan"].map((name) => ({
      name,
      description: name,
      handler: name,
      parameters: { type: "object" },
    })),
  };
  let own: Bench;
  let connection: Client;
  beforeAll(async () => {
    own = await Bench.create({
      extensions: [
        { id: MOODY_ID, program: MOODY, manifest },
        ...crashing.map(extensionOf),
        probe({ id: HEALTHY, hooks: [{ on: "EntryCreated", handler: "record" }] }),
      ],
    });
    connection = await own.open();
  });
  afterAll(() => own[Symbol.asyncDispose]());

  test("three times in a row suspends its agent with the reason; resumed by a person, it loses no event", async () => {
    await tool(connection, MOODY_ID, "mood", { good: false });
    const names = ["1.txt", "2.txt", "3.txt", "4.txt"];
    for (const name of names) await own.write(name, "x");
    const suspended = await inState(connection, MOODY_ID, "Suspended");
    expect(suspended.error).toContain("in a bad mood");
    expect(suspended.metrics.events_failed).toBeGreaterThanOrEqual(3);
    const traces = await connection.request<TraceEntry[]>("lares/traces/query", {
      agent: MOODY_ID,
      level: "error",
    });
    expect(traces[0]).toMatchObject({ hook: "moody", message: expect.stringContaining("in a bad mood") });
    await event(connection, HEALTHY, "4.txt", (seen) => (seen["entry"] as { path: string }).path === "4.txt");

    const resumed = await connection.request<{ state: string }>("lares/agents/control", {
      id: MOODY_ID,
      command: "resume",
    });
    expect(["Active", "Initializing"]).toContain(resumed.state);
    await until("a mood that is better", async () => {
      const answer = await connection.raw("lares/tools/call", {
        agent: MOODY_ID,
        name: "mood",
        arguments: { good: true },
      });
      if (answer["result"] !== undefined) return true;
      await connection.raw("lares/agents/control", { id: MOODY_ID, command: "resume" });
      return false;
    });
    await connection.raw("lares/agents/control", { id: MOODY_ID, command: "resume" });
    await own.write("5.txt", "x");
    await until("the events after it", async () => {
      const { handled } = await tool<{ handled: string[] }>(connection, MOODY_ID, "plan");
      return handled.includes("5.txt") && handled;
    });
    expect((await agent(connection, MOODY_ID)).state).toBe("Active");
  });

  test("by spinning is ended by its CPU limit; the kernel and the other agents continue", async () => {
    const { pid } = await own.status(connection);
    const before = (await agent(connection, MOODY_ID)).metrics.events_failed;
    await own.write("now.spin", "x");
    await until(
      "the failure",
      async () => (await agent(connection, MOODY_ID)).metrics.events_failed > before,
    );
    await own.write("after.txt", "x");
    await event(
      connection,
      HEALTHY,
      "after.txt",
      (seen) => (seen["entry"] as { path: string }).path === "after.txt",
    );
    expect((await own.status(connection)).pid).toBe(pid);
  });

  test.each(crashing.map(({ name, error }) => [name, error] as const))(
    "%s: ending while it is loaded is shown with its reason",
    async (name, error) => {
      const shown = await inState(connection, `test.${name}`, "Error", "Suspended");
      for (const pattern of error) expect(shown.error).toMatch(pattern);
    },
  );
});

test("a manifest that is fixed, or written into an existing folder, is noticed", async () => {
  const folder = (name: string) => join(bench.root, ".lares", "extensions", name);
  const manifest = (name: string, version: string) =>
    writeFile(
      join(folder(name), "extension.yaml"),
      `extension:\n  id: test.${name}\n  name: Mended\n  version: ${version}\n`,
    );
  const shown = (name: string) =>
    until(`test.${name}`, async () =>
      (await client.request<Agent[]>("lares/agents/list")).some(({ id }) => id === `test.${name}`),
    );
  // One folder exists before its manifest, another manifest had errors: the next write has to be noticed.
  await mkdir(folder("begun"), { recursive: true });
  await mkdir(folder("faulty"));
  await manifest("faulty", "[]");
  await mkdir(folder("later"));
  await manifest("later", "1.0.0");
  await shown("later");
  await manifest("begun", "1.0.0");
  await shown("begun");
  await manifest("faulty", "1.0.0");
  await shown("faulty");
});
