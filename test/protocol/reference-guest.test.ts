/**
 * The examples of `schemas/guest-abi.md`: lines between a real kernel and a handmade guest, compared with
 * `schemas/examples/guest-abi.json`. After a change: `npx vitest run test/protocol/reference-guest.test.ts
 * --update=all`, then `npm run build:schemas`.
 */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { examplesFile } from "../../kernel/build/reference/examples.ts";
import { guestCalls } from "../../kernel/src/protocol/guest/v1/calls.ts";
import { validate } from "../../kernel/src/protocol/validate.ts";
import { actionIn, type Bench, inState } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { frame } from "../support/frames.ts";
import {
  functions,
  guest,
  GUEST,
  GuestExamples,
  indexer,
  INDEXER,
  MIND,
  NEWCOMER,
  QUIET,
} from "../support/guests-of-examples.ts";
import { inferExample, largeInferExample } from "../support/infer-example.ts";
import type { Recorder } from "../support/recorded.ts";
import { heard, hostCall, say } from "../support/relay-guest.ts";
import type { Action } from "../support/types.ts";
import { until } from "../support/until.ts";

let examples: GuestExamples;
let bench: Bench;
let client: Client;
let recorder: Recorder;
let origin = "";

beforeAll(async () => {
  examples = await GuestExamples.create();
  ({ bench, client, recorder, origin } = examples);
});
afterAll(() => examples[Symbol.asyncDispose]());

const ask = <Result>(...given: Parameters<GuestExamples["ask"]>): Promise<Result> =>
  examples.ask<Result>(...given);
const refused = (...given: Parameters<GuestExamples["refused"]>): Promise<void> => examples.refused(...given);
const sent = (...given: Parameters<GuestExamples["sent"]>): Promise<number> => examples.sent(...given);

/** Calls a tool whose handler throws. */
async function failingTool(agent: string): Promise<void> {
  const called = client.raw("lares/tools/call", { agent, name: "wait", arguments: {} });
  const { id } = await heard(client, agent, "tool");
  await say(client, agent, { id, error: { code: -32_000, message: "The shelf has no end." } });
  await called;
}

const person = "Ada wrote the first program.";
const nowhere = "0197a000-0000-7000-8000-00000000ffff";

test("the guest is started, and gets an event and a tool call", async () => {
  await client.request("lares/tools/call", { agent: GUEST, name: "greet", arguments: { name: "Ada" } });
  await sent("initialize", functions);
  await sent("startup", null);
  await sent("tool", { status: "success", value: "Hello, Ada." });
  await bench.writeWhole("notes/new.txt", "A new note.\n");
  await sent("hook", null);
});

test("a guest is asked about what a person says to a mind", async () => {
  const { id } = await client.request<{ id: string }>("lares/conversations/open", { agent: MIND });
  await client.request("lares/conversations/send", { id, text: "Good morning!" });
  await sent("hook", {}, INDEXER);
});

test("models, requests and credentials", async () => {
  await ask("ai/models", { category: "chat" });
  await ask("ai/generate", {
    category: "chat",
    prompt: "What is the capital of Italy?",
    max_output_tokens: 100,
    temperature: 0,
  });
  const schema = { type: "object", required: ["city"], properties: { city: { type: "string" } } };
  await ask("ai/generate", {
    messages: [{ role: "user", text: "Where is the weather best?" }],
    system: "Answer with a city.",
    schema,
    max_output_tokens: 100,
  });
  await refused("ai/generate", "ModelError", { prompt: "Hello?", max_output_tokens: 100 });
  await refused("ai/generate", "BudgetExceeded", { prompt: "Write a novel.", max_output_tokens: 100_000 });
  await refused("ai/generate", "PermissionDenied", { prompt: "Hello?", category: "faces" });
  await refused("ai/generate", "InvalidParams", { prompt: "Where?", schema: { type: "city" } });
  await refused("ai/models", "PermissionDenied", {}, QUIET);
  await ask("ai/embed", { texts: ["Ada wrote the first program.", "Rain is expected."] }, INDEXER);
  await refused("ai/embed", "ModelError", { texts: ["busy"] }, INDEXER);
  await refused("ai/embed", "PermissionDenied", { texts: ["Hello?"] });

  // The runtime of models is not installed here: test/slow/extension-models.test.ts checks this answer.
  for (const { params, result } of [inferExample, largeInferExample]) {
    expect(validate(guestCalls["ai/infer"].params, params)).toBeNull();
    expect(validate(guestCalls["ai/infer"].result, result, "result")).toBeNull();
    recorder.exchange("ai/infer", { params, result });
  }
  const [x] = inferExample.params.inputs;
  await refused("ai/infer", "InvalidParams", { model: "adding", inputs: [{ ...x, dims: [1, 4] }] });
  await refused("ai/infer", "ModelError", { model: "older", inputs: [x] });
  await refused("ai/infer", "PermissionDenied", { model: "faces", inputs: [] });
  const blobs = [{ name: "x", type: "float32", dims: [1, 3], blob: nowhere }];
  await refused("ai/infer", "NotFound", { model: "adding", inputs: blobs });

  await client.request("lares/secrets/set", {
    name: "weather",
    value: "never seen by the guest",
    hosts: ["api.example.com"],
  });
  await ask("credentials/get", { name: "weather" });
  await refused("credentials/get", "NotFound", { name: "forgotten" });
  await refused("credentials/get", "PermissionDenied", { name: "bank" });
  await ask("http/fetch", { url: `${origin}/forecast`, headers: { accept: "application/json" } });
  await ask("http/fetch", { url: `${origin}/seen`, method: "POST", body: "Ada", timeout_ms: 5_000 });
  await refused("http/fetch", "NetworkError", { url: `${origin}/cut` });
  await refused("http/fetch", "EgressDenied", { url: "https://example.org/" });
  await refused("http/fetch", "LeakBlocked", {
    url: `${origin}/forecast`,
    headers: { authorization: `Bearer ghp_${"a1B2".repeat(9)}` },
  });
});

test("entries", async () => {
  const page = await ask<{ items: { id: string; content_id: string }[] }>("vdfs/query", {
    path: "notes/ada.md",
  });
  const [entry] = page.items;
  for (const path of ["notes/ada.md", "notes/copy.md"])
    await hostCall(client, GUEST, "actions/propose", {
      effects: [{ kind: "tag.add", path, tag: "#person" }],
      title: "Tag a note",
      reason: "It is about a person.",
    });
  const query = { tag: "#person", kind: "file", media: "text", extension: "md", text: ".md", limit: 1 };
  const { cursor } = await ask<{ cursor: string }>("vdfs/query", query);
  await ask("vdfs/query", { ...query, cursor });
  await ask("vdfs/count", { ...query, path: "notes/**", cursor });
  await ask("vdfs/get", { id: entry?.id });
  await ask("vdfs/read", { path: "notes/ada.md", offset: 4, length: 8 });
  await refused("vdfs/read", "NotFound", { path: "notes/grace.md" });
  await refused("vdfs/read", "ScopeViolation", { path: "secret/key.txt" });
  await ask("vdfs/thumbnail", { path: "notes/sky.png", max_px: 2, format: "rgba8" });
  await refused("vdfs/thumbnail", "InvalidParams", { path: "notes/ada.md", max_px: 64, format: "jpeg" });
  await refused("vdfs/thumbnail", "LimitExceeded", { path: "notes/wall.png", max_px: 64, format: "jpeg" });
  await refused("vdfs/thumbnail", "NotFound", { path: "notes/grace.png", max_px: 64, format: "jpeg" });
  await refused("vdfs/thumbnail", "ScopeViolation", { path: "secret/key.txt", max_px: 64, format: "jpeg" });
  await refused("vdfs/sidecar/read", "ScopeViolation", { path: "secret/key.txt", sidecar: "faces" });
  await refused("vdfs/get", "ScopeViolation", { path: "../other" });
  await until(
    "the notes to be hashed",
    async () => (await client.request<{ idle: boolean }>("lares/status")).idle,
  );
  const { result } = await hostCall(client, GUEST, "vdfs/get", { path: "notes/ada.md" });
  await ask("vdfs/copies", { content_id: (result as { content_id: string }).content_id });
  for (const [method, params] of [
    ["vdfs/query", {}],
    ["vdfs/count", {}],
    ["vdfs/get", { path: "notes/ada.md" }],
    ["vdfs/read", { path: "notes/ada.md" }],
    ["vdfs/thumbnail", { path: "notes/sky.png", max_px: 64, format: "jpeg" }],
    ["vdfs/sidecar/read", { path: "notes/ada.md", sidecar: "faces" }],
    ["vdfs/copies", { content_id: `sha256:${"0".repeat(64)}` }],
  ] as const)
    await refused(method, "PermissionDenied", params, QUIET);
});

test("actions", async () => {
  const edit = { kind: "file.edit", path: "notes/ada.md", edits: [{ find: "Lovelace", replace: "King" }] };
  const about = { title: "Use the married name", reason: "It is the one in the register." };
  await ask("actions/preview", { effects: [edit], ...about });
  const { id } = await ask<{ id: string }>("actions/propose", { effects: [edit], ...about, key: "ada" });
  await ask("actions/preview", {
    effects: [
      { kind: "file.write", path: "notes/grace.md", content: "Grace Hopper\n" },
      { kind: "file.write", path: "notes/key.bin", content_base64: "AAEC", expected: null },
      { ...edit, edits: [{ find: "a", replace: "o", all: true }] },
      { ...edit, path: "notes/list.md", edits: [{ find: "Grace", replace: "Grace Hopper" }] },
      { kind: "file.move", from: "notes/copy.md", to: "notes/other.md" },
      { kind: "tag.add", path: "notes/ada.md", tag: "#mathematician" },
      { kind: "field.set", path: "notes/ada.md", namespace: "guest", key: "born", value: 1815 },
      { kind: "sidecar.write", path: "notes/sky.png", sidecar: "faces", data: { count: 0 } },
    ],
    title: "Put the notes in order",
    reason: "One is missing, and one is there twice.",
  });
  await refused("actions/propose", "PermissionDenied", {
    effects: [{ kind: "file.delete", path: "notes/ada.md" }],
    ...about,
  });
  await refused("actions/preview", "ScopeViolation", {
    effects: [{ ...edit, path: "secret/key.txt" }],
    ...about,
  });
  await refused("actions/preview", "NotFound", { effects: [{ ...edit, path: "notes/grace.md" }], ...about });
  await refused("actions/preview", "PermissionDenied", {
    effects: [{ kind: "file.delete", path: "notes/ada.md" }],
    ...about,
  });
  await refused("actions/preview", "InvalidParams", {
    effects: [{ ...edit, edits: [{ find: "Byron", replace: "King" }] }],
    ...about,
  });
  await refused("actions/propose", "Stale", {
    effects: [{ ...edit, expected: `sha256:${"0".repeat(64)}` }],
    ...about,
  });
  await refused("actions/propose", "InvalidParams", {
    effects: [{ ...edit, edits: [{ find: "Byron", replace: "King" }] }],
    ...about,
  });
  await refused("actions/preview", "Stale", {
    effects: [{ ...edit, expected: `sha256:${"0".repeat(64)}` }],
    ...about,
  });
  await refused("actions/propose", "ScopeViolation", {
    effects: [{ ...edit, path: "secret/key.txt" }],
    ...about,
  });
  await refused("actions/propose", "NotFound", { effects: [{ ...edit, path: "notes/grace.md" }], ...about });
  await ask("actions/get", { id });
  await refused("actions/get", "NotFound", { id: nowhere });
  await refused("actions/withdraw", "NotFound", { id: nowhere });
  await client.request("lares/actions/reject", { id, reason: "The register is wrong." });
  await ask("actions/settled", { id });
  await refused("actions/settled", "NotFound", { id: nowhere });
  await refused("actions/withdraw", "IllegalTransition", { id });
  await refused("actions/propose", "IllegalTransition", { effects: [edit], ...about, supersedes: id });
  const again = await hostCall(client, GUEST, "actions/propose", { effects: [edit], ...about });
  await ask("actions/withdraw", { id: (again.result as { id: string }).id });
  const first = await hostCall(client, GUEST, "actions/propose", { effects: [edit], ...about });
  const older = (first.result as { id: string }).id;
  const newer = await ask<Action>("actions/propose", { effects: [edit], ...about, supersedes: older });
  await ask("actions/get", { id: older });
  const text = "Ada King, Countess of Lovelace\n";
  await client.request("lares/actions/approve", {
    id: newer.id,
    digest: newer.digest,
    edits: [{ effect: 0, content: text }],
  });
  await client.request("lares/actions/undo", { id: newer.id });
  await ask("actions/get", { id: newer.id });
  await hostCall(client, GUEST, "actions/propose", {
    effects: [{ kind: "sidecar.write", path: "notes/ada.md", sidecar: "faces", data: { count: 1 } }],
    ...about,
  });
  await ask("vdfs/sidecar/read", { path: "notes/ada.md", sidecar: "faces" });
});

test("an action that a person had merged with later changes", async () => {
  const path = "notes/poem.md";
  const { result } = await hostCall(client, GUEST, "actions/propose", {
    effects: [{ kind: "file.edit", path, edits: [{ find: "bleu", replace: "blue" }] }],
    title: "Correct a word",
    reason: "It is misspelt.",
  });
  const { id } = result as Action;
  await bench.write(path, "Roses are white.\n\n\n\n\nViolets are bleu.\n");
  await actionIn(client, id, "Stale");
  const merged = await client.request<Action>("lares/actions/rebase", { id });
  await ask("actions/get", { id: merged.id });
});

test("memory", async () => {
  await ask("memory/working/read");
  await ask("memory/working/swap", { revision: 0, state: { read: ["Ada"] } });
  await refused("memory/working/swap", "Conflict", { revision: 0, state: {} });
  const timestamp = "2026-11-20T12:00:00.000Z";
  await ask("memory/temporal/append", { variant: "met", data: { person: "Ada" }, timestamp });
  await ask("memory/temporal/query", { variant: "met", limit: 10 });
  await ask("memory/temporal/count", { group_by: "variant" });
  const { id } = await ask<{ id: string }>("memory/associative/add", {
    variant: "person",
    data: { name: "Ada" },
    text: person,
    importance: 0.5,
  });
  const { id: other } = await ask<{ id: string }>("memory/associative/add", {
    variant: "person",
    data: { name: "Charles" },
    relations: [{ to: id, relation: "worked with" }],
  });
  await ask("memory/associative/update", { id: other, data: { name: "Charles Babbage" } });
  await ask("memory/associative/relate", { from: id, to: other, relation: "wrote to" });
  await ask("memory/sync");
  await ask("memory/associative/query", { similar_to: "the first program", top_k: 1 });
  await ask("memory/search", { text: "who wrote a program", limit: 1 });
  await ask("memory/associative/remove", { id: other });
  for (const [method, params] of [
    ["memory/associative/update", { id: nowhere, data: {} }],
    ["memory/associative/remove", { id: nowhere }],
    ["memory/associative/relate", { from: id, to: nowhere, relation: "knows" }],
    [
      "memory/associative/add",
      { variant: "person", data: {}, relations: [{ to: nowhere, relation: "knows" }] },
    ],
  ] as const)
    await refused(method, "NotFound", params);
  await ask("memory/cleanup", { retention_days: 365 });
  for (const [method, params] of [
    ["memory/working/read", {}],
    ["memory/working/swap", { revision: 0, state: {} }],
    ["memory/temporal/append", { variant: "met", data: {} }],
    ["memory/temporal/query", {}],
    ["memory/temporal/count", {}],
    ["memory/associative/add", { variant: "person", data: {} }],
    ["memory/associative/update", { id: nowhere, data: {} }],
    ["memory/associative/remove", { id: nowhere }],
    ["memory/associative/relate", { from: id, to: other, relation: "knows" }],
    ["memory/associative/query", {}],
    ["memory/search", { text: "Ada" }],
    ["memory/sync", {}],
    ["memory/cleanup", { retention_days: 1 }],
  ] as const)
    await refused(method, "PermissionDenied", params, QUIET);
});

test("a memory that agents share", async () => {
  const namespace = "family";
  const timestamp = "2026-11-20T12:00:00.000Z";
  await ask("memory/working/swap", { namespace, revision: 0, state: { read: ["Ada"] } });
  await ask("memory/working/read", { namespace });
  await ask("memory/temporal/append", {
    namespace,
    variant: "met",
    data: { person: "Ada", at: [51.5, -0.14] },
    timestamp,
    source: "notes/ada.md",
    position: 1,
  });
  const filter = {
    namespace,
    variant: "met",
    since: "2026-11-01T00:00:00Z",
    until: "2026-12-01T00:00:00Z",
    text: { field: "person", match: "ada" },
    where: [{ field: "at", op: "near", value: [51.5, -0.1], km: 5 }],
  };
  await ask("memory/temporal/query", { ...filter, order: "asc", limit: 10, offset: 0 });
  await ask("memory/temporal/count", filter);
  const { id } = await ask<{ id: string }>("memory/associative/add", {
    namespace,
    variant: "person",
    data: { name: "Ada" },
    embedding: [0, 0.6, 0.8],
    timestamp,
    source: "notes/ada.md",
    position: 1,
  });
  const { id: newer } = await ask<{ id: string }>("memory/associative/add", {
    namespace,
    variant: "person",
    data: { name: "Ada Lovelace" },
    embedding: [0, 0.6, 0.8],
  });
  await ask("memory/associative/update", {
    namespace,
    id: newer,
    variant: "mathematician",
    text: person,
    embedding: [0.1, 0.6, 0.8],
    importance: 0.9,
  });
  await ask("memory/associative/relate", { namespace, from: newer, to: id, relation: "is the same as" });
  await ask("memory/sync", { namespace });
  await ask("memory/associative/query", {
    namespace,
    embedding: [0, 0.6, 0.8],
    variant: "mathematician",
    where: [{ field: "name", op: "contains", value: "Ada" }],
    related_to: { id, depth: 1, relation: "is the same as" },
    min_similarity: 0.5,
  });
  await ask("memory/search", { namespace, text: "who wrote a program", mode: "text", limit: 1 });
  await ask("memory/cleanup", { namespace, retention_days: 365 });
  await ask("memory/associative/remove", { namespace, id: newer });
});

test("jobs, other agents' tools, events and shared data", async () => {
  await refused("jobs/progress", "IllegalTransition", { fraction: 0.5 });
  await refused("jobs/task", "IllegalTransition", { name: "shelf", input: {} });
  await ask("jobs/dispatch", { name: "scan", input: { shelf: "A" }, key: "shelf A" });
  const params = { name: "scan", input: { shelf: "A" }, key: "shelf A" };
  await ask("jobs/dispatch", { ...params, priority: "high", when_idle: true });
  await failingTool(INDEXER);
  await client.request("lares/agents/control", { id: INDEXER, command: "disable" });
  await ask("agents/list", {});
  await client.request("lares/agents/control", { id: INDEXER, command: "enable" });
  await refused("agents/list", "PermissionDenied", {}, QUIET);
  await refused("jobs/dispatch", "NotFound", { name: "print", input: {} });
  await refused("jobs/dispatch", "PermissionDenied", { name: "scan", input: {} }, QUIET);
  await refused("jobs/progress", "PermissionDenied", { fraction: 0.5 }, QUIET);
  await refused("jobs/checkpoint", "PermissionDenied", { data: {} }, QUIET);
  await refused("jobs/task", "PermissionDenied", { name: "shelf", input: {} }, QUIET);
  const proposed = await hostCall(client, GUEST, "actions/propose", {
    effects: [{ kind: "file.write", path: "notes/shelf.md", content: "Shelf A\n" }],
    title: "Note the shelf",
    reason: "It has no note.",
  });
  const { id: waiting } = proposed.result as { id: string };
  const job = await sent("job", null);
  const { params: begun } = await heard(client, GUEST, "job");
  await ask("jobs/progress", { fraction: 0.5, message: "half of the shelf" });
  await ask("jobs/checkpoint", { data: { next: 12 } });
  await refused("jobs/task", "NotFound", { name: "print", input: {} });
  const counted = ask("jobs/task", { name: "shelf", input: { shelf: "A" }, attempts: 2, backoff: "500ms" });
  const task = await sent("task", { books: 12 });
  await say(client, GUEST, { id: task, result: { books: 12 } });
  await counted;
  await client.request("lares/jobs/cancel", { id: begun["id"] });
  await sent("cancelJob", null);
  await refused("jobs/checkpoint", "IllegalTransition", { data: { next: 13 } });
  await say(client, GUEST, { id: job, result: null });

  await ask("tools/call", { agent: GUEST, name: "greet", arguments: { name: "Ada" }, key: "Ada" });
  for (const result of [
    { status: "error", message: "The shelf is locked.", recoverable: true },
    { status: "needs_approval", action: waiting, reason: "The note would be changed." },
  ]) {
    const called = ask("tools/call", { agent: GUEST, name: "wait", arguments: result, deadline_ms: 60_000 });
    const { id } = await until("the guest to be called", async () => {
      const line = await heard(client, GUEST, "tool");
      const args = line.params["arguments"] as { status?: string };
      return args.status === result.status && line;
    });
    await sent("tool", result);
    await say(client, GUEST, { id, result });
    await called;
  }
  await refused("tools/call", "NotFound", { agent: GUEST, name: "sing", arguments: {} });
  await refused("tools/call", "PermissionDenied", { agent: QUIET, name: "greet", arguments: {} });
  await refused("tools/call", "ToolError", { agent: GUEST, name: "greet", arguments: "Ada" });
  await ask("events/emit", { name: "PersonSeen", data: { person: "Ada" } });
  await refused("events/emit", "PermissionDenied", { name: "PlaceSeen", data: {} });
  await ask("shared/read", { key: "people" });
  await ask("shared/write", { key: "people", value: ["Ada"], version: 0 });
  await ask("shared/read", { key: "people" });
  await refused("shared/write", "Conflict", { key: "people", value: [], version: 0 });
  await refused("shared/read", "PermissionDenied", { key: "places" });
  await refused("shared/write", "PermissionDenied", { key: "places", value: [] });
  await ask("notify", { title: "A person was seen", message: "It was Ada.", severity: "info" });
  await refused("notify", "PermissionDenied", {
    title: "A note is old",
    message: "Shall I delete it?",
    severity: "info",
    action: [{ kind: "file.delete", path: "notes/ada.md" }],
  });
  await refused("notify", "ScopeViolation", {
    title: "A note is old",
    message: "Shall I change it?",
    severity: "info",
    action: [{ kind: "file.edit", path: "secret/key.txt", edits: [{ find: "x", replace: "y" }] }],
  });
  const trace = {
    level: "info",
    message: "A person was seen.",
    fields: { person: "Ada" },
    on_behalf: null,
  };
  await say(client, GUEST, { method: "trace", params: trace });
  await until("the trace", async () => {
    const found = await client.request<unknown[]>("lares/traces/query", {
      agent: GUEST,
      text: trace.message,
    });
    return found.length > 0;
  });
  recorder.notification("trace", trace);
  const cancel = { id: 7 };
  await say(client, GUEST, { method: "cancel", params: cancel });
  recorder.notification("cancel", cancel);
});

test("a named action", async () => {
  await client.request("lares/tools/call", { agent: GUEST, name: "read_note", arguments: { note: "Ada" } });
  const reason = "Ada was read.";
  const effects = [{ kind: "tag.add", path: "notes/ada.md", tag: "#read" }];
  await sent("action", { effects, title: "Mark Ada as read", reason });
});

test("values of types", async () => {
  const type = `${GUEST}/Person`;
  const ada = { id: "ada", name: "Ada", born: 1815 };
  await ask("types/create", { type, value: ada });
  await refused("types/create", "Conflict", { type, value: ada });
  await refused("types/create", "InvalidParams", { type, value: { ...ada, born: "long ago" } });
  await ask("types/get", { type, key: "ada" });
  await hostCall(client, GUEST, "types/create", { type, value: { id: "grace", name: "Grace Hopper" } });
  const { cursor } = await ask<{ cursor: string }>("types/query", { type, limit: 1 });
  await ask("types/query", { type, limit: 1, cursor });
  await ask("types/query", { type, where: [{ field: "born", op: "lt", value: 1900 }], limit: 10 });
  await refused("types/query", "InvalidParams", { type, where: [{ field: "born", op: "lt", value: true }] });
  await ask("types/update", { type, key: "ada", version: 1, value: { ...ada, name: "Ada Lovelace" } });
  await refused("types/update", "Conflict", { type, key: "ada", version: 1, value: ada });
  await refused("types/update", "InvalidParams", { type, key: "ada", version: 2, value: {} });
  await refused("types/update", "NotFound", { type, key: "bob", version: 1, value: { ...ada, id: "bob" } });
  await refused("types/remove", "NotFound", { type, key: "bob", version: 1 });
  await refused("types/remove", "Conflict", { type, key: "ada", version: 1 });
  await ask("types/remove", { type, key: "ada", version: 2 });
  const missing = `${GUEST}/Place`;
  await refused("types/create", "NotFound", { type: missing, value: ada });
  await refused("types/get", "NotFound", { type: missing, key: "ada" });
  await refused("types/query", "NotFound", { type: missing });
  for (const [method, params] of [
    ["types/create", { value: ada }],
    ["types/get", { key: "ada" }],
    ["types/query", {}],
    ["types/update", { key: "ada", version: 1, value: ada }],
    ["types/remove", { key: "ada", version: 1 }],
  ] as const)
    await refused(method, "PermissionDenied", { type, ...params }, QUIET);
});

test("an agent that no person has accepted yet", async () => {
  const lares = JSON.parse(await readFile(bench.path("lares.yaml"), "utf8")) as { extensions: object[] };
  await bench.writeExtension(guest(NEWCOMER, {}));
  lares.extensions.push({ path: `../extensions/${NEWCOMER}`, grants: { locations: ["."] } });
  await bench.writeWhole("lares.yaml", JSON.stringify(lares));
  await inState(client, NEWCOMER, "Error");
  await ask("agents/list");
});

test("values of an older version are migrated when the guest is started", async () => {
  const { digest } = (await bench.status(client)).trust;
  await hostCall(client, INDEXER, "types/create", {
    type: `${INDEXER}/Person`,
    value: { id: "ada", name: "Ada" },
  });
  await bench.writeExtension(guest(INDEXER, indexer(2)));
  await bench.accept(client, digest);
  await until("the agent to have the new version", async () => {
    const { result } = await hostCall(client, GUEST, "types/get", { type: `${INDEXER}/Person`, key: "ada" });
    return (result as { value?: { born?: number } } | undefined)?.value?.born === 1815;
  });
  await sent("initialize", functions, INDEXER);
  await sent("migrate", { values: [{ id: "ada", name: "Ada", born: 1815 }] }, INDEXER);
});

test("a slow call of a tool is cancelled; blobs stay while it is open", async () => {
  const id = "a call to cancel";
  const params = { agent: GUEST, name: "wait", arguments: {} };
  const answer = client.answerTo(id, "lares/tools/call", () =>
    client.write(frame({ jsonrpc: "2.0", id, method: "lares/tools/call", params })),
  );
  const call = await until("the guest to be called", async () => {
    const line = await heard(client, GUEST, "tool");
    return line.params["name"] === "wait" && JSON.stringify(line.params["arguments"]) === "{}" && line;
  });
  const progress = { fraction: 0.5, message: "half of the shelf" };
  await ask("tools/progress", { call_id: call.params["call_id"], ...progress });
  await refused("tools/progress", "NotFound", { call_id: nowhere, ...progress });
  const { blob } = await ask<{ blob: string }>("blobs/write", { base64: "TGFyZXM=" });
  await ask("blobs/read", { blob, length: 262_144 });
  await refused("blobs/read", "InvalidParams", { blob, offset: 6, length: 1 });
  await refused("blobs/read", "NotFound", { blob: nowhere, length: 1 });
  await refused("blobs/write", "NotFound", { blob: nowhere, base64: "" });
  await refused("blobs/write", "InvalidParams", { base64: "%" });
  const url = `${origin}/forecast`;
  await ask("http/fetch", { url, method: "PUT", body_blob: blob });
  await ask("http/fetch", { url: `${origin}/portrait` });
  await ask("vdfs/thumbnail", { path: "notes/lake.png", max_px: 600, format: "rgba8" });
  await refused("http/fetch", "NotFound", { url, method: "PUT", body_blob: nowhere });
  await refused("http/fetch", "LimitExceeded", { url, max_bytes: 67_108_864 });
  client.notify("$/cancelRequest", { id });
  await sent("cancelTool", null);
  expect(await answer).toMatchObject({ error: { code: -32800 } });
  await say(client, GUEST, { id: call.id, result: { status: "success" } });
});

test("a change of permissions, a ping, and the end", async () => {
  await bench.writeLares({ grants: { [GUEST]: { locations: ["notes"], deny: ["shared_data"] } } });
  await sent("permissionChange", null);
  // Nothing answers it, so that the guest seems to hang.
  const held = client.raw("lares/tools/call", { agent: QUIET, name: "wait", arguments: {} });
  await sent("ping", { pending_timers: 0 }, QUIET);
  expect((await held)["error"]).toMatchObject({ data: { code: "AgentError" } });
  const scan = { name: "scan", input: { shelf: "B" } };
  const { result } = await hostCall(client, GUEST, "jobs/dispatch", scan);
  await until(
    "the job to begin",
    async () => (await heard(client, GUEST, "job")).params["id"] === (result as { id: string }).id,
  );
  await hostCall(client, GUEST, "jobs/checkpoint", { data: { next: 12 } });
  await client.request("lares/agents/control", { id: GUEST, command: "disable" });
  await inState(client, GUEST, "Unloaded");
  await sent("shutdown", null);
  await client.request("lares/agents/control", { id: GUEST, command: "enable" });
  await until("the job to continue", async () => "checkpoint" in (await heard(client, GUEST, "job")).params);
  await sent("job", null);
});

test("the recorded examples are those in schemas/", async () => {
  await expect(recorder.text()).toMatchFileSnapshot(fileURLToPath(examplesFile("guest-abi")));
});
