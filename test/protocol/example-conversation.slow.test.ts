/** Walks through `examples/conversation/` as its README says. */
import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";

const example = fileURLToPath(new URL("../../examples/conversation", import.meta.url));
const STEWARD = "dev.lares.steward";

let bench: Bench;
let client: Client;
let id: string;
const questions = new Set<string>();

beforeAll(async () => {
  bench = await Bench.create({});
  await cp(example, bench.root, { recursive: true });
  client = await bench.open({ environment: { LARES_REHEARSE: join(bench.root, "rehearsal.yaml") } });
  ({ id } = await client.request<Conversation>("lares/conversations/open", { agent: STEWARD }));
});
afterAll(() => bench[Symbol.asyncDispose]());

const get = (): Promise<Conversation> => client.request("lares/conversations/get", { id });
const entries = async (): Promise<Entry[]> =>
  (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 1000 })).items;
const textsOf = (all: readonly Entry[]): string[] =>
  all.flatMap((entry) =>
    entry.kind === "message" && entry.role === "assistant"
      ? [entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("")]
      : [],
  );
/** Sends a message and waits for an answer that contains a text. */
const say = async (text: string, answer: string): Promise<void> => {
  await client.request("lares/conversations/send", { id, text });
  await until(`the answer to "${text}"`, async () =>
    textsOf(await entries()).some((said) => said.includes(answer)),
  );
};
const waiting = async (): Promise<Action[]> => {
  const actions = await client.request<Action[]>("lares/actions/list", { state: "PendingApproval" });
  for (const action of actions) questions.add(action.id);
  return actions;
};

/** What the channel's model would see. */
async function sections() {
  type Seen = { sections: { name: string; text: string }[] };
  return (await client.request<Seen>("lares/conversations/context", { id })).sections;
}

test("it reads the notes", () => say("What is in my notes?", "the hotel is still open"));

test("a branch thinks, and the channel tells its conclusion", () =>
  say("What matters most before I leave?", "The hotel comes first, because your budget"));

test("a worker counts beside the conversation", () =>
  say("Have somebody count my open tasks", "Two tasks are open"));

test("a change is asked once, made when it is approved, and undone", async () => {
  await say("Add the hotel to my packing list", "The change waits for you");
  await until("the change", async () => (await waiting()).length > 0);
  const [action] = await waiting();
  await client.request("lares/actions/approve", { id: action?.id, digest: action?.digest });
  await until("the end of the change", async () => textsOf(await entries()).includes("It is in the list."));
  const path = join(bench.root, "notes", "packing.md");
  expect(await readFile(path, "utf8")).toContain("book the hotel");
  await client.request("lares/actions/undo", { id: action?.id });
  expect(await readFile(path, "utf8")).not.toContain("book the hotel");
  await waiting();
  expect(questions.size).toBe(1);
  const suffix = (await sections()).find(({ name }) => name === "suffix");
  expect(suffix?.text).toContain("undone, so it no longer stands");
});

test("what was said is summarised, and the model would see the summary", async () => {
  await client.request("lares/conversations/compact", { id });
  await until("the summary", async () => (await entries()).some(({ kind }) => kind === "summary"));
  await until("the context to be smaller", async () => {
    return (await sections()).some(
      ({ name, text }) => name === "summaries" && text.includes("prepare the trip"),
    );
  });
  const { processes } = await get();
  expect(new Set(processes.map(({ kind }) => kind))).toEqual(
    new Set(["channel", "branch", "worker", "compaction"]),
  );
});
