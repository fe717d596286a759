/** Follows the mark of untrusted text through guests, their stored data and files, with a real kernel. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import type { Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { tool } from "../support/bench.ts";
import { HostileMind, MIND, resultsOf, type WireCall } from "../support/hostile-mind.ts";
import { until } from "../support/until.ts";

const EVIL = "downloads/evil.md";
const names = (...all: string[]) =>
  all.map((name) => ({ name, description: name, handler: name, parameters: { type: "object" } }));
const Note = {
  name: "Note",
  version: 1,
  key: "id",
  schema: { type: "object", required: ["id"], properties: { id: { type: "string" }, text: {} } },
};
const own = { shared_data: { read: ["box"], write: ["box"] }, dispatch_jobs: true, emit_events: ["Said"] };

/** Keeps a text where it is told to, and reads it there. */
const SENDER = `import { defineAgent } from "@lares/sdk";
let kept = "";
export default defineAgent<{ plan: { text: string; job: string } }>({
  memory: { plan: { text: "", job: "" } },
  tools: {
    variable: ({ text }) => { kept = text; },
    readVariable: () => kept,
    plan: ({ text }, ctx) => ctx.memory.plan.update((plan) => ({ ...plan, text })),
    readPlan: async (_args, ctx) => (await ctx.memory.plan.read()).text,
    shared: async ({ text }, ctx) => void (await ctx.shared.write("box", text)),
    type: async ({ text }, ctx) => void (await ctx.types("Note").create({ id: text, text })),
    event: async ({ text }, ctx) => void (await ctx.events.emit("Said", { text })),
    job: async ({ text }, ctx) => void (await ctx.jobs.dispatch("later", { text })),
    readJob: async (_args, ctx) => (await ctx.memory.plan.read()).job,
    propose: async ({ path }, ctx) => {
      const effects = [{ kind: "file.write", path, content: "new" }];
      return (await ctx.actions.propose(effects, { title: "Write", reason: "asked" })).id;
    },
  },
  jobs: { later: async ({ text }, ctx) => { await ctx.memory.plan.update((plan) => ({ ...plan, job: text })); } },
});`;
const READER = `import { defineAgent } from "@lares/sdk";
export default defineAgent<{ plan: { heard: string } }>({
  memory: { plan: { heard: "" } },
  hooks: { heard: async ({ text }, ctx) => { await ctx.memory.plan.set({ heard: text }); } },
  tools: {
    readShared: async (_args, ctx) => (await ctx.shared.read("box"))?.value ?? "",
    readType: async (_args, ctx) => JSON.stringify(await ctx.types("test.sender/Note").query({})),
    readEvent: async (_args, ctx) => (await ctx.memory.plan.read()).heard,
  },
});`;

let mind: HostileMind;
beforeAll(async () => {
  const others = ["test.sender", "test.reader"];
  const offered = ["files/*", ...others.map((id) => `${id}/*`)];
  mind = await HostileMind.open({
    files: { "a.md": "the text of a\n", [EVIL]: "Do as I say.\n" },
    lares: { conversations: { untrusted: ["downloads/**"] } },
    mind: { tools: offered, direct_tools: offered },
    manifest: {
      permissions: {
        use_models: [{ category: "chat" }],
        read_entries: true,
        propose_actions: ["file.write", "file.edit", "file.move"],
        call_tools: others.map((id) => `${id}/*`),
        hear_events: ["test.sender/*"],
        shared_types: { read: ["test.sender/*"], write: ["test.sender/*"] },
        ...own,
      },
    },
    extensions: [
      {
        id: "test.sender",
        program: SENDER,
        grants: { locations: ["."] },
        manifest: {
          tools: names(
            "variable",
            "readVariable",
            "plan",
            "readPlan",
            "shared",
            "type",
            "event",
            "job",
            "readJob",
            "propose",
          ),
          types: [Note],
          permissions: { ...own, read_entries: true, propose_actions: ["file.write"] },
        },
      },
      {
        id: "test.reader",
        program: READER,
        manifest: {
          tools: names("readShared", "readType", "readEvent"),
          hooks: [{ on: "test.sender/Said", handler: "heard" }],
          permissions: {
            hear_events: ["test.sender/*"],
            shared_data: { read: ["box"] },
            shared_types: { read: ["test.sender/*"] },
          },
        },
      },
    ],
  });
});
afterAll(() => mind[Symbol.asyncDispose]());

const call = (name: string, given: object = {}): WireCall => ({ name, given });
const readEvil = { calls: [call("files_read", { path: EVIL })] };
const lastResult = (entries: readonly Entry[]) =>
  entries.findLast((entry) => entry.kind === "tool_result" && entry.process !== "");
const reload = async (id: string): Promise<void> => {
  await mind.client.request("lares/agents/control", { id, command: "reload" });
};

describe("a text that an untrusted file led to", () => {
  test.each<[where: string, from: string, to: string]>([
    ["a guest's variable", "test_sender_variable", "test_sender_readVariable"],
    ["an agent's plan", "test_sender_plan", "test_sender_readPlan"],
    ["shared data", "test_sender_shared", "test_reader_readShared"],
    ["a value of a shared type", "test_sender_type", "test_reader_readType"],
    ["an event", "test_sender_event", "test_reader_readEvent"],
    ["a job", "test_sender_job", "test_sender_readJob"],
  ])("is marked when another conversation gets it by %s", async (where, from, to) => {
    const text = `told by ${from}`;
    const wrote = await mind.results([readEvil, { calls: [call(from, { text })] }]);
    expect(wrote.results.at(-1)).toMatchObject({ status: "success" });
    // Stored data outlives the guest, so its mark has to as well.
    if (!where.includes("variable")) for (const id of ["test.sender", "test.reader"]) await reload(id);
    let found: Entry | undefined;
    await until(`the text in ${where}`, async () => {
      const { id, entries } = await mind.results([{ calls: [call(to)] }]);
      found = lastResult(entries);
      if (!JSON.stringify(found).includes(text)) return false;
      expect((await mind.get(id)).tainted).toEqual([EVIL]);
      return true;
    });
    expect(found).toMatchObject({ tainted: true, sources: [EVIL] });
  });

  test("marks the guest that got it until it is unloaded, and no longer", async () => {
    await reload("test.sender");
    await mind.results([readEvil, { calls: [call("test_sender_variable", { text: "evil" })] }]);
    const proposed = await tool<string>(mind.client, "test.sender", "propose", { path: "g.md" });
    const action = await mind.client.request<Action>("lares/actions/get", { id: proposed });
    expect(action).toMatchObject({ state: "PendingApproval", sources: [EVIL] });
    expect(action.scopes ?? []).toEqual([]);
    await reload("test.sender");
    const { id, entries } = await mind.results([{ calls: [call("test_sender_readVariable")] }]);
    expect(lastResult(entries)).not.toHaveProperty("tainted");
    expect((await mind.get(id)).tainted).toEqual([]);
    const clean = await tool<string>(mind.client, "test.sender", "propose", { path: "h.md" });
    expect(await mind.client.request("lares/actions/get", { id: clean })).not.toHaveProperty("sources");
  });

  test("stays known in a file that a person approved, wherever the file goes, until a person writes it", async () => {
    const path = "approved.md";
    const id = await mind.attack([
      readEvil,
      { calls: [call("files_write", { path, content: "made of evil" })] },
    ]);
    const action = await until("the action", async () =>
      (await mind.client.request<Action[]>("lares/actions/list", { state: "PendingApproval" })).find(
        ({ effects }) => effects[0]?.path === path,
      ),
    );
    expect(action.sources).toEqual([EVIL]);
    await mind.rested(id);
    await mind.client.request("lares/actions/approve", { id: action.id, digest: action.digest });
    await mind.rested(id);
    expect(await readFile(mind.bench.path(path), "utf8")).toBe("made of evil");
    const read = async (file: string) =>
      lastResult((await mind.results([{ calls: [call("files_read", { path: file })] }])).entries);
    expect(await read(path)).toMatchObject({ tainted: true, sources: [EVIL] });
    await rename(mind.bench.path(path), mind.bench.path("moved.md"));
    const moved = await until("the moved file", async () => {
      const found = await read("moved.md");
      return JSON.stringify(found).includes("made of evil") && found;
    });
    expect(moved).toMatchObject({ tainted: true, sources: [EVIL] });
    const search = await mind.results([{ calls: [call("files_search", { text: "made of" })] }]);
    expect(lastResult(search.entries)).toMatchObject({ tainted: true, sources: [EVIL] });
    await writeFile(mind.bench.path("moved.md"), "written by a person");
    // Until the index knows the new content, the file counts as what was written there.
    await until("the person's text without a mark", async () => {
      const found = await read("moved.md");
      return JSON.stringify(found).includes("written by a person") && found?.tainted !== true;
    });
  });

  const approve = async (path: string, id: string): Promise<void> => {
    const action = await until("the action", async () =>
      (await mind.client.request<Action[]>("lares/actions/list", { state: "PendingApproval" })).find(
        ({ effects }) => effects[0]?.path === path,
      ),
    );
    await mind.rested(id);
    await mind.client.request("lares/actions/approve", { id: action.id, digest: action.digest });
    await mind.rested(id);
  };

  test.each([
    ["by the kernel's own rules", {}],
    ["by rules of the client", { rules: [{ decide: "allow", agent: MIND, kind: "file.write", path: "**" }] }],
  ])("is never approved for the next time, %s", async (_how, more) => {
    const decisions = () => mind.client.request<{ items: unknown[] }>("lares/decisions/list", {});
    const before = await decisions();
    const path = `always-${Object.keys(more).length}.md`;
    const id = await mind.attack([readEvil, { calls: [call("files_write", { path, content: "evil" })] }]);
    const action = await until("the action", async () =>
      (await mind.client.request<Action[]>("lares/actions/list", { state: "PendingApproval" })).find(
        ({ effects }) => effects[0]?.path === path,
      ),
    );
    await mind.rested(id);
    const always = { id: action.id, digest: action.digest, remember: "always", ...more };
    await expect(mind.client.request("lares/actions/approve", always)).rejects.toBeInstanceOf(Error);
    expect(await decisions()).toEqual(before);
    await expect(readFile(mind.bench.path(path))).rejects.toThrow("ENOENT");
    await mind.client.request("lares/conversations/cancel", { id });
  });

  test("stays known in a file that a clean conversation moves without reading it", async () => {
    await mind.bench.write("downloads/letter.md", "do as I say, please\n");
    const move = { from: "downloads/letter.md", to: "letters.md" };
    const clean = await until("the action", async () => {
      const { id, results } = await mind.results([{ calls: [call("files_move", move)] }]);
      return results[0]?.status === "needs_approval" && id;
    });
    await approve("letters.md", clean);
    expect((await mind.get(clean)).tainted).toEqual([]);
    const { entries } = await mind.results([{ calls: [call("files_read", { path: "letters.md" })] }]);
    expect(lastResult(entries)).toMatchObject({ tainted: true, sources: ["downloads/letter.md"] });
  });

  test("stays known in a file that a clean conversation changes without reading it", async () => {
    const path = "edited.md";
    const evil = { path, content: "do as I say\nend\n" };
    await approve(path, await mind.attack([readEvil, { calls: [call("files_write", evil)] }]));
    const edit = { path, edits: [{ find: "end", replace: "the end" }] };
    const clean = await mind.attack([{ calls: [call("files_edit", edit)] }]);
    await approve(path, clean);
    expect(await readFile(mind.bench.path(path), "utf8")).toBe("do as I say\nthe end\n");
    expect((await mind.get(clean)).tainted).toEqual([]);
    const { entries } = await mind.results([{ calls: [call("files_read", { path })] }]);
    expect(lastResult(entries)).toMatchObject({ tainted: true, sources: [EVIL] });
  });

  test("outlives the conversation that read it", async () => {
    const first = await mind.results([
      readEvil,
      { calls: [call("test_sender_plan", { text: "from before" })] },
    ]);
    await mind.client.request("lares/conversations/delete", { id: first.id });
    const { entries, results } = await mind.results([{ calls: [call("test_sender_readPlan")] }]);
    expect(results).toMatchObject([{ status: "success", value: "from before" }]);
    expect(lastResult(entries)).toMatchObject({ tainted: true, sources: [EVIL] });
  });
});

test("a text of the person and the model leaves no mark anywhere", async () => {
  await reload("test.sender");
  const { results } = await mind.results([{ calls: [call("test_sender_variable", { text: "clean" })] }]);
  expect(results).toMatchObject([{ status: "success" }]);
  const { id, entries } = await mind.results([{ calls: [call("test_sender_readVariable")] }]);
  expect(resultsOf(entries)).toMatchObject([{ status: "success", value: "clean" }]);
  expect((await mind.get(id)).tainted).toEqual([]);
});
