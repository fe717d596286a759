import { afterAll, beforeAll, expect, test } from "vitest";
import type { Action } from "../../kernel/src/base/vocabulary/action.ts";
import type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import { writingMind } from "../support/mind.ts";
import type { Client } from "../support/client.ts";
import { until } from "../support/until.ts";
import { scriptedModel } from "../support/scripted.ts";

const MIND = "test.decisions";
const SCRIPT = `
context_tokens: 8000
turns:
  - { process: channel, when: circles, call: [{ tool: files/read, arguments: { path: a.md } }], repeat: true }
  - { process: channel, when: "the text of a", call: [{ tool: files/read, arguments: { path: a.md } }] }
  - { process: channel, when: "the text of a", call: [{ tool: files/read, arguments: { path: a.md } }] }
  - { process: channel, when: "Allowed, by the person", say: "It still says the same.", repeat: true }
  - process: channel
    when: propose five
    call:
      - { tool: files/write, arguments: { path: 1.md, content: "new", reason: "asked" } }
      - { tool: files/write, arguments: { path: 2.md, content: "new", reason: "asked" } }
      - { tool: files/write, arguments: { path: 3.md, content: "new", reason: "asked" } }
      - { tool: files/write, arguments: { path: 4.md, content: "new", reason: "asked" } }
      - { tool: files/write, arguments: { path: 5.md, content: "new", reason: "asked" } }
    repeat: true
  - { process: channel, when: Waits for the person, say: "I proposed five.", repeat: true }
  - { process: channel, when: "Committed|Rejected", say: "Good.", repeat: true }
  - { process: channel, when: remember, call: [{ tool: block_edit, arguments: { name: project, replace: "Photos of 2026" } }] }
  - { process: channel, when: holds in this conversation, say: "I keep it here.", repeat: true }
  - { process: channel, when: go on, say: "I go on.", repeat: true }
`;

let bench: Bench;
let client: Client;

beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.md": "the text of a\n" },
    extensions: [
      writingMind({
        id: MIND,
        mind: { blocks: [{ name: "project", description: "About this folder", limit: 400, scope: "mind" }] },
      }),
    ],
  });
  client = await bench.open({ environment: await scriptedModel(bench, SCRIPT) });
});
afterAll(() => bench[Symbol.asyncDispose]());

const open = (): Promise<Conversation> => client.request("lares/conversations/open", { agent: MIND });
const send = (id: string, text: string): Promise<{ entry: string }> =>
  client.request("lares/conversations/send", { id, text });
const entriesOf = async (id: string): Promise<Entry[]> =>
  (await client.request<{ items: Entry[] }>("lares/conversations/entries", { id, limit: 1000 })).items;
const pendingAsks = (): Promise<Ask[]> => client.request("lares/asks/list", { state: "Pending" });
const said = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) =>
    entry.kind === "message" && entry.role === "assistant" && entry.partial !== true
      ? [entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("")]
      : [],
  );
const decisionsIn = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) =>
    entry.kind === "action" || entry.kind === "ask" ? [`${entry.kind} ${entry.state} ${entry.origin}`] : [],
  );
const asked = (id: string): Promise<Ask> =>
  until("the question in the log", async () => {
    const [ask] = (await pendingAsks()).filter(({ conversation }) => conversation === id);
    const isLogged = (await entriesOf(id)).some((entry) => entry.kind === "ask" && entry.ref === ask?.id);
    return isLogged && ask;
  });

test("a question asked before kill -9 is the same one afterwards, and its answer continues the call, once", async () => {
  const { id } = await open();
  await send(id, "circles");
  const ask = await asked(id);
  expect(ask).toMatchObject({ kind: "repeat", process: "channel" });
  const { processes } = await client.request<Conversation>("lares/conversations/get", { id });
  expect(processes).toMatchObject([{ state: "WaitingForApproval" }]);
  const { pid } = await bench.status(client);
  await bench.kill(pid);
  const again = await until("the question", async () => {
    const [found] = await pendingAsks().catch(() => []);
    return found;
  });
  expect(again).toEqual(ask);
  await client.request("lares/asks/answer", { id: ask.id, digest: ask.digest, allow: true });
  const entries = await until("the answer", async () => {
    const found = await entriesOf(id);
    return said(found).at(-1) === "It still says the same." ? found : null;
  });
  expect(decisionsIn(entries)).toEqual(["ask Pending workspace", "ask Allowed person"]);
  expect(entries.filter(({ kind }) => kind === "tool_result")).toHaveLength(3);
  const all = await client.request<Ask[]>("lares/asks/list", {});
  expect(all.filter(({ conversation }) => conversation === id)).toHaveLength(1);
});

const pathsOf = async (id: string): Promise<string[]> =>
  (await client.request<Action[]>("lares/actions/list", { state: "PendingApproval" }))
    .filter(({ on_behalf_of: by }) =>
      by?.some((actor) => actor.kind === "process" && actor.conversation === id),
    )
    .flatMap(({ effects }) => effects.map(({ path }) => path))
    .toSorted();
const shown = (id: string, paths: readonly string[]): Promise<unknown> =>
  until(`${paths.join(", ")} to be shown`, async () => {
    const now = await pathsOf(id).catch(() => []);
    return now.join() === paths.join();
  });
const decide = async (id: string, path: string, how: "approve" | "reject"): Promise<void> => {
  const all = await client.request<Action[]>("lares/actions/list", { state: "PendingApproval" });
  const action = all.find(
    ({ effects, on_behalf_of: by }) =>
      effects[0]?.path === path && by?.some((actor) => actor.kind === "process" && actor.conversation === id),
  );
  await client.request(
    `lares/actions/${how}`,
    how === "approve" ? { id: action?.id, digest: action?.digest } : { id: action?.id },
  );
};

test("of five proposals three are shown, a fourth once one is answered, the same after kill -9; a stop rejects all", async () => {
  const { id } = await open();
  await send(id, "propose five");
  await until("the answer", async () => said(await entriesOf(id)).includes("I proposed five."));
  await shown(id, ["1.md", "2.md", "3.md"]);
  await decide(id, "2.md", "approve");
  await shown(id, ["1.md", "3.md", "4.md"]);
  expect(
    client
      .notifications<Action>("lares/actions/changed")
      .some(({ effects, state }) => effects[0]?.path === "5.md" && state === "PendingApproval"),
  ).toBe(false);
  const { pid } = await bench.status(client);
  await bench.kill(pid);
  await shown(id, ["1.md", "3.md", "4.md"]);
  await until("the next kernel", () => client.request("lares/conversations/get", { id }).catch(() => null));
  await client.request("lares/conversations/cancel", { id });
  await shown(id, []);
  const entries = await entriesOf(id);
  const ends = entries.flatMap((entry) =>
    entry.kind === "action" && entry.state !== "PendingApproval" ? [entry.state] : [],
  );
  expect(ends.toSorted()).toEqual(["Committed", "Rejected", "Rejected", "Rejected", "Rejected"]);
});

test("three rejections in a row pause a conversation, with a notice, until the person writes", async () => {
  const { id } = await open();
  await send(id, "propose five");
  await until("the answer", async () => said(await entriesOf(id)).includes("I proposed five."));
  for (const path of ["1.md", "3.md", "4.md"]) {
    await until(`${path} to be shown`, async () => (await pathsOf(id)).includes(path));
    await decide(id, path, "reject");
  }
  const notice = await until("the notice", async () =>
    (await entriesOf(id)).find(({ kind }) => kind === "notice"),
  );
  expect(notice).toMatchObject({ text: expect.stringContaining("Send a message to continue") });
  await send(id, "go on");
  await until("the answer", async () => said(await entriesOf(id)).at(-1) === "I go on.");
  await client.request("lares/conversations/cancel", { id });
});

test("a text that untrusted text led to stays in its conversation until the person accepts it for the mind", async () => {
  const { id } = await open();
  await send(id, "remember");
  const ask = await asked(id);
  expect(ask).toMatchObject({
    kind: "block",
    sources: ["scripted"],
    scopes: ["once"],
    facts: { block: "project", before: "", text: "Photos of 2026" },
  });
  const blocksOf = async (conversation: string): Promise<string> => {
    const { sections } = await client.request<{ sections: { name: string; text: string }[] }>(
      "lares/conversations/context",
      { id: conversation },
    );
    return sections.find(({ name }) => name === "blocks")?.text ?? "";
  };
  expect(await blocksOf((await open()).id)).not.toContain("Photos of 2026");
  await expect(
    client.request("lares/asks/answer", {
      id: ask.id,
      digest: ask.digest,
      allow: true,
      remember: "always",
    }),
  ).rejects.toMatchObject({ data: { code: "InvalidParams" } });
  await client.request("lares/asks/answer", { id: ask.id, digest: ask.digest, allow: true });
  await until("the end in the log", async () =>
    decisionsIn(await entriesOf(id)).includes("ask Allowed person"),
  );
  expect(await blocksOf((await open()).id)).toContain("Photos of 2026");
});
