/**
 * The examples of `schemas/protocol.md`: every request is sent to a real kernel, and its answer is compared with
 * `schemas/examples/protocol.json`. After a change: `npx vitest run test/protocol/reference-protocol.test.ts
 * --update=all`, then `npm run build:schemas`.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { examplesFile } from "../../kernel/build/reference/examples.ts";
import type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import type { MemoryStats } from "../../kernel/src/base/vocabulary/memory-reports.ts";
import { validate } from "../../kernel/src/protocol/validate.ts";
import { kernelRequests } from "../../kernel/src/protocol/v1/kernel-requests.ts";
import { serverNotifications } from "../../kernel/src/protocol/v1/notifications.ts";
import { type ClientRequest } from "../../kernel/src/protocol/v1/requests.ts";
import { Bench, inState, tool, type ExtensionSpec } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { Exchanges } from "../support/exchanges.ts";
import { showBulletins } from "../support/examples-of-bulletins.ts";
import { showMinds } from "../support/examples-of-minds.ts";
import { showTrust } from "../support/examples-of-trust.ts";
import { startBusyEmbedder } from "../support/busy-embedder.ts";
import type { Message } from "../support/frames.ts";
import { Recorder } from "../support/recorded.ts";
import type { Action, Agent } from "../support/types.ts";
import { until } from "../support/until.ts";

const AGENT = "dev.example.librarian";
const READER = "dev.example.reader";
const BROKEN = "dev.example.broken";
const MIND = "dev.example.steward";

const turns = `turns:
  - { process: channel, when: Remember when, call: [{ tool: branch, arguments: { task: Save it } }] }
  - { process: branch, when: Save it, call: [{ tool: memory_save, arguments: { type: Fact, text: The library closes at five. } }] }
  - { say: ready, repeat: true }
`;

const PROGRAM = `
import { defineAgent } from "@lares/sdk";

export default defineAgent({
  memory: { plan: { read: [] } },
  hooks: {
    async noted({ entry }, ctx) { ctx.trace.info("A note was written.", { path: entry.path }); },
  },
  jobs: {
    async scan(_, ctx) {
      await ctx.progress(0.5, "half of the shelves");
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    },
    async print() { throw new Error("The printer has no paper."); },
  },
  tools: {
    async countNotes({ folder }, ctx) {
      ctx.trace.info("Notes are counted.", { folder });
      return { count: await ctx.vdfs.count({ path: folder + "/**" }) };
    },
    async correct({ path, find, replace, key }, ctx) {
      const action = await ctx.actions.propose(
        [{ kind: "file.edit", path, edits: [{ find, replace }] }],
        { title: "Correct a word", reason: "It is misspelt." },
        { key },
      );
      return ctx.needsApproval(action, "A word is misspelt.");
    },
    async tidy(_, ctx) {
      const path = "notes/grace.md";
      const action = await ctx.actions.propose(
        [
          { kind: "tag.add", path, tag: "#person" },
          { kind: "field.set", path, namespace: "library", key: "born", value: 1906 },
          { kind: "sidecar.write", path, sidecar: "card", data: { shelf: "A" } },
          { kind: "file.move", from: path, to: "notes/hopper.md" },
        ],
        { title: "Put a note in order", reason: "It is about a person." },
      );
      return action.id;
    },
    async remember({ person }, ctx) {
      const item = await ctx.memory.knowledge.add("person", { name: person }, { text: person + " wrote the first program." });
      const king = { name: person + " King" };
      await ctx.memory.knowledge.add("person", king, { embedding: [0, 0.6, 0.8], relations: [{ to: item, relation: "is the same as" }] });
      const event = await ctx.memory.history.append("met", { person, at: [51.5, -0.14] });
      await ctx.memory.in("people").history.append("met", { person });
      await ctx.memory.plan.set({ read: [person] });
      await ctx.memory.sync();
      await ctx.types("Person").create({ id: "ada", name: person });
      await ctx.types("Person").create({ id: "grace", name: "Grace" });
      return { item, event };
    },
    async print(_, ctx) { await ctx.jobs.dispatch("print", { notes: "ada.md" }); },
    async scan(_, ctx) { return { job: await ctx.jobs.dispatch("scan", { shelf: "A" }, { key: "shelf A" }) }; },
    async summarise({ path }, ctx) {
      return { text: (await ctx.ai.generate({ category: "summary", prompt: "Summarise " + path })).text };
    },
    async announce(_, ctx) {
      await ctx.notify("A note is misspelt", "Shall I correct it?", {
        severity: "info",
        action: [{ kind: "file.edit", path: "notes/ada.md", edits: [{ find: "Lovelace", replace: "King" }] }],
      });
    },
  },
});
`;

const parameters = (...names: string[]) => ({
  type: "object",
  required: names,
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
});

const librarian: ExtensionSpec = {
  id: AGENT,
  program: PROGRAM,
  grants: { locations: ["notes"] },
  manifest: {
    name: "Librarian",
    permissions: {
      read_entries: true,
      dispatch_jobs: true,
      propose_actions: ["file.edit", "file.move"],
      write_tags: true,
      write_custom_fields: { namespace: "library" },
      write_sidecars: { kinds: ["card"] },
      use_models: [{ category: "summary" }],
    },
    hooks: [
      { on: "EntryCreated", filter: 'entry.extension == "md"', handler: "noted" },
      { schedule: "0 3 * * *", handler: "noted" },
    ],
    tools: [
      {
        name: "count_notes",
        description: "Counts notes.",
        handler: "countNotes",
        parameters: parameters("folder"),
      },
      {
        name: "correct",
        description: "Corrects a word in a note.",
        handler: "correct",
        parameters: parameters("path", "find", "replace"),
      },
      { name: "tidy", description: "Puts a note in order.", handler: "tidy", parameters: parameters() },
      {
        name: "remember",
        description: "Remembers a person.",
        handler: "remember",
        parameters: parameters("person"),
      },
      { name: "scan", description: "Scans the shelves.", handler: "scan", parameters: parameters() },
      { name: "print", description: "Prints the notes.", handler: "print", parameters: parameters() },
      {
        name: "summarise",
        description: "Summarises a note.",
        handler: "summarise",
        parameters: parameters("path"),
      },
      { name: "announce", description: "Tells the person.", handler: "announce", parameters: parameters() },
    ],
    types: [{ name: "Person", version: 1, key: "id", schema: parameters("id", "name") }],
  },
};

const reader: ExtensionSpec = {
  id: READER,
  program: `
import { defineAgent } from "@lares/sdk";

export default defineAgent({
  tools: {
    async collect({ count }, ctx) {
      for (let number = 1; number <= count; number++)
        await ctx.memory.knowledge.add("book", { number }, { text: "Book " + number });
      await ctx.memory.sync();
    },
    async remind({ count }, ctx) {
      for (let number = 1; number <= count; number++) {
        await ctx.notify("A book is due", "Book " + number + " has to be returned.");
        // A guest may make five calls of \`notify\` in a second.
        if (number % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 1_100));
      }
    },
  },
});
`,
  manifest: {
    name: "Reader",
    tools: ["collect", "remind"].map((name) => ({
      name,
      description: `Has it ${name}.`,
      handler: name,
      parameters: { type: "object", properties: { count: { type: "integer" } } },
    })),
  },
};

let bench: Bench;
let client: Client;
let recorder: Recorder;
let exchanges: Exchanges;

beforeAll(async () => {
  bench = await Bench.create({
    files: { "notes/ada.md": "Ada Lovelace wrote the frist program.\n", "notes/grace.md": "Grace Hopper\n" },
    extensions: [
      librarian,
      reader,
      { id: BROKEN, program: "export default {};", manifest: { name: "Broken", tools: "none" } },
      {
        id: MIND,
        manifest: {
          name: "Steward",
          permissions: { use_models: [{ category: "chat" }], read_entries: true },
          mind: {
            identity: ["SOUL.md"],
            blocks: [
              { name: "shelves", description: "What stands where" },
              { name: "visit", description: "What this visitor wants", scope: "conversation" },
            ],
          },
          commands: [
            {
              name: "greet",
              title: "Greet",
              description: "Says hello.",
              prompt: "prompts/greet.md",
              parameters: parameters("to"),
            },
          ],
        },
        files: { "SOUL.md": "I am calm.", "prompts/greet.md": "Say hello to the person named here." },
      },
    ],
    lares: { shared_namespaces: [{ name: "people", extensions: [AGENT], read_write: true }] },
  });
  const config = join(bench.base, "config", "lares");
  await mkdir(config, { recursive: true });
  await writeModels(usualModels);
  await writeFile(join(config, "rehearsal.yaml"), turns);
  client = await bench.connect({
    environment: { XDG_CONFIG_HOME: join(bench.base, "config") },
    capabilities: { experimental: { lares: { languageModels: true } } },
  });
  client.answer = answerAsEditor;
  const status = await bench.status(client);
  recorder = new Recorder([
    [status.stateFolder, "/home/ada/.local/state/lares/workspaces/library-4f1d"],
    [bench.root, "/home/ada/library"],
    [bench.base, "/home/ada"],
    [fileURLToPath(new URL("../../manifests", import.meta.url)), "/opt/lares/manifests"],
  ]);
  exchanges = new Exchanges(client, recorder);
});
afterAll(() => bench[Symbol.asyncDispose]());

const usualModels = {
  routes: { default: "rehearsal/script", summary: "lab/small" },
  budgets: { per_day_usd: 5 },
};
const writeModels = (more: object, memory: object = {}): Promise<void> =>
  writeFile(
    join(bench.base, "config", "lares", "lares.yaml"),
    JSON.stringify({
      version: 1,
      models: {
        providers: {
          rehearsal: { api: "scripted", script: "./rehearsal.yaml" },
          anthropic: { api: "anthropic", key: { secret: "anthropic" } },
          lab: { api: "openai-compatible", base_url: "https://models.example.com/v1" },
          editor: { api: "editor" },
        },
        ...more,
      },
      memory,
    }),
  );

const shown = new Set<string>();
/** Answers what the kernel asks of an editor with language models, and records it. */
function answerAsEditor({ method, params }: Message): unknown {
  if (method !== "lares/models/offered" && method !== "lares/models/generate") return null;
  const { partialResultToken: token } = params as { partialResultToken?: string };
  if (token !== undefined) client.notify("$/progress", { token, value: { text: "ready" } });
  const result =
    method === "lares/models/offered"
      ? { models: [{ id: "copilot/gpt-5-mini", context_tokens: 128_000 }] }
      : { finish: "stop", usage: { input_tokens: 14, output_tokens: 1 } };
  expect(validate(kernelRequests[method].params, params)).toBeNull();
  expect(validate(kernelRequests[method].result, result, "result")).toBeNull();
  // How often the kernel asks for the offered models depends on timing.
  if (!shown.has(method)) recorder.exchange(method, { params, result });
  shown.add(method);
  return result;
}

const ask = <Result>(method: ClientRequest, params: object = {}): Promise<Result> =>
  exchanges.ask<Result>(method, params);
const refused = (method: ClientRequest, code: string, params: object): Promise<void> =>
  exchanges.refused(method, code, params);

const correction = (find: string, replace: string, more: object = {}) => ({
  agent: AGENT,
  name: "correct",
  arguments: { path: "notes/ada.md", find, replace, ...more },
});
const correct = async (find: string, replace: string): Promise<Action> => {
  const params = correction(find, replace);
  return (await client.request<{ action: Action }>("lares/tools/call", params)).action;
};
/** Long after every run of this test, so that a question can name an end. */
const later = "2096-11-20T12:00:00.000Z";
const nowhere = "0197a000-0000-7000-8000-00000000ffff";

test("trust: the question, and a person's answer", async () => {
  await refused("lares/actions/list", "Untrusted", {});
  const { digest } = await ask<{ digest: string }>("lares/trust/question");
  await ask("lares/trust/program", { extension: AGENT });
  await refused("lares/trust/program", "NotFound", { extension: "dev.example.nobody" });
  await refused("lares/trust", "DigestMismatch", { trusted: true, digest: `sha256:${"0".repeat(64)}` });
  await refused("lares/trust", "InvalidParams", { trusted: true, grants: { extensions: [], workspace: [] } });
  await client.request("lares/trust", { trusted: true, digest });
  await bench.ready(client);
  await until(
    "the notes to be indexed and noted",
    async () => (await client.request<{ idle: boolean }>("lares/status")).idle,
  );
  await ask("lares/status");
  // Sent again: the first answer depends on how far the kernel was.
  await ask("lares/trust", { trusted: true, digest });
  // Ten are told, and the person is told half a minute later how many were held back.
  await tool(client, READER, "remind", { count: 13 });
});

test("agents and tools", async () => {
  await ask("lares/tools/list", { agent: AGENT });
  await ask("lares/tools/call", {
    agent: AGENT,
    name: "count_notes",
    arguments: { folder: "notes" },
    deadline_ms: 60_000,
  });
  await ask("lares/tools/call", correction("nothing", "something"));
  await ask("lares/traces/query", {
    agent: AGENT,
    level: "info",
    since: "1h",
    until: later,
    text: "Notes are counted",
    limit: 1,
  });
  await refused("lares/tools/call", "NotFound", { agent: AGENT, name: "count_books", arguments: {} });
  await refused("lares/tools/call", "ToolError", { agent: AGENT, name: "count_notes", arguments: {} });
  await inState(client, AGENT, "Active");
  await ask("lares/agents/control", { id: AGENT, command: "suspend" });
  await refused("lares/tools/call", "AgentError", { agent: AGENT, name: "scan", arguments: {} });
  await refused("lares/agents/control", "IllegalTransition", { id: AGENT, command: "suspend" });
  await refused("lares/agents/control", "InvalidParams", { id: AGENT, command: "resume", hook: 99 });
  await refused("lares/agents/control", "NotFound", { id: "dev.example.nobody", command: "enable" });
  await client.request("lares/agents/control", { id: AGENT, command: "resume" });
  const { cursor } = await ask<{ cursor: string }>("lares/entries/query", { path: "notes/*.md", limit: 1 });
  await ask("lares/entries/query", { path: "notes/*.md", limit: 1, cursor });
});

test("actions, from a proposal to its end, and a remembered decision", async () => {
  const { action } = await ask<{ action: Action }>("lares/tools/call", {
    ...correction("frist", "first", { key: "frist" }),
    key: "correct frist",
  });
  const { id, digest, scopes } = action;
  await ask("lares/actions/list", { state: "PendingApproval" });
  await ask("lares/actions/get", { id });
  await refused("lares/actions/get", "NotFound", { id: nowhere });
  await ask("lares/actions/content", { id, effect: 0, side: "before", offset: 4, length: 8 });
  await refused("lares/actions/content", "NotFound", { id: nowhere, effect: 0, side: "after" });
  await ask("lares/actions/diff", { id, effect: 0 });
  await refused("lares/actions/content", "InvalidParams", { id, effect: 7, side: "after" });
  await refused("lares/actions/diff", "NotFound", { id: nowhere, effect: 0 });
  await refused("lares/actions/diff", "InvalidParams", { id, effect: 7 });
  await refused("lares/actions/approve", "DigestMismatch", { id, digest: `sha256:${"0".repeat(64)}` });
  await refused("lares/actions/approve", "NotFound", { id: nowhere, digest });
  await refused("lares/actions/undo", "IllegalTransition", { id });
  await refused("lares/actions/rebase", "IllegalTransition", { id });
  await refused("lares/actions/rebase", "NotFound", { id: nowhere });
  const shown = await client.request<Action>("lares/actions/get", { id });
  const rules = (shown.scopes ?? scopes)?.[0]?.rules;
  await ask("lares/actions/approve", { id, digest, remember: "always", rules });
  await refused("lares/actions/approve", "IllegalTransition", { id, digest });
  await refused("lares/actions/reject", "IllegalTransition", { id });
  await refused("lares/actions/reject", "NotFound", { id: nowhere });
  await client.request("lares/actions/undo", { id });
  const allowed = await correct("frist", "first");
  await ask("lares/actions/get", { id: allowed.id });
  const { items } = await ask<{ items: { id: string }[] }>("lares/decisions/list");
  await ask("lares/decisions/revoke", { id: items[0]?.id });
  await refused("lares/decisions/revoke", "NotFound", { id: items[0]?.id });
  await ask("lares/actions/undo", { id: allowed.id });
  await refused("lares/actions/undo", "NotFound", { id: nowhere });

  const older = await correct("frist", "1st");
  const second = await correct("frist", "first");
  await ask("lares/actions/get", { id: older.id });
  await ask("lares/actions/list", { agent: AGENT, before: second.id, limit: 1 });
  await ask("lares/actions/reject", { id: second.id, reason: "It is a quotation." });
  const edited = await correct("frist", "first");
  await ask("lares/actions/approve", {
    id: edited.id,
    digest: edited.digest,
    effects: [0],
    edits: [{ effect: 0, content: "Ada Lovelace wrote the very first program.\n" }],
  });
  await client.request("lares/actions/undo", { id: edited.id });

  const third = await correct("frist", "first");
  await bench.write("notes/ada.md", "Ada Lovelace\nwrote the frist program.\n");
  await until("the action to be stale", async () => {
    const { state } = await client.request<Action>("lares/actions/get", { id: third.id });
    return state === "Stale";
  });
  await refused("lares/actions/rebase", "Stale", { id: third.id });
  await ask("lares/actions/get", { id: third.id });
});

test("an action of several kinds of changes, of which some are approved", async () => {
  const id = await tool<string>(client, AGENT, "tidy");
  const { digest } = await ask<Action>("lares/actions/get", { id });
  await client.request("lares/actions/approve", { id, digest, effects: [0, 1, 2] });
  await ask("lares/entries/query", {
    tag: "#person",
    kind: "file",
    media: "text",
    extension: "md",
    text: "grace",
  });
});

test("a merge of later changes, and an undo that is too late", async () => {
  await bench.write("notes/ada.md", "Ada Lovelace\n\n\n\n\nwrote the frist program.\n");
  await until("the file to be seen", async () => {
    const { items } = await client.request<{ items: { size: number }[] }>("lares/entries/query", {
      path: "notes/ada.md",
    });
    return items[0]?.size === 42;
  });
  const { id } = await correct("frist", "first");
  await bench.write("notes/ada.md", "Countess Ada Lovelace\n\n\n\n\nwrote the frist program.\n");
  await until("the action to be stale", async () => {
    const { state } = await client.request<Action>("lares/actions/get", { id });
    return state === "Stale";
  });
  const merged = await ask<Action>("lares/actions/rebase", { id });
  const { digest } = merged;
  await client.request("lares/actions/approve", { id: merged.id, digest });
  await bench.write("notes/ada.md", "Nothing of all this.\n");
  await refused("lares/actions/undo", "Stale", { id: merged.id });
});

test("memory: queried, verified, exported and forgotten", async () => {
  const { item } = await tool<{ item: string }>(client, AGENT, "remember", { person: "Ada" });
  await ask("lares/types/list");
  const { cursor } = await ask<{ cursor: string }>("lares/types/values", {
    type: `${AGENT}/Person`,
    limit: 1,
  });
  await ask("lares/types/values", { type: `${AGENT}/Person`, limit: 1, cursor });
  await refused("lares/types/values", "NotFound", { type: `${AGENT}/Place` });
  const filter = {
    agent: AGENT,
    variant: "met",
    since: "7d",
    until: later,
    text: { field: "person", match: "ada" },
    where: [{ field: "at", op: "near", value: [51.5, -0.1], km: 5 }],
  };
  await ask("lares/memory/query", { ...filter, kind: "temporal", order: "asc", limit: 10, offset: 0 });
  await ask("lares/memory/query", {
    agent: AGENT,
    kind: "associative",
    similar_to: "the first program",
    top_k: 1,
  });
  await ask("lares/memory/query", {
    agent: AGENT,
    kind: "associative",
    embedding: [0, 0.6, 0.8],
    variant: "person",
    related_to: { id: item, depth: 1, relation: "is the same as" },
    min_similarity: 0.5,
  });
  await ask("lares/memory/query", { agent: AGENT, kind: "working", namespace: "people" });
  await ask("lares/memory/query", {
    agent: AGENT,
    kind: "search",
    text: "who wrote a program",
    mode: "text",
    limit: 1,
  });
  await refused("lares/memory/query", "NotFound", { agent: "dev.example.nobody", kind: "working" });
  await ask("lares/memory/count", { ...filter, group_by: "variant" });
  await ask("lares/memory/count", { agent: AGENT, namespace: "people" });
  await refused("lares/memory/count", "NotFound", { agent: "dev.example.nobody" });
  await ask("lares/memory/stats", { agent: AGENT });
  await refused("lares/memory/stats", "NotFound", { agent: AGENT, namespace: "places" });
  await ask("lares/memory/verify", { agent: AGENT });
  await refused("lares/memory/verify", "NotFound", { agent: AGENT, namespace: "places" });
  await ask("lares/memory/namespaces", { agent: AGENT });
  await refused("lares/memory/namespaces", "NotFound", { agent: "dev.example.nobody" });
  const path = join(bench.base, "librarian.lares-memory");
  await ask("lares/memory/export", { agent: AGENT, namespace: "people", path });
  await ask("lares/memory/export", { agent: AGENT, path, overwrite: true });
  await refused("lares/memory/export", "NotFound", { agent: READER, path });
  await ask("lares/memory/import", { agent: READER, path, preview: true });
  await refused("lares/memory/import", "DigestMismatch", { agent: READER, path, head: "0".repeat(64) });
  await refused("lares/memory/import", "NotFound", { agent: "dev.example.nobody", path });
  await ask("lares/memory/forget", { agent: AGENT, id: item, reason: "Ada asked for it." });
  await refused("lares/memory/forget", "NotFound", { agent: AGENT, id: item });
});

test("a memory of which another embedder has made half of the vectors", async () => {
  await using embedder = await startBusyEmbedder();
  await tool(client, READER, "collect", { count: 64 });
  await writeModels(usualModels, {
    extensions: { [READER]: { embedder: { kind: "openai-compatible", url: embedder.url, model: "small" } } },
  });
  await until("half of the vectors", async () => {
    const { projections } = await client.request<MemoryStats>("lares/memory/stats", { agent: READER });
    return projections?.rebuilding?.fraction === 0.5;
  });
  await ask("lares/memory/stats", { agent: READER });
  await writeModels(usualModels);
});

test("jobs and traces", async () => {
  const { job } = await tool<{ job: string }>(client, AGENT, "scan");
  await until("the job to run", async () => {
    const { items } = await client.request<{ items: { progress?: object }[] }>("lares/jobs/list");
    return items[0]?.progress !== undefined;
  });
  await ask("lares/jobs/list", { agent: AGENT, limit: 10 });
  await ask("lares/jobs/cancel", { id: job, agent: AGENT });
  await refused("lares/jobs/cancel", "NotFound", { id: nowhere });
  await until("the job to end", async () => {
    const { total } = await client.request<{ total: number }>("lares/jobs/list");
    return total === 0;
  });
  await refused("lares/jobs/cancel", "IllegalTransition", { id: job });

  await tool(client, AGENT, "print");
  const died = await until("a job to be dead", async () => {
    const { items } = await client.request<{ items: { id: string }[] }>("lares/jobs/list", { state: "dead" });
    return items[0]?.id;
  });
  await ask("lares/jobs/list", { state: "dead" });
  await client.request("lares/agents/control", { id: READER, command: "disable" });
  await ask("lares/agents/list");
  await client.request("lares/agents/control", { id: READER, command: "enable" });
  await ask("lares/jobs/retry", { id: died });
  await refused("lares/jobs/retry", "NotFound", { id: nowhere });
  await until("it to be dead again", async () => {
    const { total } = await client.request<{ total: number }>("lares/jobs/list", { state: "dead" });
    return total === 1;
  });
  await ask("lares/jobs/remove", { id: died });
  await refused("lares/jobs/remove", "NotFound", { id: nowhere });

  const { subscription, cursor } = await ask<{ subscription: string; cursor: string }>(
    "lares/traces/follow",
    { agent: AGENT, level: "info" },
  );
  const inspecting = await ask<{ subscription: string }>("lares/traces/follow", {
    agent: AGENT,
    inspect: true,
    after: cursor,
  });
  await client.request("lares/traces/unfollow", inspecting);
  const others = await Promise.all(
    Array.from({ length: 63 }, () => client.request<{ subscription: string }>("lares/traces/follow")),
  );
  await refused("lares/traces/follow", "LimitExceeded", { agent: AGENT });
  for (const other of others) await client.request("lares/traces/unfollow", other);
  await bench.write("notes/new.md", "A new note.\n");
  const entry = await client.notification<{ subscription: string; entry: { message: string } }>(
    "lares/traces/entry",
    (told) => told.subscription === subscription && told.entry.message === "A note was written.",
  );
  recorder.notification("lares/traces/entry", entry);
  const [written] = await ask<{ span_id: string }[]>("lares/traces/query", {
    agent: AGENT,
    text: "note was written",
    limit: 1,
  });
  await ask("lares/traces/query", { agent: AGENT, level: "error", after: written?.span_id });
  await ask("lares/traces/unfollow", { subscription });
});

test("questions that calls wait for", async () => {
  const call = { agent: AGENT, name: "summarise", arguments: { path: "notes/ada.md" } };
  const answered = client.raw("lares/tools/call", call);
  const asked = await client.notification<Ask>("lares/asks/changed");
  recorder.notification("lares/asks/changed", asked);
  await ask("lares/asks/list", { state: "Pending" });
  const { id, digest } = asked;
  await refused("lares/asks/answer", "DigestMismatch", {
    id,
    digest: `sha256:${"0".repeat(64)}`,
    allow: true,
  });
  await refused("lares/asks/answer", "InvalidParams", { id, digest, allow: true, remember: "conversation" });
  await refused("lares/asks/answer", "NotFound", { id: nowhere, digest, allow: true });
  await ask("lares/asks/answer", { id, digest, allow: false });
  await refused("lares/asks/answer", "IllegalTransition", { id, digest, allow: true });
  expect(JSON.stringify(await answered)).toContain("models.budgets.per_day_tokens");
});

test("memories of minds", async () => {
  // Has the text that the memory gets.
  await ask("lares/conversations/editBlock", {
    agent: MIND,
    name: "shelves",
    text: "The library closes at six.",
  });
  const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND });
  await client.request("lares/conversations/send", { id, text: "Remember when the library closes." });
  const memory = await until("the memory", async () => {
    const { items } = await client.request<{ items: { id: string }[] }>("lares/memory/query", {
      agent: MIND,
      kind: "associative",
    });
    return items[0]?.id;
  });
  const corrected = await ask<{ id: string }>("lares/memory/correct", {
    agent: MIND,
    id: memory,
    text: "The library closes at six.",
  });
  await refused("lares/memory/correct", "NotFound", { agent: MIND, id: memory, text: "At seven." });
  await refused("lares/memory/correct", "InvalidParams", { agent: MIND, id: memory, text: " " });
  // Each request counts in the usage that is recorded later.
  await answered(id, "conclusion");
  await ask("lares/conversations/why", { id });
  await ask("lares/memory/forget", { agent: MIND, id: corrected.id, copies: true });
  await client.request("lares/conversations/editBlock", { agent: MIND, name: "shelves", text: "" });
  await client.request("lares/conversations/delete", { id });
});

/** Waits until the channel has answered what came last of this kind, and rests. */
async function answered(id: string, kind: "conclusion" | "message"): Promise<void> {
  await until("the answer", async () => {
    const { items } = await client.request<{ items: Entry[] }>("lares/conversations/entries", { id });
    const { processes } = await client.request<Conversation>("lares/conversations/get", { id });
    const isAnswer = (entry: Entry): boolean =>
      entry.kind === "message" && entry.role === "assistant" && entry.partial !== true;
    const asked = items.findLastIndex((entry) => entry.kind === kind && !isAnswer(entry));
    const isAtRest = processes.every(({ state }) => state === "WaitingForInput" || state === "Done");
    return asked >= 0 && isAtRest && items.slice(asked).some(isAnswer);
  });
}

/** A picture of one pixel. */
const dot =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("conversations", async () => {
  const { id } = await ask<Conversation>("lares/conversations/open", { agent: MIND, title: "Books" });
  await refused("lares/conversations/open", "NotFound", { agent: AGENT });
  await refused("lares/conversations/open", "ModelError", { agent: MIND, model: "nobody/x" });
  const { subscription } = await ask<{ subscription: string }>("lares/conversations/follow", {
    id,
    from: 0,
  });
  const { entry } = await ask<{ entry: string }>("lares/conversations/send", {
    id,
    text: "Are you there?",
    key: "first",
  });
  await until("the answer", async () => {
    const { processes, unread } = await client.request<Conversation>("lares/conversations/get", { id });
    return unread === 1 && processes[0]?.state === "WaitingForInput";
  });
  recorder.notification(
    "lares/conversations/changed",
    await client.notification<Conversation>(
      "lares/conversations/changed",
      ({ unread, processes }) => unread === 1 && processes[0]?.state === "WaitingForInput",
    ),
  );
  for (const method of ["entry", "delta"])
    recorder.notification(
      `lares/conversations/${method}`,
      await client.notification(`lares/conversations/${method}`),
    );
  await ask("lares/conversations/unfollow", { subscription });
  const { seq } = await ask<Conversation>("lares/conversations/get", { id });
  await ask("lares/conversations/update", { id, title: "Shelves", read: seq });
  await ask("lares/conversations/list", { agent: MIND, state: "open", text: "shelves", limit: 10 });
  await refused("lares/conversations/list", "InvalidParams", { cursor: "page 2" });
  await ask("lares/conversations/entries", { id, kinds: ["message"] });
  await ask("lares/conversations/entries", { id, after: 1, before: seq + 1, limit: 100 });
  await refused("lares/conversations/entries", "InvalidParams", {});
  await ask("lares/conversations/verify", { id });
  await ask("lares/conversations/verify", { agent: MIND });
  await refused("lares/conversations/verify", "InvalidParams", { id, agent: MIND });
  await refused("lares/conversations/verify", "NotFound", { agent: AGENT });
  await ask("lares/conversations/search", {
    agent: MIND,
    query: "there",
    mode: "text",
    in: ["messages"],
    limit: 10,
  });
  await refused("lares/conversations/search", "NotFound", { agent: AGENT, query: "there" });
  await refused("lares/conversations/send", "InvalidParams", { id, text: " " });
  await refused("lares/conversations/pin", "NotFound", { id, entry: nowhere, pinned: true });
  await ask("lares/conversations/pin", { id, entry, pinned: true });
  await ask("lares/conversations/context", { id });
  await refused("lares/conversations/context", "NotFound", { id, process: nowhere });
  await ask("lares/conversations/why", { id });
  await refused("lares/conversations/why", "NotFound", { id, entry: nowhere });
  await refused("lares/conversations/why", "InvalidParams", { id, entry });
  await refused("lares/conversations/compact", "IllegalTransition", { id });
  await refused("lares/conversations/send", "InvalidParams", {
    id,
    parts: [{ type: "image", media_type: "image/png", base64: "bm8gcGljdHVyZQ==" }],
  });
  await ask("lares/conversations/send", {
    id,
    parts: [
      { type: "text", text: "What is this? It is beside" },
      { type: "file", path: "notes/ada.md", range: [1, 2] },
      { type: "image", media_type: "image/png", base64: dot },
    ],
  });
  await until("the second answer", async () => {
    const { processes, unread } = await client.request<Conversation>("lares/conversations/get", { id });
    return unread === 1 && processes[0]?.state === "WaitingForInput";
  });
  await ask("lares/conversations/compact", { id });
  await until("the summary", async () => {
    const { processes } = await client.request<Conversation>("lares/conversations/get", { id });
    return processes.some(({ kind, state }) => kind === "compaction" && state === "Done");
  });
  await ask("lares/conversations/editBlock", {
    agent: MIND,
    name: "shelves",
    text: "Poems stand by the door.",
  });
  await refused("lares/conversations/editBlock", "NotFound", { agent: MIND, name: "doors", text: "" });
  await refused("lares/conversations/editBlock", "InvalidParams", { agent: MIND, name: "visit", text: "" });
  await ask("lares/conversations/editBlock", {
    agent: MIND,
    id,
    name: "visit",
    text: "Ada looks for a poem.",
  });
  await ask("lares/conversations/editBlock", {
    agent: MIND,
    name: "shelves",
    text: "Poems stand by the window.",
    forget: true,
  });
  await ask("lares/conversations/blocks", { agent: MIND, id });
  await ask("lares/conversations/search", { agent: MIND, query: "window", in: ["blocks", "memories"] });
  await ask("lares/conversations/entries", { agent: MIND, limit: 10 });
  await refused("lares/conversations/blocks", "NotFound", { agent: AGENT });
  await refused("lares/conversations/redact", "NotFound", { id, entry: nowhere });
  await refused("lares/conversations/redact", "InvalidParams", { id });
  await ask("lares/conversations/entries", { id, limit: 100 });
  await ask("lares/conversations/redact", { id, entry, preview: true });
  await ask("lares/conversations/redact", { id, entry, with_derived: true });
  await ask("lares/conversations/redact", { id, text: "What is this?" });
  await ask("lares/conversations/cancel", { id });
  await refused("lares/conversations/cancel", "NotFound", { id, process: nowhere });
  const fork = await ask<Conversation>("lares/conversations/fork", { id });
  await refused("lares/conversations/fork", "InvalidParams", { id, at: 1_000 });
  await refused("lares/conversations/update", "ModelError", { id, model: "nobody/x" });
  await ask("lares/conversations/update", { id, state: "archived" });
  await refused("lares/conversations/send", "IllegalTransition", { id, text: "Hello?" });
  await ask("lares/conversations/delete", { id });
  recorder.notification(
    "lares/conversations/deleted",
    await client.notification("lares/conversations/deleted"),
  );
  for (const method of [
    "get",
    "send",
    "follow",
    "entries",
    "verify",
    "compact",
    "fork",
    "update",
    "delete",
  ] as const)
    await refused(`lares/conversations/${method}`, "NotFound", {
      id,
      ...(method === "send" ? { text: "Hello?" } : {}),
    });
  await ask("lares/conversations/delete", { id: fork.id });
});

test("commands", async () => {
  await ask("lares/commands/list");
  const ran = await ask<{ value: { conversation: string } }>("lares/commands/run", {
    agent: MIND,
    name: "greet",
    arguments: { to: "Ada" },
  });
  await answered(ran.value.conversation, "message");
  await refused("lares/commands/run", "NotFound", { agent: MIND, name: "nothing" });
  await refused("lares/commands/run", "ToolError", { agent: MIND, name: "greet", arguments: {} });
});

test("models, usage and secrets", async () => {
  await ask("lares/secrets/set", {
    name: "weather",
    value: "never told again",
    hosts: ["api.example.com"],
    in: "header:x-api-key",
  });
  await ask("lares/secrets/list");
  await ask("lares/secrets/remove", { name: "weather" });
  await refused("lares/secrets/remove", "NotFound", { name: "weather" });
  await refused("lares/secrets/set", "InvalidParams", {
    name: "weather",
    value: "x",
    hosts: ["https://a/b"],
  });
  await ask("lares/models/list");
  await ask("lares/models/test", { model: "rehearsal/script" });
  await ask("lares/models/test", { model: "anthropic/claude-sonnet-4-5" });
  await ask("lares/models/test", { model: "editor/copilot/gpt-5-mini" });
  await ask("lares/usage", { group_by: "model", since: "30d", until: later });
  await writeModels({
    routes: { default: "rehearsal/script", chat: "rehearsal/script" },
    budgets: { per_day_tokens: 500 },
  });
  await until("the budget to be in force", async () => {
    const { routes } = await client.request<{ routes: object }>("lares/models/list");
    return "chat" in routes;
  });
  await refused("lares/models/test", "BudgetExceeded", { model: "rehearsal/script" });
});

test("notifications", async () => {
  await bench.write("notes/ada.md", "Ada Lovelace\n");
  await until("the file to be seen", async () => {
    const { items } = await client.request<{ items: { size: number }[] }>("lares/entries/query", {
      path: "notes/ada.md",
    });
    return items[0]?.size === 13;
  });
  await tool(client, AGENT, "announce");
  const notice = await client.notification<{ id: string; agent: string }>(
    "lares/notify",
    ({ agent }) => agent === AGENT,
  );
  recorder.notification("lares/notify", notice);
  await ask("lares/notifications/list", { state: "New", limit: 10 });
  await ask("lares/notifications/act", { id: notice.id });
  await refused("lares/notifications/act", "NotFound", { id: nowhere });
  await ask("lares/notifications/dismiss", { ids: [notice.id] });
  const changed = await client.notification<Agent>(
    "lares/agents/changed",
    ({ id, state, metrics }) => id === AGENT && state === "Active" && metrics.events_processed > 0,
  );
  recorder.notification("lares/agents/changed", changed);
  for (const method of ["lares/jobs/changed", "lares/decisions/changed"])
    recorder.notification(method, await client.notification(method));
  recorder.notification(
    "lares/actions/changed",
    await client.notification<Action>("lares/actions/changed", ({ state }) => state === "Committed"),
  );
  for (const [method, { params }] of Object.entries(serverNotifications))
    for (const told of client.notifications(method)) expect(validate(params, told, method)).toBeNull();
});

showTrust(() => ({ recorder, other: bench }));
showMinds(() => recorder);
showBulletins(() => recorder);

test("notifications that were held back", async () => {
  const told = await client.notification<{ held_back?: number }>(
    "lares/notify",
    ({ held_back: held }) => held !== undefined,
  );
  recorder.notification("lares/notify", told);
});

test("the recorded examples are those in schemas/", async () => {
  await expect(recorder.text()).toMatchFileSnapshot(fileURLToPath(examplesFile("protocol")));
});
