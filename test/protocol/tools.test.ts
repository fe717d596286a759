import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approve } from "../support/actions.ts";
import { host, probe } from "../support/agents.ts";
import { Bench, inState } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { frame } from "../support/frames.ts";
import { CODES, type Tool, type ToolResult } from "../support/types.ts";

const LIBRARY = "test.library";
const BROKEN = "test.broken";
const CALLER = "test.caller";
const STRANGER = "test.stranger";

const PROGRAM = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: {
    async find({ text, limit = 20 }, ctx) { return { text, limit, caller: ctx.caller ?? null, callId: ctx.callId }; },
    async boom() { throw new Error("boom"); },
    async nothing() {},
    async forever() { await new Promise((resolve) => setInterval(() => undefined, 1000)); },
    async rewrite({ path }, ctx) {
      const effects = [{ kind: "file.write", path, content: "rewritten\\n" }];
      const action = await ctx.actions.propose(effects, { title: "Rewrite", reason: "asked" });
      return ctx.needsApproval(action, "changes a file");
    },
  },
});
`;

const PARAMETERS = {
  type: "object",
  required: ["text"],
  additionalProperties: false,
  properties: {
    text: { type: "string", minLength: 1 },
    limit: { type: "integer", minimum: 1, maximum: 100 },
  },
};
const any = { type: "object" };

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.txt": "a\n" },
    extensions: [
      {
        id: LIBRARY,
        program: PROGRAM,
        manifest: {
          permissions: { read_entries: true, propose_actions: ["file.write"] },
          tools: [
            { name: "find", description: "Finds things", handler: "find", parameters: PARAMETERS },
            { name: "boom", description: "Fails", handler: "boom", parameters: any },
            { name: "nothing", description: "Returns nothing", handler: "nothing", parameters: any },
            { name: "forever", description: "Never returns", handler: "forever", parameters: any },
            {
              name: "renamed",
              description: "Another name than its handler",
              handler: "rewrite",
              parameters: any,
            },
          ],
        },
      },
      {
        id: BROKEN,
        program: "throw new Error('broken at load');",
        manifest: {
          agent: { activation: "eager" },
          tools: [{ name: "any", description: "any", handler: "any", parameters: any }],
        },
      },
      probe({ id: CALLER, permissions: { call_tools: [`${LIBRARY}/*`, `${BROKEN}/any`] } }),
      probe({ id: STRANGER, permissions: { read_entries: true } }),
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const run = (agent: string, name: string, parameters: unknown = {}) =>
  client.request<ToolResult>("lares/tools/call", { agent, name, arguments: parameters });

describe("lares/tools/list", () => {
  test("shows the tools of all agents as declared in their manifests, also of those not running", async () => {
    const tools = await client.request<Tool[]>("lares/tools/list", {});
    expect(tools.find(({ name }) => name === "find")).toEqual({
      agent: LIBRARY,
      name: "find",
      description: "Finds things",
      parameters: PARAMETERS,
    } satisfies Tool);
    expect(new Set(tools.map(({ agent }) => agent))).toEqual(new Set([LIBRARY, BROKEN, CALLER, STRANGER]));
  });

  test("filters by agent", async () => {
    const tools = await client.request<Tool[]>("lares/tools/list", { agent: LIBRARY });
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      "boom",
      "find",
      "forever",
      "nothing",
      "renamed",
    ]);
  });
});

describe("lares/tools/call", () => {
  test("wakes the agent and answers with what the handler returned", async () => {
    expect(await run(LIBRARY, "find", { text: "x" })).toEqual({
      status: "success",
      value: { text: "x", limit: 20, caller: expect.anything(), callId: expect.any(String) },
    });
    await inState(client, LIBRARY, "Active");
  });

  test("a handler that returns nothing is a success", async () => {
    expect(await run(LIBRARY, "nothing")).toMatchObject({ status: "success" });
  });

  test("a cancelled call is answered at once with its own code, and the agent continues", async () => {
    const params = { agent: LIBRARY, name: "forever", arguments: {} };
    const answer = client.answerTo("cancelled", "lares/tools/call", () =>
      client.write(frame({ jsonrpc: "2.0", id: "cancelled", method: "lares/tools/call", params })),
    );
    await inState(client, LIBRARY, "Active");
    client.notify("$/cancelRequest", { id: "cancelled" });
    expect(await answer).toMatchObject({ error: { code: -32800 } });
    expect(await run(LIBRARY, "nothing")).toMatchObject({ status: "success" });
  });

  test("an exception in a handler is a result with status error", async () => {
    expect(await run(LIBRARY, "boom")).toEqual({
      status: "error",
      message: expect.stringContaining("boom"),
      recoverable: expect.any(Boolean),
    });
  });

  const wrong: [string, unknown][] = [
    ["a missing property", {}],
    ["a wrong type", { text: 7 }],
    ["an empty string", { text: "" }],
    ["a number out of range", { text: "x", limit: 101 }],
    ["a property that is not declared", { text: "x", more: 1 }],
    ["no object", "x"],
  ];
  test.each(wrong)(
    "arguments that violate the schema do not reach the handler: %s",
    async (_name, parameters) => {
      const answer = await client.raw("lares/tools/call", {
        agent: LIBRARY,
        name: "find",
        arguments: parameters,
      });
      const result = answer["result"] as ToolResult | undefined;
      const error = answer["error"] as { code: number; message: string } | undefined;
      expect(result?.status === "error" || error !== undefined).toBe(true);
      expect(result?.status === "error" ? result.message : error?.message).toMatch(/text|limit|more|object/);
    },
  );

  test.each([
    [LIBRARY, "absent"],
    ["test.nobody", "find"],
  ])("%s/%s is NotFound", async (agent, name) => {
    expect(await client.raw("lares/tools/call", { agent, name, arguments: {} })).toMatchObject({
      error: { code: CODES.NotFound, data: { code: "NotFound" } },
    });
  });

  test("needs_approval carries the whole action, which can then be approved", async () => {
    const result = await run(LIBRARY, "renamed", { path: "a.txt" });
    expect(result).toMatchObject({
      status: "needs_approval",
      reason: "changes a file",
      action: { state: "PendingApproval", agent: LIBRARY, title: "Rewrite", effects: [{ path: "a.txt" }] },
    });
    if (result.status === "needs_approval") await approve(client, result.action);
    expect(await readFile(bench.path("a.txt"), "utf8")).toBe("rewritten\n");
  });

  test("on an agent in Error it is AgentError with state and reason", async () => {
    await inState(client, BROKEN, "Error");
    expect(await client.raw("lares/tools/call", { agent: BROKEN, name: "any", arguments: {} })).toMatchObject(
      {
        error: {
          code: CODES.AgentError,
          data: { code: "AgentError", state: "Error", reason: expect.stringContaining("broken at load") },
        },
      },
    );
  });

  test("on a suspended agent it is AgentError with state and reason; resumed, it answers again", async () => {
    await client.request("lares/agents/control", { id: LIBRARY, command: "suspend" });
    expect(
      await client.raw("lares/tools/call", { agent: LIBRARY, name: "nothing", arguments: {} }),
    ).toMatchObject({
      error: { code: CODES.AgentError, data: { state: "Suspended", reason: expect.stringMatching(/./) } },
    });
    await client.request("lares/agents/control", { id: LIBRARY, command: "resume" });
    expect(await run(LIBRARY, "nothing")).toMatchObject({ status: "success" });
  });

  test("many at once are each answered with their own result", async () => {
    const texts = Array.from({ length: 200 }, (_, index) => `text ${index}`);
    const results = await Promise.all(texts.map((text) => run(LIBRARY, "find", { text })));
    expect(
      results.map((result) => (result.status === "success" ? (result.value as { text: string }).text : "")),
    ).toEqual(texts);
  });
});

describe("a call from one agent to another", () => {
  test("gets the tool's value, and the tool sees the caller", async () => {
    const { value } = await host(client, CALLER, "tools.call", `${LIBRARY}/find`, { text: "y" });
    expect(value).toMatchObject({ text: "y", limit: 20 });
    expect(JSON.stringify(value)).toContain(CALLER);
  });

  const refused: [string, string, object, string | RegExp][] = [
    [STRANGER, `${LIBRARY}/find`, { text: "y" }, "PermissionDenied"],
    [CALLER, `${STRANGER}/seen`, {}, "PermissionDenied"],
    [CALLER, `${LIBRARY}/absent`, {}, "NotFound"],
    [CALLER, `${LIBRARY}/find`, {}, /./],
    [CALLER, `${LIBRARY}/boom`, {}, /./],
    [CALLER, `${BROKEN}/any`, {}, "AgentError"],
  ];
  test.each(refused)("%s calling %s with %j throws %s", async (agent, name, parameters, code) => {
    const { error, value } = await host(client, agent, "tools.call", name, parameters);
    expect(value).toBeUndefined();
    expect(error?.message).toMatch(/\w/);
    if (typeof code === "string") expect(error?.code).toBe(code);
  });
});
