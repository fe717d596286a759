import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { Conversations } from "../conversations/conversations.ts";
import type { MessageQuestion } from "../conversations/message-search.ts";
import { conversationMigrations } from "../conversations/migrations.ts";
import type { NewEntry } from "../conversations/records.ts";
import { SourceRows } from "../conversations/source-rows.ts";
import { MessageVectors } from "../conversations/vectors/message-vectors.ts";
import { vectorFile } from "../conversations/vectors/vector-file.ts";
import { DiskTimer } from "../journal/disk-timer.ts";
import type { EmbedderSpec } from "../memory-contract/store-settings.ts";
import { systemClock } from "../platform/clock.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import type { Authority, Permissions } from "../base/vocabulary/permissions.ts";
import type { PostOutside } from "../memory-contract/store-port.ts";
import { MessageEmbedders } from "./message-embedders.ts";

const agent = "test.steward";
const embedders = (
  spec: EmbedderSpec | (() => EmbedderSpec),
  authorityOf: () => Authority | null = () => null,
  post: PostOutside = () => Promise.reject(new Error("Nothing is sent.")),
): MessageEmbedders => {
  const made = new MessageEmbedders({
    specOf: () => (typeof spec === "function" ? spec() : spec),
    authorityOf,
    post: () => post,
    embedHere: async () => ({ failure: "There is no model.", isRetryable: false }),
    clock: systemClock,
  });
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
};

const elsewhere = { kind: "openai-compatible", url: "https://example.com/v1", model: "m" } as const;

/** Returns the authority of an agent that has these permissions. */
const granted = (models: Permissions["use_models"], more: Partial<Authority> = {}): Authority => ({
  extension: agent,
  requested: models === undefined ? {} : { use_models: models },
  effective: models === undefined ? {} : { use_models: models },
  denied: [],
  locations: [],
  protectedPaths: [],
  forbiddenPaths: [],
  memory: true,
  namespaces: {},
  ...more,
});
const { signal } = new AbortController();
const embedding = [{ category: "embedding" }] as const;

/** A service that notes what it gets, and answers with vectors of two numbers. */
function service() {
  const got: string[] = [];
  const post: PostOutside = async (_request, body) => {
    const { input } = JSON.parse(new TextDecoder().decode(body)) as { readonly input: readonly string[] };
    got.push(...input);
    const data = input.map((_text, index) => ({ index, embedding: [1, index] }));
    return { status: 200, headers: [], body: new TextEncoder().encode(JSON.stringify({ data })) };
  };
  return { got, post };
}

test.each<[string, Authority | null]>([
  ["may use no models", granted(undefined)],
  ["may use models, but none that embeds", granted([{ category: "chat" }])],
  ["may embed on this machine only", granted([{ category: "embedding", local_only: true }])],
  ["was denied it", granted(undefined, { denied: ["use_models"] })],
  ["is disabled", null],
])("nothing that is said to an agent that %s is sent to a service", async (_why, authority) => {
  const { got, post } = service();
  expect(await embedders(elsewhere, () => authority, post).of(agent)).toBeNull();
  expect(got).toEqual([]);
});

test("a person who lets an agent turn texts into vectors by a service lets it see the conversations, until they revoke it", async () => {
  const { got, post } = service();
  let authority: Authority | null = granted([...embedding]);
  const made = embedders(elsewhere, () => authority, post);
  const remote = await made.of(agent);
  expect(remote?.knows).toBe("meanings");
  expect(await remote?.items(["a harbour"], signal)).toHaveLength(1);
  const before = [...got];
  expect(made.hasChanged([agent])).toBe(false);
  expect(made.hasChanged([agent])).toBe(false);
  authority = granted([{ category: "embedding", local_only: true }]);
  expect(made.hasChanged([agent, "test.new"])).toBe(true);
  expect(made.hasChanged([agent, "test.new"])).toBe(false);
  // One that is in use asks again before each request.
  await expect(remote?.items(["a secret"], signal)).rejects.toThrow("may not send");
  expect(await made.of(agent)).toBeNull();
  expect(got).toEqual(before);
});

test("a service gets nothing more once the person names another embedder, although one of it is in use", async () => {
  const { got, post } = service();
  let spec: EmbedderSpec = elsewhere;
  const made = embedders(
    () => spec,
    () => granted([...embedding]),
    post,
  );
  const remote = await made.of(agent);
  await remote?.items(["a harbour"], signal);
  const before = [...got];
  spec = { kind: "hash" };
  await expect(remote?.items(["a secret"], signal)).rejects.toThrow("may not send");
  await expect(remote?.query("a secret")).rejects.toThrow("may not send");
  expect(got).toEqual(before);
});

test("texts that are removed meanwhile are not sent", async () => {
  const { got, post } = service();
  const remote = await embedders(elsewhere, () => granted([...embedding]), post).of(agent);
  const before = [...got];
  const removed = new AbortController();
  removed.abort(new Error("They are removed."));
  await expect(remote?.items(["a secret"], removed.signal)).rejects.toThrow("They are removed.");
  expect(got).toEqual(before);
});

test("a service on this machine needs no consent", async () => {
  const { post } = service();
  const here = { kind: "openai-compatible", url: "http://127.0.0.1:11434", model: "m" } as const;
  const remote = await embedders(here, () => null, post).of(agent);
  expect(await remote?.items(["a harbour"], signal)).toHaveLength(1);
});

test("conversations are embedded on this machine without consent", async () => {
  const here = await embedders({ kind: "hash" }).of(agent);
  const [one, blank, two] = (await here?.items(["a harbour", " ", "a harbour"], signal)) ?? [];
  expect(one).toEqual(two);
  expect([one?.length, blank]).toEqual([384, null]);
  await expect(embedders({ kind: "onnx", path: "/none.onnx" }).of(agent)).rejects.toThrow("no model");
});

test("with the default embedder, fused search finds at least what words find, and other spellings", async () => {
  const stateFolder = await temporaryFolder();
  const path = join(stateFolder, "ledger.sqlite");
  await using ledger = await openNearDatabase({ path, migrations: conversationMigrations, log: silentLog });
  const own = embedders({ kind: "hash" });
  const vectors = new MessageVectors({
    ...vectorFile(stateFolder, silentLog, openNearDatabase),
    sources: new SourceRows(ledger),
    embedderOf: (of) => own.of(of),
    maxVectors: () => 10_000,
    clock: systemClock,
    log: silentLog,
  });
  await using all = new Conversations({
    stateFolder,
    database: ledger,
    clock: systemClock,
    log: silentLog,
    disk: new DiskTimer(systemClock),
    maxBytes: () => 64 * 1024 * 1024,
    vectors,
  });
  const texts = [
    "The harbours freeze in January.",
    "Photographs of the wedding are in the cellar.",
    "The subscription was cancelled on Monday.",
    "Grandmother's recipe needs buttermilk.",
    "The translators were paid twice.",
    "An electrician repairs the dishwasher.",
    ...Array.from({ length: 80 }, (_, n) => `The letter ${n} of the archive is on the shelf ${n % 7}.`),
  ];
  using opened = await all.create(agent);
  await opened.log.append(
    texts.map((text, at): NewEntry => ({
      id: `m${at}`,
      process: "c",
      created: "2026-11-26T08:00:00.000Z",
      turn: "m0",
      origin: "person",
      kind: "message",
      role: "user",
      parts: [{ type: "text", text }],
    })),
  );
  await vectors.caughtUp();
  const questions: readonly (readonly [question: string, answer: number])[] = [
    ["when do the harbours freeze", 0],
    ["buttermilk recipe", 3],
    ["who repairs the dishwasher", 5],
    ["the letter 42", 6 + 42],
    ["freezing harbor", 0],
    ["wedding photos", 1],
    ["the subscriptions", 2],
    ["translator payment", 4],
    ["electricians", 5],
    // Stems do not help with these.
    ["electrican", 5],
    ["photograhps", 1],
    ["subscribtion", 2],
  ];
  const recall = async (mode: MessageQuestion["mode"]): Promise<number> => {
    const found = await Promise.all(
      questions.map(async ([text, answer]) =>
        (await all.answering([opened.log.id], { agent, text, mode, limit: 3 })).some(
          ({ entry }) => entry.id === `m${answer}`,
        ),
      ),
    );
    return found.filter(Boolean).length / questions.length;
  };
  const [worded, fused] = [await recall("text"), await recall("auto")];
  expect(fused / worded).toBeGreaterThan(1);
});
