/** Examples of the protocol from a workspace whose extensions a person trusts in part, and whose agents have troubles. */
import { link } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Job } from "../../kernel/src/base/vocabulary/job.ts";
import { Bench, inState, tool, type ExtensionSpec } from "./bench.ts";
import type { Client } from "./client.ts";
import { Exchanges } from "./exchanges.ts";
import type { Recorder } from "./recorded.ts";
import type { Action, Agent, TrustQuestion } from "./types.ts";
import { until } from "./until.ts";

const GARDENER = "dev.example.gardener";
const HELPER = "dev.example.helper";
const WEEDER = "dev.example.weeder";
const LAME = "dev.example.lame";

const PROGRAM = `
import { defineAgent } from "@lares/sdk";

const about = { title: "Correct a word", reason: "It is misspelt." };
export default defineAgent({
  hooks: {
    async water(_, ctx) {
      const write = { kind: "file.write", path: "notes/watered.md", content: "The roses were watered." };
      await ctx.actions.propose([write], { title: "Note the watering", reason: "It is done daily." }, { key: "watered" });
      throw new Error("The can is empty.");
    },
    async paint() {},
  },
  jobs: {
    async dig() { throw new Error("The spade is broken."); },
    async rest(_, ctx) {
      await ctx.progress(0.5, "half of the evening");
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    },
  },
  tools: {
    async correct({ path, find, replace }, ctx) {
      return (await ctx.actions.propose([{ kind: "file.edit", path, edits: [{ find, replace }] }], about)).id;
    },
    async dig(_, ctx) {
      await ctx.jobs.dispatch("dig", { bed: "roses" });
      await ctx.jobs.dispatch("rest");
    },
    async shout(_, ctx) { await ctx.notify("The roses bloom", "Come and see."); },
  },
});
`;

const text = { type: "string" };
const tools = (...names: string[]) =>
  names.map((name) => ({
    name,
    description: `Has it ${name}.`,
    handler: name,
    parameters: { type: "object", properties: { path: text, find: text, replace: text } },
  }));

const gardener: ExtensionSpec = {
  id: GARDENER,
  program: PROGRAM,
  grants: { locations: ["notes"] },
  manifest: {
    name: "Gardener",
    description: "Looks after the notes about plants.",
    permissions: {
      read_entries: true,
      dispatch_jobs: true,
      propose_actions: ["file.edit", "file.write"],
    },
    hooks: [
      { schedule: "* * * * * *", handler: "water" },
      { schedule: "@daily", handler: "paint", on_device_with_capability: "gpu" },
    ],
    tools: tools("correct", "dig", "shout"),
  },
};

const helper: ExtensionSpec = {
  id: HELPER,
  program: `
import { defineAgent } from "@lares/sdk";

export default defineAgent({
  tools: { correct: (args, ctx) => ctx.tools.call("${GARDENER}/correct", args) },
});
`,
  grants: { locations: ["notes"] },
  manifest: {
    name: "Helper",
    permissions: {
      read_entries: true,
      propose_actions: ["file.edit"],
      call_tools: [`${GARDENER}/*`],
    },
    tools: tools("correct"),
  },
};

/** Registers the tests that record them. `other`: a workspace with a shared memory that is called "people". */
export function showTrust(parts: () => { readonly recorder: Recorder; readonly other: Bench }): void {
  describe("trust in parts, and agents with troubles", () => {
    let bench: Bench;
    let client: Client;
    let exchanges: Exchanges;
    const pending = (): Promise<Action[]> =>
      client.request<Action[]>("lares/actions/list", { state: "PendingApproval" });
    const byPath = async (path: string): Promise<Action | undefined> =>
      (await pending()).find(({ effects }) => effects[0]?.path === path);

    beforeAll(async () => {
      const { recorder, other } = parts();
      bench = await Bench.create({
        files: {
          "notes/rose.md": "A rose is a roze.\\n",
          "notes/lily.md": "A lily is a lilly.\\n",
          "notes/fern.md": "A fern is a ferne.\\n",
        },
        extensions: [
          gardener,
          helper,
          { id: WEEDER, program: "export default {};", manifest: { name: "Weeder" } },
          { id: LAME, program: "export default {", manifest: { name: "Lame" } },
        ],
        lares: { import_namespaces: [{ name: "people", workspace: other.root }] },
      });
      await link(bench.path("notes/rose.md"), bench.path("notes/rosa.md"));
      const options = { environment: { LARES_HOME: other.home } };
      client = bench.spawn(options);
      await client.request("initialize", {
        ...bench.initializeParams(options),
        clientInfo: { name: "Ada's editor", version: "1" },
      });
      client.notify("initialized", {});
      const { stateFolder } = await bench.status(client);
      recorder.alsoAt([
        [stateFolder, "/home/ada/.local/state/lares/workspaces/garden-77aa"],
        [bench.root, "/home/ada/garden"],
        [bench.base, "/home/ada"],
      ]);
      exchanges = new Exchanges(client, recorder);
    });
    afterAll(() => bench[Symbol.asyncDispose]());

    test("a person grants parts of what extensions ask for", async () => {
      const question = await until("the programs to be read", async () => {
        const asked = await client.request<TrustQuestion>("lares/trust/question");
        return asked.extensions.length === 4 && asked;
      });
      await exchanges.ask("lares/trust/question");
      await exchanges.ask("lares/trust/program", { extension: LAME });
      const { digest, extensions } = question;
      const grants = {
        extensions: extensions
          .filter(({ extension }) => extension === GARDENER || extension === HELPER)
          .map(({ extension, parts: asked, folders }) => ({
            extension,
            parts: asked.map(({ id }) => id),
            folders: folders.filter(({ requested }) => requested).map(({ path }) => path),
          })),
        workspace: question.workspace.map(({ id }) => id),
      };
      await client.request("lares/trust", { trusted: true, digest, grants });
      await bench.ready(client);
      await until("the notes to be indexed", async () => (await bench.status(client)).index.complete);
      await exchanges.told<{ schedule?: object }>("lares/notify", ({ schedule }) => schedule !== undefined);
      // Sent again: the first answer depends on how far the kernel was.
      await exchanges.ask("lares/trust", { trusted: true, digest, grants });
    });

    test("schedules that do not run, and an agent that waits for a person", async () => {
      await until("the schedule to be suspended", async () => {
        const agents = await client.request<Agent[]>("lares/agents/list");
        return agents.some(({ hooks }) => hooks.some(({ suspended }) => suspended !== undefined));
      });
      await exchanges.ask("lares/agents/list");
      const watered = await until("the proposal of the schedule", () => byPath("notes/watered.md"));
      await exchanges.ask("lares/actions/get", { id: watered.id });
      await tool(client, GARDENER, "shout");
      const { cursor } = await exchanges.ask<{ cursor: string }>("lares/notifications/list", { limit: 1 });
      const { items } = await exchanges.ask<{ items: { id: string }[] }>("lares/notifications/list", {
        limit: 1,
        cursor,
      });
      await exchanges.ask("lares/notifications/act", { id: items[0]?.id });
    });

    test("actions on behalf of others, of a file with two names, and after a remembered decision", async () => {
      const correct = (path: string, find: string, replace: string, by = GARDENER) => {
        const call = { agent: by, name: "correct", arguments: { path, find, replace } };
        return { ...call, workDoneToken: "correcting" };
      };
      await inState(client, HELPER, "Active", "Unloaded");
      const { value } = await exchanges.ask<{ value: string }>(
        "lares/tools/call",
        correct("notes/rose.md", "roze", "rose", HELPER),
      );
      const action = await exchanges.ask<Action>("lares/actions/get", { id: value });
      const whole = Buffer.from("A rose is a rose is a rose.\\n").toString("base64");
      await exchanges.ask("lares/actions/approve", {
        id: value,
        digest: action.digest,
        edits: [{ effect: 0, content_base64: whole }],
      });
      for (const [path, find, replace] of [
        ["notes/lily.md", "lilly", "lily"],
        ["notes/fern.md", "ferne", "fern"],
      ] as const)
        await client.request("lares/tools/call", correct(path, find, replace));
      const [lily, fern] = [await byPath("notes/lily.md"), await byPath("notes/fern.md")];
      const { digest, scopes } = await client.request<Action>("lares/actions/get", { id: lily?.id });
      const rules = scopes?.find(({ id }) => id === "folder")?.rules;
      expect(rules).toBeDefined();
      await client.request("lares/actions/approve", { id: lily?.id, digest, remember: "always", rules });
      await exchanges.ask("lares/actions/get", { id: fern?.id });
    });

    test("a job that waits after a failure, a memory of another workspace, and an inspected agent", async () => {
      await exchanges.ask("lares/memory/namespaces", {});
      const { subscription } = await client.request<{ subscription: string }>("lares/traces/follow", {
        agent: GARDENER,
        inspect: true,
      });
      await tool(client, GARDENER, "dig");
      const job = await until("one to rest while the other waits", async () => {
        const { items } = await client.request<{ items: Job[] }>("lares/jobs/list");
        return items.some(({ due }) => due !== undefined) && items.find(({ progress }) => progress);
      });
      await exchanges.ask("lares/jobs/list", {});
      await client.request("lares/jobs/cancel", { id: job.id });
      await exchanges.told<{ entry: { step?: string; message: string } }>(
        "lares/traces/entry",
        ({ entry }) => entry.step === "call" && entry.message === "jobs/dispatch",
      );
      await client.request("lares/traces/unfollow", { subscription });
    });

    test("a program that changed", async () => {
      const { trust } = await bench.status(client);
      await bench.writeExtension({
        ...gardener,
        program: PROGRAM.replace("The can is empty", "The can leaks"),
      });
      await until("the change", async () => (await bench.status(client)).trust.digest !== trust.digest);
      await exchanges.ask("lares/trust/question");
      await exchanges.ask("lares/trust/program", { extension: GARDENER, path: "agent.ts" });
    });
  });
}
