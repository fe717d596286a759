import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALL_PERMISSIONS } from "../../support/agents.ts";
import { agent, tool } from "../../support/bench.ts";
import type { TraceEntry } from "../../support/types.ts";
import { until } from "../../support/until.ts";
import { Arena, NEIGHBOUR } from "./arena.ts";
import { extensionOf, type Hostile, neighbourIsWell } from "./hostile.ts";
import { onTool } from "./programs/by-hand.ts";

const noResult = (name: string): object => ({
  error: { code: -33013, message: `test.${name}/ask did not answer with a tool result.` },
});

/** A tool's answer, and the result for its caller. */
const answers: [string, string, (name: string) => object][] = [
  ["null", "null", noResult],
  ["text", '"done"', noResult],
  ["list", '[{"status":"success"}]', noResult],
  ["empty", "{}", noResult],
  ["status", '{"status":"ok","value":1}', noResult],
  ["statuslist", '{"status":["success"],"value":1}', noResult],
  ["prototype", '{"__proto__":{"status":"success","value":"stolen"}}', noResult],
  ["object", '{"status":"needs_approval","action":{"id":{"id":"x"}},"reason":7}', noResult],
  [
    "foreign",
    '{"status":"needs_approval","action":"of-somebody-else","reason":"r"}',
    (name) => ({
      result: {
        status: "error",
        message: `test.${name}/ask asked for approval of an action that is not its own.`,
        recoverable: false,
      },
    }),
  ],
  [
    "wordless",
    '{"status":"error","message":{"a":1},"recoverable":"yes"}',
    () => ({ result: { status: "error", message: "The tool failed.", recoverable: false } }),
  ],
  [
    "deep",
    `{"status":"success","value":${"[".repeat(80)}${"]".repeat(80)}}`,
    () => ({ error: { code: -33007, message: "The agent's answer nests deeper than 64 levels." } }),
  ],
];
const answering: Hostile[] = answers.map(([name, result]) => ({
  name,
  does: name,
  tools: ["ask"],
  program: onTool(({ reply }) => reply(result)),
  state: "Active",
}));

/** Spoils everything in its own realm, and then works as an agent should. */
const SPOILER = `
import { defineAgent } from "@lares/sdk";
const evil = () => { throw new Error("spoiled"); };
for (const type of [Object, Array, String, Number, Function, Promise, Map, Set, RegExp, Error, Uint8Array]) {
  for (const name of Object.getOwnPropertyNames(type.prototype)) {
    if (name === "constructor") continue;
    try { Object.defineProperty(type.prototype, name, { value: evil, writable: true, configurable: true }); } catch {}
  }
}
try { JSON.stringify = () => '"spoiled"'; JSON.parse = () => ({ id: 1 }); } catch {}
Object.prototype.toJSON = () => ({ jsonrpc: "1.0", id: 1, method: "owned" });
Object.prototype.method = "shutdown"; Object.prototype.status = "success"; Object.prototype.allowed = true;
export default defineAgent({ hooks: { go() {} }, tools: { ask() { return 1; } } });
`;

/** Stores and sends whatever a test gives it, as text that becomes an object only here. */
const KEEPER = `
import { defineAgent } from "@lares/sdk";
const guest = globalThis[Symbol.for("lares.guest")];
export default defineAgent({
  hooks: { go() { return JSON.parse('{"__proto__":{"handlers":["x"]},"constructor":{"prototype":{"status":"success"}}}'); } },
  tools: {
    async ask({ method, params }) {
      return guest.call(method, JSON.parse(params)).then((value) => JSON.stringify(value), (error) => error.data?.code ?? String(error));
    },
    async big() { return "x".repeat(2_000_000); },
    async cycle() { const a = {}; a.a = a; return a; },
    async getter() { return { get x() { throw new Error("from a getter"); } }; },
    async bigint() { return 1n; },
  },
});
`;
const typed: Hostile[] = [
  { name: "spoiler", does: "", program: SPOILER, tools: ["ask"], state: "Active" },
  {
    name: "keeper",
    does: "",
    program: KEEPER,
    permissions: ALL_PERMISSIONS,
    tools: ["ask", "big", "cycle", "getter", "bigint"],
    state: "Active",
  },
];

let arena: Arena;
beforeAll(async () => {
  arena = await Arena.open([...answering, ...typed].map(extensionOf), { limits: { active_agents: 32 } });
  await arena.bed.bench.write("keeper/a.txt", "a");
});
afterAll(() => arena[Symbol.asyncDispose]());

/** The kernel's own realm is intact: what a polluted prototype would have allowed is still refused. */
async function kernelIsWhole(): Promise<void> {
  const answer = await arena.client.raw("lares/tools/call", {
    agent: "test.empty",
    name: "ask",
    arguments: {},
  });
  expect(answer).toMatchObject(noResult("empty"));
  expect(
    await arena.client.raw("lares/agents/control", { id: "toString", command: "disable" }),
  ).toMatchObject({
    error: { code: -33001 },
  });
  await neighbourIsWell(arena);
}

describe("a tool that answers with", () => {
  test.each(answers)("%s: %s", async (name, _result, wanted) => {
    const call = { agent: `test.${name}`, name: "ask", arguments: {} };
    expect(await arena.client.raw("lares/tools/call", call)).toMatchObject(wanted(name));
    // The caller got the error; the agent is alive, and answers as badly the next time.
    expect((await agent(arena.client, `test.${name}`)).state).toBe("Active");
    expect(await arena.client.raw("lares/tools/call", call)).toMatchObject(wanted(name));
  });

  test.each([
    ["big", "The answer is a line of # bytes; at most 1048576 can be sent. Send it in pieces."],
    ["cycle", "circular reference"],
    ["getter", "from a getter"],
    ["bigint", "bigint are forbidden"],
  ])("%s, which has no form that could be sent: its caller is told", async (name, words) => {
    const answer = await arena.client.raw("lares/tools/call", { agent: "test.keeper", name, arguments: {} });
    const { message } = (answer["error"] ?? answer["result"]) as { message: string };
    expect(
      message.toLowerCase().replaceAll(/\d{7,}/g, (digits) => (digits === "1048576" ? digits : "#")),
    ).toContain(words.toLowerCase());
  });
});

describe("keys that would change a prototype", () => {
  const poison =
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":"x"}';
  const ask = (method: string, params: string): Promise<string> =>
    tool<string>(arena.client, "test.keeper", "ask", { method, params });

  test("in working memory are ordinary data, and are returned unchanged", async () => {
    expect(await ask("memory/working/swap", `{"revision":0,"state":${poison}}`)).toBe('{"revision":1}');
    expect(await ask("memory/working/read", "{}")).toBe(`{"revision":1,"state":${poison}}`);
    await kernelIsWhole();
  });

  test.each<[string, (text: string) => string]>([
    [
      "a field's value",
      (text) => `{"kind":"field.set","path":"keeper/a.txt","namespace":"probe","key":"k","value":${text}}`,
    ],
    [
      "a sidecar's data",
      (text) => `{"kind":"sidecar.write","path":"keeper/a.txt","sidecar":"faces","data":${text}}`,
    ],
    [
      "a field's name",
      () => '{"kind":"field.set","path":"keeper/a.txt","namespace":"probe","key":"__proto__","value":1}',
    ],
    [
      "a field's namespace",
      () => '{"kind":"field.set","path":"keeper/a.txt","namespace":"__proto__","key":"k","value":1}',
    ],
    [
      "a sidecar's name",
      () => '{"kind":"sidecar.write","path":"keeper/a.txt","sidecar":"__proto__","data":1}',
    ],
    ["a tag", () => '{"kind":"tag.add","path":"keeper/a.txt","tag":"#__proto__"}'],
    ["an effect", () => '{"__proto__":{"kind":"tag.add"},"path":"keeper/a.txt","tag":"#x"}'],
  ])("in %s: kept as they are or refused, and the entry is what it says", async (_what, effect) => {
    const answer = await ask("actions/propose", `{"effects":[${effect(poison)}],"title":"t","reason":"r"}`);
    expect(answer).toMatch(/"state":"Committed"|^(InvalidParams|PermissionDenied)$/);
    const { items } = await arena.client.request<{ items: { fields: object; tags: string[] }[] }>(
      "lares/entries/query",
      { path: "keeper/a.txt" },
    );
    expect(Object.getPrototypeOf(items[0]?.fields)).toBe(Object.prototype);
    expect(Object.keys(items[0]?.fields ?? {})).toEqual(
      items[0] && Object.keys(items[0].fields).length > 0 ? ["probe"] : [],
    );
    await kernelIsWhole();
  });

  test("in traces and in a hook's answer", async () => {
    await arena.client.request("lares/tools/call", {
      agent: "test.keeper",
      name: "ask",
      arguments: {
        method: "notify",
        params: `{"title":"t","message":"m","severity":"info","__proto__":{"severity":"error"}}`,
      },
    });
    await arena.provoke("keeper", "b.txt");
    await until(
      "its event",
      async () => (await agent(arena.client, "test.keeper")).metrics.events_processed >= 2,
    );
    expect((await agent(arena.client, "test.keeper")).metrics.events_failed).toBe(0);
    await kernelIsWhole();
  });
});

test("an agent that spoils every prototype of its own realm harms no other, and its lines stay intact", async () => {
  await arena.provoke("spoiler");
  await until("what became of its event", async () => {
    const { metrics, state } = await agent(arena.client, "test.spoiler");
    return metrics.events_processed + metrics.events_failed > 0 || state === "Error";
  });
  const traces = await arena.client.request<TraceEntry[]>("lares/traces/query", {
    agent: "test.spoiler",
    limit: 100,
  });
  expect(traces.map(({ message }) => message).join("\n")).not.toContain("A line of its stdout");
  const answer = await arena.client.raw("lares/tools/call", {
    agent: NEIGHBOUR,
    name: "none",
    arguments: {},
  });
  expect(answer).toMatchObject({ error: { code: -33001 } });
  await kernelIsWhole();
});
