import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ALL_PERMISSIONS, event, events, host, probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

const SPEAKER = "test.speaker";
const HEARER = "test.hearer";
const OLD = "test.old"; // declares nothing
const FOUND = `${SPEAKER}/Found`;

const schema = {
  type: "object",
  required: ["person"],
  additionalProperties: false,
  properties: {
    person: { type: "string", maxLength: 20 },
    count: { type: "integer" },
    photos: { type: "array", items: { type: "object", properties: { path: { type: "string" } } } },
  },
};

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      probe({
        id: SPEAKER,
        permissions: { ...ALL_PERMISSIONS, emit_events: ["Found", "Listed", "Bad"] },
        manifest: {
          events: [
            { name: "Found", version: 3, schema },
            { name: "Silent", schema: { type: "object" } },
            { name: "Bad", schema: { type: "object", properties: { a: { $ref: "#/nowhere" } } } },
          ],
        },
      }),
      probe({ id: OLD, permissions: { emit_events: ["Said"] } }),
      probe({
        id: HEARER,
        permissions: { hear_events: [FOUND, `${OLD}/*`] },
        hooks: [
          { on: FOUND, handler: "first", filter: "count > 9 && version == 3" },
          { on: FOUND, handler: "second" },
          { on: `${OLD}/Said`, handler: "third" },
        ],
      }),
    ],
  });
  client = await bench.open();
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await bench[Symbol.asyncDispose]();
});
const emit = (id: string, name: string, data: unknown) => host(client, id, "events.emit", name, data);

test("an event that fits its declaration carries the version, and a filter compares its numbers as numbers", async () => {
  // As texts, "10" would be less than "9".
  expect((await emit(SPEAKER, "Found", { person: "Ada", count: 10 })).error).toBeUndefined();
  expect((await emit(SPEAKER, "Found", { person: "Grace", count: 8 })).error).toBeUndefined();
  await event(client, HEARER, "Grace's", ({ via, person }) => via === "second" && person === "Grace");
  const heard = (await events(client, HEARER)).filter(({ name }) => name === FOUND);
  expect(heard.map(({ via, person, version }) => [via, person, version])).toEqual([
    ["first", "Ada", 3],
    ["second", "Ada", 3],
    ["second", "Grace", 3],
  ]);
});

test.each<[string, unknown, string]>([
  ["a field that is missing", {}, "params.data"],
  ["no data", null, "params.data"],
  ["a list in place of fields", [], "params.data"],
  ["a value of another type", { person: 3 }, "params.data.person"],
  ["a text that is too long", { person: "x".repeat(21) }, "params.data.person"],
  ["a field that is not declared", { person: "Ada", shoe: 38 }, "params.data"],
  [
    "a fault deep inside",
    { person: "Ada", photos: [{ path: "a" }, { path: 4 }] },
    "params.data.photos[1].path",
  ],
  ["a version of its own", { person: "Ada", version: 9 }, "params.data"],
])("%s is InvalidParams with the path of the fault, and nobody receives it", async (_what, data, path) => {
  const before = (await events(client, HEARER)).length;
  expect((await emit(SPEAKER, "Found", data)).error).toMatchObject({ code: "InvalidParams", data: { path } });
  const marker = `marker ${String(before)}`;
  await emit(OLD, "Said", { marker });
  await event(client, HEARER, "the marker", (heard) => heard["marker"] === marker);
  expect((await events(client, HEARER)).length).toBe(before + 1);
});

test("an event that is not declared is refused, whatever the permission lists", async () => {
  const { error } = await emit(SPEAKER, "Listed", {});
  expect(error).toMatchObject({ code: "PermissionDenied", data: { permission: "emit_events" } });
  expect(error?.message).toContain("does not declare");
});

test("an event that is declared and not permitted is refused", async () => {
  expect((await emit(SPEAKER, "Silent", {})).error?.code).toBe("PermissionDenied");
});

test("a schema that cannot be used makes each emission fail, and says so", async () => {
  const { error } = await emit(SPEAKER, "Bad", {});
  expect(error?.code).toBe("InvalidParams");
  expect(error?.message).toContain("not a valid JSON Schema");
});

test("an extension that declares no events emits what its permission lists, without a version", async () => {
  expect((await emit(OLD, "Said", { any: ["thing"] })).error).toBeUndefined();
  const heard = await event(client, HEARER, "what the old one said", (one) => one["any"] !== undefined);
  expect(heard).not.toHaveProperty("version");
});

test("a misspelt field is a diagnostic where the publisher is installed, and goes when the publisher declares it", async () => {
  const manifest = join(bench.extensionFolder(HEARER), "extension.yaml");
  const uri = pathToFileURL(manifest).href;
  const text = (await readFile(manifest, "utf8")).replace("count > 9", "cuont > 9");
  client.notify("textDocument/didOpen", {
    textDocument: { uri, languageId: "yaml", version: 1, text },
  });
  type Published = { uri: string; diagnostics: { code: string; message: string }[] };
  const faults = (isWanted: (codes: string[]) => boolean): Promise<Published> =>
    until("these diagnostics", () => {
      const latest = client
        .notifications<Published>("textDocument/publishDiagnostics")
        .findLast((published) => published.uri === uri);
      return latest !== undefined && isWanted(latest.diagnostics.map(({ code }) => code)) && latest;
    });
  const { diagnostics } = await faults((codes) => codes.includes("event-mismatch"));
  expect(diagnostics.find(({ code }) => code === "event-mismatch")?.message).toContain(
    'has no field "cuont"; did you mean "count"?',
  );
  const publisher = join(bench.extensionFolder(SPEAKER), "extension.yaml");
  const declared = await readFile(publisher, "utf8");
  await writeFile(publisher, declared.replace('"count"', '"cuont"'));
  await faults((codes) => !codes.includes("event-mismatch"));
});
