/**
 * The examples of `schemas/protocol.md`: every request is sent to a real kernel, and its answer is compared with
 * `schemas/examples/protocol.json`. After a change: `npx vitest run test/protocol/reference-protocol.test.ts
 * --update=all`, then `npm run build:schemas`.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { examplesFile } from "../../kernel/build/reference/examples.ts";
import type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
import type { MemoryStats } from "../../kernel/src/base/vocabulary/memory-reports.ts";
import { validate } from "../../kernel/src/protocol/validate.ts";
import { serverNotifications } from "../../kernel/src/protocol/v1/notifications.ts";
import { type Bench, inState, tool } from "../support/bench.ts";
import { startBusyEmbedder } from "../support/busy-embedder.ts";
import type { Client } from "../support/client.ts";
import { showBulletins } from "../support/examples-of-bulletins.ts";
import { showConversations } from "../support/examples-of-conversations.ts";
import { showMinds } from "../support/examples-of-minds.ts";
import { showTrust } from "../support/examples-of-trust.ts";
import { AGENT, Library, READER, usualModels } from "../support/library-of-examples.ts";
import type { Recorder } from "../support/recorded.ts";
import type { Action, Agent } from "../support/types.ts";
import { until } from "../support/until.ts";

let library: Library;
let bench: Bench;
let client: Client;
let recorder: Recorder;

beforeAll(async () => {
  library = await Library.create();
  ({ bench, client, recorder } = library);
});
afterAll(() => library[Symbol.asyncDispose]());

const ask = <Result>(...given: Parameters<Library["ask"]>): Promise<Result> => library.ask<Result>(...given);
const refused = (...given: Parameters<Library["refused"]>): Promise<void> => library.refused(...given);

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
  await library.writeModels(usualModels, {
    extensions: { [READER]: { embedder: { kind: "openai-compatible", url: embedder.url, model: "small" } } },
  });
  await until("half of the vectors", async () => {
    const { projections } = await client.request<MemoryStats>("lares/memory/stats", { agent: READER });
    return projections?.rebuilding?.fraction === 0.5;
  });
  await ask("lares/memory/stats", { agent: READER });
  await library.writeModels(usualModels);
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

showConversations(() => library);

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
  await library.writeModels({
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
