import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rejectReasons } from "../../kernel/src/server/language/approval-actions.ts";
import { call, probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { Editor, EDITOR_CAPABILITIES } from "../support/editor.ts";
import type { Message } from "../support/frames.ts";
import type { Action, TraceEntry } from "../support/types.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
const DOCUMENT = "lares.yaml";

let bench: Bench;
let one: Editor;
let other: Editor;
beforeAll(async () => {
  bench = await Bench.create({
    files: { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "d.txt": "d\n" },
    extensions: [probe({ id: PROBE })],
  });
  const options = { capabilities: EDITOR_CAPABILITIES, approvals: "showMessageRequest" } as const;
  [one, other] = (await Promise.all(
    [bench.open(options), bench.open(options)].map(async (client) => new Editor(bench, await client)),
  )) as [Editor, Editor];
  // Buttons are pressed only by tests.
  for (const { client } of [one, other])
    client.answer = ({ method }) => (method === "window/showMessageRequest" ? undefined : null);
});
afterAll(() => bench[Symbol.asyncDispose]());

function propose(title: string, path: string, content = "changed\n"): Promise<Action> {
  const effects = [{ kind: "file.write", path, content }];
  return call<Action>(one.client, PROBE, "actions.propose", effects, { title, reason: "" });
}

const text = (path: string): Promise<string> => readFile(bench.path(path), "utf8");

const questions = ({ client }: Editor): Message[] =>
  client.received.filter(({ method }) => method === "window/showMessageRequest");

function question(editor: Editor, title: string): Promise<Message> {
  return until(`the question about ${title}`, () =>
    questions(editor).find(({ params }) => JSON.stringify(params).includes(title)),
  );
}

const isTakenBack = ({ client }: Editor, { id }: Message): boolean =>
  client.notifications<{ id: unknown }>("$/cancelRequest").some((cancelled) => cancelled.id === id);

const refreshes = ({ client }: Editor): number => client.notifications("workspace/codeLens/refresh").length;

test("both see the same; an action approved in one disappears in the other, with its question", async () => {
  await propose("Alpha", "a.txt");
  await propose("Beta", "b.txt");
  expect(await other.codeActions("a.txt")).toEqual(await one.codeActions("a.txt"));
  expect(await other.lenses("a.txt")).toEqual(await one.lenses("a.txt"));
  expect(await other.codeActionTitles("a.txt")).toContainEqual(
    expect.stringMatching(/^Lares: approve: .* says: "Alpha"$/),
  );
  const asked = await question(other, "Alpha");
  const before = refreshes(other);

  await one.choose(`a.txt`, "Lares: approve");

  await until("the question to be taken back", () => isTakenBack(other, asked));
  await until("the lenses to be asked for again", () => refreshes(other) > before);
  expect(await other.lenses("a.txt")).toEqual([]);
  expect(await other.codeActionTitles("a.txt")).toEqual([
    expect.stringMatching(/^Lares: undo: .* says: "Alpha"$/),
  ]);

  // The question stays open until the editor has answered it, as in editors that cannot close a dialog.
  expect(questions(other)).toHaveLength(1);
  other.client.reply(asked, { result: { title: "Reject" } });
  await other.message(/'Alpha' was already answered elsewhere/);
  expect(await text("a.txt")).toBe("changed\n");
  const next = await question(other, "Beta");

  // In the first editor, whose own question was withdrawn too, the next one follows.
  const own = await question(one, "Alpha");
  await until("its own question to be taken back", () => isTakenBack(one, own));
  one.client.reply(own, { error: { code: -32800, message: "cancelled" } });
  one.client.reply(await question(one, "Beta"), { result: { title: "Approve" } });
  await other.client.notification<Action>(
    "lares/actions/changed",
    ({ title, state }) => title === "Beta" && state === "Committed",
  );
  expect(await text("b.txt")).toBe("changed\n");
  await until("the other's question to be taken back", () => isTakenBack(other, next));
  other.client.reply(next, { result: null });
  expect(await other.codeActionTitles("b.txt")).toEqual([
    expect.stringMatching(/^Lares: undo: .* says: "Beta"$/),
  ]);
});

test("an undo in one is shown in the other", async () => {
  expect(await other.choose<Action>("a.txt", "Lares: undo")).toMatchObject({ state: "Undone" });
  expect(await text("a.txt")).toBe("a\n");
  expect(await one.codeActionTitles("a.txt")).toEqual([]);
});

test("unsaved changes in one are shown in the other", async () => {
  await one.open("c.txt");
  await propose("Gamma", "c.txt");
  const waits = "Lares: 'Gamma' waits: save the file first · Reject · Show changes";
  const before = refreshes(other);
  one.type("c.txt", "unsaved\n");
  await until("the other's lenses to be asked for again", () => refreshes(other) > before);
  expect(await other.lensLines("c.txt")).toEqual([[0, waits]]);
  expect(await other.codeActions("c.txt")).toMatchObject([
    { disabled: {} },
    { title: expect.stringMatching("reject: ") },
    ...rejectReasons.map((reason) => ({ title: expect.stringContaining(`reject, "${reason}"`) })),
    { title: expect.stringMatching("show changes") },
  ]);
});

test("the kernel is killed: both continue with their open and unsaved documents and subscriptions", async () => {
  await other.open(DOCUMENT);
  other.type(DOCUMENT, "version: 1\nnonsense: true\n");
  const faults = (): number =>
    other.client
      .notifications<{ diagnostics: unknown[] }>("textDocument/publishDiagnostics")
      .filter(({ diagnostics }) => diagnostics.length > 0).length;
  await until("diagnostics", () => faults() > 0);
  const { subscription } = await other.client.request<{ subscription: string }>("lares/traces/follow", {});
  const told = faults();
  const { pid } = await bench.status(one.client);

  await bench.kill(pid);
  await Promise.all([bench.ready(one.client), bench.ready(other.client)]);

  await until("diagnostics of the next kernel", () => faults() > told);
  expect(await other.lensLines("c.txt")).toMatchObject([[0, expect.stringMatching("save the file first")]]);
  await traceReaches(other.client, subscription, "after the kill");
});

test("the first closes: its unsaved changes are gone, and the second continues", async () => {
  const { subscription } = await other.client.request<{ subscription: string }>("lares/traces/follow", {});
  const { pid } = await bench.status(other.client);
  const before = refreshes(other);
  await one.client.shutdown();
  await until("the lenses to be asked for again", () => refreshes(other) > before);
  expect(await other.lensLines("c.txt")).toEqual([
    [0, `Lares: Overwrites "c.txt" (2 B → 8 B). ${PROBE} says: "Gamma" · Approve · Reject · Show changes`],
  ]);
  expect((await bench.status(other.client)).pid).toBe(pid);
  await traceReaches(other.client, subscription, "after the first has gone");
  expect(await other.choose<Action>("c.txt", "Lares: approve")).toMatchObject({ state: "Committed" });
  expect(await text("c.txt")).toBe("changed\n");
});

async function traceReaches(client: Client, subscription: string, message: string): Promise<void> {
  await call(client, PROBE, "trace.info", message);
  const { entry } = await client.notification<{ subscription: string; entry: TraceEntry }>(
    "lares/traces/entry",
    (notice) => notice.subscription === subscription && notice.entry.message === message,
  );
  expect(entry.agent).toBe(PROBE);
}
