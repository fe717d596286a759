import { describe, expect, test } from "vitest";
import { LaresError } from "../base/errors.ts";
import { personAt } from "../base/vocabulary/principal.ts";
import { checkParams, validate } from "../protocol/validate.ts";
import { clientRequests, type ParamsOf } from "../protocol/v1/requests.ts";
import { memoryHandlers } from "./memory.ts";
import type { MemoryService } from "../services/memory.ts";
import type { Session } from "./session/session.ts";

const agent = "dev.lares.storage";
const person = personAt();
const head = "a".repeat(64);
const stats = { records: 3, head, sizeBytes: 900, limitBytes: 1e6, projections: null };
const projections = {
  projected: 3,
  temporal: { events: 2, oldest: "2026-11-20T10:00:00.000Z", newest: null },
  knowledge: { items: 1, relations: 0 },
  vectors: { engine: "exact", dimensions: 384, count: 1, hot: 1, warm: 0, cold: 0, pending: 0, failed: 0 },
  embedder: "hash",
  rebuilding: { what: "index" as const, fraction: 0.5 },
  bytes: 4096,
};

/** Answers each method with its arguments. */
function aService(): { memory: MemoryService; asked: unknown[][] } {
  const asked: unknown[][] = [];
  const answering =
    <Answer>(name: string, answer: Answer) =>
    async (...args: unknown[]): Promise<Answer> => {
      asked.push([name, ...args]);
      return answer;
    };
  const items = [{ id: "1", variant: "seen", timestamp: "2026-11-20T10:00:00.000Z", data: { n: 1 } }];
  return {
    asked,
    memory: {
      correct: answering("correct", { id: "2", seq: 4 }),
      verify: answering("verify", { ok: false, records: 2, head, firstBad: { seq: 3, reason: "it is cut" } }),
      stats: answering("stats", { ...stats, projections }),
      namespaces: answering("namespaces", [
        { name: "team", agents: [agent], access: "read_write" as const, records: 3 },
        { name: "theirs", agents: [agent], access: "read" as const, workspace: "/w" },
      ]),
      working: answering("working", { revision: 4, state: { a: 1 } }),
      temporal: answering("temporal", { items, total: 1 }),
      associative: answering("associative", { items: [] }),
      search: answering("search", { items: [{ id: "1", kind: "temporal", score: 1 }], mode: "text" }),
      count: answering("count", { count: 2, groups: { seen: 2 } }),
      export: answering("export", { path: "/tmp/a", records: 3, head, bytes: 1234, vectors: 0 }),
      import: answering("import", {
        records: 3,
        head,
        from: "extension/a.b",
        created: "",
        first: "",
        last: "",
        bytes: 1,
        vectors: 0,
        imported: true,
      }),
      forget: answering("forget", { seq: 4 }),
    },
  };
}

const { signal } = new AbortController();

/** Calls the handler as the server does, and validates parameters and result with their schemas. */
async function ask<Method extends keyof typeof memoryHandlers>(
  memory: MemoryService,
  method: Method,
  params: ParamsOf<Method>,
): Promise<unknown> {
  checkParams(method, clientRequests[method].params, params);
  const handler = memoryHandlers[method] as (
    params: unknown,
    session: Session,
    signal: AbortSignal,
  ) => Promise<unknown>;
  const session = { client: { principal: person, services: { memory } } } as unknown as Session;
  const result = await handler(params, session, signal);
  expect(validate(clientRequests[method].result, result, "result")).toBeNull();
  return result;
}

describe("a memory request reaches the service without the fields that select the memory", () => {
  const filter = { variant: "seen", since: "7d", where: [{ field: "a.b", op: "eq" as const, value: 3 }] };
  const cases: readonly (readonly [keyof typeof memoryHandlers, object, unknown[]])[] = [
    [
      "lares/memory/query",
      { kind: "temporal", ...filter, limit: 5 },
      ["temporal", agent, { ...filter, limit: 5 }, signal],
    ],
    [
      "lares/memory/query",
      { kind: "associative", similar_to: "x" },
      ["associative", agent, { similar_to: "x" }, signal],
    ],
    ["lares/memory/query", { kind: "working", namespace: "n" }, ["working", agent, { namespace: "n" }]],
    ["lares/memory/query", { kind: "search", text: "x" }, ["search", agent, { text: "x" }, signal]],
    [
      "lares/memory/count",
      { ...filter, group_by: "day" },
      ["count", agent, { ...filter, group_by: "day" }, signal],
    ],
    ["lares/memory/verify", {}, ["verify", agent, undefined, signal]],
    ["lares/memory/verify", { namespace: "n" }, ["verify", agent, "n", signal]],
    ["lares/memory/stats", {}, ["stats", agent, undefined]],
    ["lares/memory/stats", { namespace: "n" }, ["stats", agent, "n"]],
    ["lares/memory/namespaces", {}, ["namespaces", agent]],
    [
      "lares/memory/export",
      { path: "/a", namespace: "n" },
      ["export", agent, "/a", { overwrite: false, signal, namespace: "n" }],
    ],
    ["lares/memory/export", { path: "/tmp/a" }, ["export", agent, "/tmp/a", { overwrite: false, signal }]],
    [
      "lares/memory/export",
      { path: "/a", overwrite: true },
      ["export", agent, "/a", { overwrite: true, signal }],
    ],
    ["lares/memory/import", { path: "/tmp/a" }, ["import", person, agent, "/tmp/a", { preview: false }]],
    [
      "lares/memory/import",
      { path: "/a", preview: true },
      ["import", person, agent, "/a", { preview: true }],
    ],
    ["lares/memory/import", { path: "/a", head }, ["import", person, agent, "/a", { preview: false, head }]],
    [
      "lares/memory/forget",
      { id: "7", reason: "asked" },
      ["forget", person, agent, "7", { reason: "asked" }],
    ],
    ["lares/memory/forget", { id: "7", copies: true }, ["forget", person, agent, "7", { copies: true }]],
  ];
  test.each(cases)("%s %j", async (method, params, expected) => {
    const { memory, asked } = aService();
    await ask(memory, method, { ...params, agent });
    expect(asked).toEqual([expected]);
  });
});

test("a memory that was never queried has no projections", async () => {
  const { memory } = aService();
  expect(await ask({ ...memory, stats: async () => stats }, "lares/memory/stats", { agent })).toEqual(stats);
});

test("an error of the service is the answer", async () => {
  const { memory } = aService();
  const refusing = async (): Promise<never> => {
    throw new LaresError("Conflict", "This memory is not empty.");
  };
  await expect(
    ask({ ...memory, import: refusing }, "lares/memory/import", { agent, path: "/tmp/a" }),
  ).rejects.toMatchObject({ code: "Conflict" });
});

test.each([
  ["lares/memory/query", { kind: "dreams" }],
  ["lares/memory/query", { kind: "search" }],
  ["lares/memory/query", { kind: "temporal", limit: 1001 }],
  ["lares/memory/query", { kind: "temporal", where: [{ field: "a", op: "like", value: 1 }] }],
  ["lares/memory/count", { group_by: "week" }],
  ["lares/memory/export", {}],
  ["lares/memory/verify", { namespace: "" }],
  ["lares/memory/export", { path: "", overwrite: true }],
  ["lares/memory/export", { path: "x".repeat(4097) }],
  ["lares/memory/import", { path: "/tmp/a", preview: "yes" }],
  ["lares/memory/import", { path: "/tmp/a", head: "abc" }],
  ["lares/memory/forget", {}],
] as const)("%s %j is InvalidParams", (method, params) => {
  expect(() => checkParams(method, clientRequests[method].params, { ...params, agent })).toThrow(LaresError);
});
