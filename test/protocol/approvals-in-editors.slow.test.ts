import { mkdir, readFile, rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { propose as proposeTitled, type EffectInput } from "../support/actions.ts";
import { call, probe } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import { METHOD_NOT_FOUND } from "../support/client.ts";
import { Editor, EDITOR_CAPABILITIES } from "../support/editor.ts";
import { expectHarmless, HOSTILE } from "../support/hostile-text.ts";
import { CODES, type Action } from "../support/types.ts";
import { rejectReasons } from "../../kernel/src/server/language/approval-actions.ts";
import { until } from "../support/until.ts";

const PROBE = "test.probe";
/** A second agent: a newer proposal of the same agent would supersede the older one. */
const SECOND = "test.second";
const lines = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index}`);
const textOf = (each: readonly string[]): string => each.map((line) => `${line}\n`).join("");
const thirty = lines(30);

let bench: Bench;
let editor: Editor;
beforeAll(async () => {
  bench = await Bench.create({ extensions: [probe({ id: PROBE }), probe({ id: SECOND })] });
  editor = new Editor(bench, await bench.open({ capabilities: EDITOR_CAPABILITIES }));
});
afterAll(() => bench[Symbol.asyncDispose]());

const text = (path: string): Promise<string> => readFile(bench.path(path), "utf8");

/** The title of an overwritten file in lenses and code actions. */
function said(path: string, title: string, bytes = 230, agent = PROBE): string {
  return `Overwrites "${path}" (230 B → ${bytes} B). ${agent} says: "${title}"`;
}

/** Creates a file with thirty lines, and a pending action that changes them. */
let files = 0;
async function file(): Promise<string> {
  const path = `file-${++files}.txt`;
  await bench.write(path, textOf(thirty));
  return path;
}

function propose(title: string, ...effects: EffectInput[]): Promise<Action> {
  return proposeBy(PROBE, title, ...effects);
}

function proposeBy(agent: string, title: string, ...effects: EffectInput[]): Promise<Action> {
  return call<Action>(editor.client, agent, "actions.propose", effects, { title, reason: "A reason" });
}

/** Resolves once the kernel has reported that the action is stale. */
async function untilStale({ id }: Action): Promise<void> {
  await editor.client.notification<Action>(
    "lares/actions/changed",
    (action) => action.id === id && action.state === "Stale",
  );
}

const write = (path: string, changed: readonly string[]): EffectInput => ({
  kind: "file.write",
  path,
  content: textOf(changed),
});

describe("code actions of an affected file", () => {
  test("approve, then undo: both change the file, report it, and leave nothing to choose", async () => {
    const path = await file();
    const other = await file();
    await propose("Shout", write(path, thirty.with(3, "LINE 3")));
    const titles = await editor.codeActionTitles(path);
    const isScope = (title: string): boolean => title.startsWith("Lares: approve, and always from now on: ");
    expect(titles.filter((title) => !isScope(title))).toEqual([
      `Lares: approve: ${said(path, "Shout")}`,
      `Lares: reject: ${said(path, "Shout")}`,
      ...rejectReasons.map((reason) => `Lares: reject, "${reason}": ${said(path, "Shout")}`),
      `Lares: show changes: ${said(path, "Shout")}`,
    ]);
    expect(titles.filter(isScope).length).toBeGreaterThan(0);
    expect(await editor.codeActionTitles(other)).toEqual([]);

    expect(await editor.choose<Action>(path, "Lares: approve")).toMatchObject({ state: "Committed" });
    expect(await text(path)).toBe(textOf(thirty.with(3, "LINE 3")));
    await editor.message(/'Shout' is done/);
    expect(await editor.codeActionTitles(path)).toEqual([
      expect.stringMatching(/^Lares: undo: .* says: "Shout"$/),
    ]);

    expect(await editor.choose<Action>(path, "Lares: undo")).toMatchObject({ state: "Undone" });
    expect(await text(path)).toBe(textOf(thirty));
    await editor.message(/'Shout' is undone/);
    expect(await editor.codeActionTitles(path)).toEqual([]);
  });

  test("a scope is remembered by its code action, and the next such change needs no approval", async () => {
    const path = await file();
    await propose("Once", write(path, thirty.with(1, "once")));
    await editor.choose(path, "Lares: approve, and always from now on");
    const { decisions } = {
      decisions: await editor.client.request<{ items: { id: string }[] }>("lares/decisions/list"),
    };
    expect(decisions.items).toHaveLength(1);
    await until("the next to be made by itself", async () => {
      const action = await propose("Again", write(path, thirty.with(1, "again")));
      return action.state === "Committed";
    });
    await editor.client.request("lares/decisions/revoke", { id: decisions.items[0]?.id });
  });

  test("a rejection by code action takes its reason with it", async () => {
    const path = await file();
    await propose("Why not", write(path, []));
    const chosen = (await editor.codeActions(path)).find(({ title }) => title.includes(rejectReasons[1]));
    expect(chosen?.command).toMatchObject({ arguments: [{ reason: rejectReasons[1] }] });
    expect(await editor.choose<Action>(path, `Lares: reject, "${rejectReasons[1]}"`)).toMatchObject({
      state: "Rejected",
    });
  });

  test("reject changes nothing", async () => {
    const path = await file();
    await propose("No", write(path, []));
    expect(await editor.choose<Action>(path, "Lares: reject")).toMatchObject({ state: "Rejected" });
    await editor.message(/'No' is rejected/);
    expect(await text(path)).toBe(textOf(thirty));
    expect(await editor.codeActionTitles(path)).toEqual([]);
  });

  test("show changes: the diff as a message, and the action with its diffs as the answer", async () => {
    const path = await file();
    await propose("Look", write(path, thirty.with(3, "LINE 3")));
    const shown = await editor.choose<Action>(path, "Lares: show changes");
    expect(shown.effects[0]?.diff).toContain("+LINE 3");
    expect(await editor.message(/LINE 3/)).toContain("-line 3\n+LINE 3");
    await editor.choose(path, "Lares: reject");
  });

  test("all kinds of changes are found at their file: moves, folders that move, deletions, tags", async () => {
    const [moved, deleted, tagged] = [await file(), await file(), await file()];
    await bench.write("album/one.txt", "1\n");
    await until("the index", async () => {
      const page = await editor.client.request<{ items: unknown[] }>("lares/entries/query", { path: tagged });
      return page.items.length === 1;
    });
    await propose("Move", { kind: "file.move", from: moved, to: "moved.txt" });
    await propose("Delete", { kind: "file.delete", path: deleted });
    await propose("Move all", { kind: "file.move", from: "album", to: "albums" });
    expect(await editor.lensLines(moved)).toEqual([
      [0, `Lares: Moves "${moved}" to "moved.txt". ${PROBE} says: "Move" · Approve · Reject · Show changes`],
    ]);
    expect(await editor.lensLines("album/one.txt")).toEqual([
      [
        0,
        `Lares: Moves "album" to "albums" (a folder of 1 files). ${PROBE} says: "Move all" · Approve · Reject · Show changes`,
      ],
    ]);
    expect(await editor.codeActionTitles(deleted)).toContainEqual(
      expect.stringMatching(/^Lares: approve: .* says: "Delete"$/),
    );
    await mkdir(bench.path("album-of-others"));
    await bench.write("album-of-others/two.txt", "2\n");
    expect(await editor.lenses("album-of-others/two.txt")).toEqual([]);
    for (const path of [moved, deleted, "album/one.txt"]) await editor.choose(path, "Lares: approve");
    expect(await text("moved.txt")).toBe(textOf(thirty));
    expect(await text("albums/one.txt")).toBe("1\n");
    await expect(text(deleted)).rejects.toThrow(/ENOENT/);
  });

  test("editors ask for kinds: ours and its parents get all, others none", async () => {
    const path = await file();
    await propose("Kinds", write(path, []));
    expect(await editor.codeActions(path, ["quickfix"])).toEqual([]);
    expect(await editor.codeActions(path, ["lares.actionable"])).toEqual([]);
    for (const only of [["lares.action"], ["quickfix", "lares"], [""]])
      expect((await editor.codeActions(path, only)).length).toBeGreaterThanOrEqual(3);
    await editor.choose(path, "Lares: reject");
  });

  test("an editor without code action literals gets plain commands, and they work", async () => {
    const path = await file();
    await propose("Old editor", write(path, ["new"]));
    const old = new Editor(bench, await bench.open());
    const actions = await old.codeActions(path);
    expect(actions.map(({ command }) => typeof command)).toSatisfy(
      (kinds: string[]) => kinds.length >= 3 && kinds.every((kind) => kind === "string"),
    );
    expect(await old.choose<Action>(path, "Lares: approve")).toMatchObject({ state: "Committed" });
    expect(await text(path)).toBe("new\n");
    await old.client.shutdown();
  });

  test("of an action on several files, a command may approve some", async () => {
    const [wanted, other] = [await file(), await file()];
    const { id, digest } = await propose("Some", write(wanted, ["new"]), write(other, ["new"]));
    expect(await editor.codeActionTitles(other)).toContainEqual(
      expect.stringMatching(/^Lares: approve: .* says: "Some"$/),
    );
    const argument = { id, digest, effects: [0] };
    expect(
      await editor.run<Action>({ title: "", command: "lares.action.approve", arguments: [argument] }),
    ).toMatchObject({ state: "Committed", receipt: { applied: [0] } });
    expect([await text(wanted), await text(other)]).toEqual(["new\n", textOf(thirty)]);
    expect(await editor.codeActionTitles(wanted)).toEqual([
      expect.stringMatching(/^Lares: undo: .* says: "Some"$/),
    ]);
    expect(await editor.codeActionTitles(other)).toEqual([]);
  });

  test("of an action on several files, a file's code action and lens approve its part, and name the other files", async () => {
    const [wanted, other, gone] = [await file(), await file(), await file()];
    const more = await Promise.all([1, 2].map(() => file()));
    await propose("Part", ...[other, wanted, ...more].map((path) => write(path, ["new"])), {
      kind: "file.delete",
      path: gone,
    });
    expect(await editor.codeActionTitles(wanted)).toContainEqual(
      expect.stringMatching(/^Lares: approve: .* And 2 more changes \(deletes 1\)\. /),
    );
    expect(await editor.codeActionTitles(wanted)).toContainEqual(
      `Lares: approve in this file only: Overwrites "${wanted}" (230 B → 4 B). ${PROBE} says: "Part"`,
    );
    expect((await editor.lenses(wanted)).map(({ command }) => command?.title)).toContain(
      "Approve in this file only",
    );
    expect(await editor.choose<Action>(wanted, "Lares: approve in this file only")).toMatchObject({
      state: "Committed",
      receipt: { applied: [1] },
    });
    expect([await text(wanted), await text(other), await text(gone)]).toEqual([
      "new\n",
      textOf(thirty),
      textOf(thirty),
    ]);
  });

  test("are found in each folder of a workspace that has several", async () => {
    await using several = await Bench.create({
      files: { "a.txt": "a\n" },
      extensions: [probe({ id: PROBE })],
    });
    await several.write("../second/a.txt", "second\n");
    const client = several.spawn();
    await client.request("initialize", {
      ...several.initializeParams({ trusted: true, capabilities: EDITOR_CAPABILITIES }),
      workspaceFolders: ["", "../second"].map((path) => ({ uri: several.uri(path), name: path })),
    });
    client.notify("initialized", {});
    await several.ready(client);
    const effects = [write("second/a.txt", ["changed"])];
    await call(client, PROBE, "actions.propose", effects, { title: "Second", reason: "" });
    const there = new Editor(several, client);
    expect(await there.lenses("a.txt")).toEqual([]);
    expect(await there.choose<Action>("../second/a.txt", "Lares: approve")).toMatchObject({
      state: "Committed",
    });
    expect(await readFile(several.path("../second/a.txt"), "utf8")).toBe("changed\n");
  });

  test("files outside the workspace, and documents that are not files, have none", async () => {
    for (const uri of ["file:///etc/hosts", "untitled:x", "file://elsewhere/x", "%", "file:///%00"]) {
      const params = { textDocument: { uri }, range: {}, context: { diagnostics: [] } };
      expect(await editor.client.request("textDocument/codeAction", params)).toEqual([]);
      expect(await editor.client.request("textDocument/codeLens", params)).toEqual([]);
    }
  });
});

describe("lenses", () => {
  test("stand above each hunk, with the title once", async () => {
    const path = await file();
    await propose("Two places", write(path, thirty.with(2, "x").with(25, "y")));
    expect(await editor.lensLines(path)).toEqual([
      [2, `Lares: ${said(path, "Two places", 219)} · Approve · Reject · Show changes`],
      [25, "Approve · Reject · Show changes"],
    ]);
    const approve = (await editor.lenses(path)).findLast(({ command }) => command?.title === "Approve");
    await editor.run(approve!.command!);
    expect(await text(path)).toBe(textOf(thirty.with(2, "x").with(25, "y")));
  });

  test("of several effects on one file refer to the current text", async () => {
    const path = await file();
    const edit = (find: string, replace: string): EffectInput => ({
      kind: "file.edit",
      path,
      edits: [{ find, replace }],
    });
    await propose("Steps", edit("line 2\n", "a\nb\nc\nd\n"), edit("line 25\n", "z\n"));
    expect((await editor.lensLines(path)).map(([line]) => line)).toEqual([2, 25]);
    await editor.choose(path, "Lares: reject");
  });

  test("two actions on one file: the newer one first", async () => {
    const path = await file();
    await propose("First", write(path, thirty.with(5, "first")));
    const second = await proposeBy(SECOND, "Second", write(path, thirty.with(9, "second")));
    expect((await editor.lensLines(path)).map(([line]) => line)).toEqual([9, 5]);
    await editor.choose(path, "Lares: approve", "First");
    await untilStale(second);
    expect(await editor.lensLines(path)).toEqual([]);
  });

  test("of two actions that meet at a line name their agents, there and everywhere else", async () => {
    const path = await file();
    await propose("Old", write(path, thirty.with(5, "old").with(20, "old")));
    await proposeBy(SECOND, "New", write(path, thirty.with(9, "new").with(20, "new")));
    const buttons = "Approve · Reject · Show changes";
    const old = `Lares: ${said(path, "Old", 223)} · ${buttons}`;
    const young = `Lares: ${said(path, "New", 223, SECOND)} · ${buttons}`;
    expect(await editor.lensLines(path)).toEqual([
      [9, young],
      [20, `${young} · ${old}`],
      [5, old],
    ]);
    await editor.choose(path, "Lares: reject", "New");
    expect(await editor.lensLines(path)).toEqual([
      [5, old],
      [20, buttons],
    ]);
    await editor.choose(path, "Lares: reject", "Old");
  });

  test("are refreshed when actions change, in trusted clients that support it", async () => {
    const refreshes = (): number => editor.client.notifications("workspace/codeLens/refresh").length;
    const path = await file();
    const before = refreshes();
    await propose("Refresh", write(path, []));
    await until("a refresh for the proposal", () => refreshes() > before);
    const later = refreshes();
    await editor.choose(path, "Lares: reject");
    await until("a refresh for the answer", () => refreshes() > later);
  });

  test("refreshes are one at a time, however many actions change meanwhile", async () => {
    await using slow = await bench.open({ capabilities: EDITOR_CAPABILITIES });
    slow.answer = () => undefined;
    const paths: string[] = [];
    for (let count = 0; count < 5; count++) {
      const path = await file();
      paths.push(path);
      const action = await propose(`Many ${count}`, write(path, []));
      await slow.notification<Action>("lares/actions/changed", ({ id }) => id === action.id);
    }
    const asked = slow.received.filter(({ method }) => method === "workspace/codeLens/refresh");
    expect(asked).toHaveLength(1);
    slow.answer = () => null;
    slow.reply(asked[0]!, { result: null });
    await until("the one that was due", () => slow.notifications("workspace/codeLens/refresh").length === 2);
    for (const path of paths) await editor.choose(path, "Lares: reject");
  });
});

describe("a change that cannot be approved as it is", () => {
  test("a file with unsaved changes: a lens at the top, a refusal, and both end when the changes are gone", async () => {
    const path = await file();
    await editor.open(path);
    const action = await propose("Under a dirty editor", write(path, thirty.with(4, "x")));
    const refreshed = editor.client.notifications("workspace/codeLens/refresh").length;
    editor.type(path, "unsaved\n");
    expect(await editor.lensLines(path)).toEqual([
      [0, "Lares: 'Under a dirty editor' waits: save the file first · Reject · Show changes"],
    ]);
    await until(
      "a refresh",
      () => editor.client.notifications("workspace/codeLens/refresh").length > refreshed,
    );
    expect(await editor.codeActions(path)).toMatchObject([
      {
        title: expect.stringMatching("approve"),
        disabled: { reason: expect.stringMatching("save the file") },
      },
      { title: expect.stringMatching("reject: ") },
      ...rejectReasons.map((reason) => ({ title: expect.stringContaining(`reject, "${reason}"`) })),
      { title: expect.stringMatching("show changes") },
    ]);
    editor.type(path, textOf(thirty));
    expect((await editor.lensLines(path)).map(([line]) => line)).toEqual([4]);
    editor.type(path, "unsaved again\n");
    const [id, digest] = [action.id, action.digest];
    const refused = { title: "", command: "lares.action.approve", arguments: [{ id, digest }] };
    expect(await editor.run<Action>(refused)).toMatchObject({ state: "Stale" });
    await editor.message(/'Under a dirty editor' is out of date, and nothing was changed/);
    expect(await text(path)).toBe(textOf(thirty));
    editor.close(path);
  });

  test("after the file changed on the disk no approval is offered, and one is refused", async () => {
    const path = await file();
    const action = await propose("Too late", write(path, []));
    await bench.write(path, "somebody else\n");
    await untilStale(action);
    expect(await editor.lenses(path)).toEqual([]);
    expect(await editor.codeActionTitles(path)).not.toContainEqual(expect.stringContaining("approve"));
    const { id, digest } = action;
    const late = { title: "", command: "lares.action.approve", arguments: [{ id, digest }] };
    await expect(editor.run(late)).rejects.toMatchObject({ code: CODES.IllegalTransition });
    expect(await text(path)).toBe("somebody else\n");
  });

  test("a stale action whose change still fits is rebased by its code action, and waits to be approved", async () => {
    const path = await file();
    const action = await propose("Still fits", write(path, thirty.with(3, "LINE 3")));
    await bench.write(path, textOf(thirty.with(20, "somebody else")));
    await untilStale(action);
    expect(await editor.codeActionTitles(path)).toEqual([
      `Lares: rebase, to fit the new text: ${said(path, "Still fits")}`,
    ]);
    const rebased = await editor.choose<Action>(path, "Lares: rebase");
    expect(rebased).toMatchObject({ state: "PendingApproval", supersedes: action.id });
    await editor.message(/'Still fits' was rebased on the new text; check it/);
    const titles = await editor.codeActionTitles(path);
    expect(titles).not.toContainEqual(expect.stringContaining("rebase"));
    await editor.choose(path, "Lares: approve");
    expect(await text(path)).toBe(textOf(thirty.with(20, "somebody else").with(3, "LINE 3")));
  });

  test("a stale action whose change no longer fits stays unchanged, and the person learns why", async () => {
    const path = await file();
    const action = await propose("Does not fit", write(path, thirty.with(3, "LINE 3")));
    await bench.write(path, textOf(thirty.with(3, "somebody else")));
    await untilStale(action);
    await expect(editor.choose(path, "Lares: rebase")).rejects.toMatchObject({ code: CODES.Stale });
    await editor.message(/no longer applies|overlap|conflict/i);
  });

  test("after the file is gone no approval is offered", async () => {
    const path = await file();
    const action = await propose("Gone", write(path, []));
    // A file that is deleted before the index lists it causes no event.
    await until("the file to be listed", async () => {
      const { result } = await editor.client.raw("lares/entries/query", { path });
      return JSON.stringify(result).includes(path);
    });
    await rm(bench.path(path));
    await untilStale(action);
    expect(await editor.lenses(path)).toEqual([]);
  });

  test("an outdated digest is refused, and this is shown", async () => {
    const path = await file();
    const { id } = await propose("Swapped", write(path, []));
    const digest = `sha256:${"0".repeat(64)}`;
    const command = { title: "", command: "lares.action.approve", arguments: [{ id, digest }] };
    await expect(editor.run(command)).rejects.toMatchObject({ code: CODES.DigestMismatch });
    await editor.message(/Check the action again/);
    expect(await text(path)).toBe(textOf(thirty));
    await editor.choose(path, "Lares: reject");
  });

  test.each([
    ["no arguments", undefined],
    ["no digest", [{ id: "x" }]],
    ["another shape", ["x"]],
    ["no object", [null]],
  ])("%s: InvalidParams", async (_what, given) => {
    const params = { command: "lares.action.approve", ...(given === undefined ? {} : { arguments: given }) };
    expect(await editor.client.raw("workspace/executeCommand", params)).toMatchObject({
      error: { code: -32602 },
    });
  });
});

test("titles from agents are one short, harmless line everywhere", async () => {
  const path = await file();
  await propose(`$(check) ${HOSTILE}`.slice(0, 200), write(path, []));
  const titles = [
    ...(await editor.codeActionTitles(path)),
    ...(await editor.lenses(path)).map(({ command }) => command?.title ?? ""),
  ];
  expect(titles.length).toBeGreaterThanOrEqual(7);
  for (const title of titles) {
    expectHarmless(title, "a title");
    expect(title).not.toMatch(/\n|\$\(|\]\(/);
    expect(title.length).toBeLessThan(1000);
  }
  await editor.choose(path, "Lares: reject");
  expectHarmless(await editor.message(/check.*is rejected/s), "the outcome");
});

test("a client with a view of its own gets the answers and no messages", async () => {
  const path = await file();
  await using own = await bench.open({ approvals: "client", capabilities: EDITOR_CAPABILITIES });
  await propose("Quiet", write(path, ["quiet"]));
  const quiet = new Editor(bench, own);
  expect(await quiet.choose<Action>(path, "Lares: approve")).toMatchObject({ state: "Committed" });
  expect(await quiet.choose<Action>(path, "Lares: undo")).toMatchObject({ state: "Undone" });
  expect(own.notifications("window/showMessage")).toEqual([]);
});

test("an editor without showMessageRequest loses nothing", async () => {
  const path = await file();
  await using refusing = await bench.open({
    approvals: "showMessageRequest",
    capabilities: EDITOR_CAPABILITIES,
  });
  refusing.answer = ({ method }) => (method === "window/showMessageRequest" ? METHOD_NOT_FOUND : null);
  await propose("Not by message", write(path, ["by code action"]));
  await refusing.notification("window/showMessageRequest");
  const by = new Editor(bench, refusing);
  expect((await by.lensLines(path)).map(([line]) => line)).toEqual([0]);
  expect(await by.choose<Action>(path, "Lares: approve")).toMatchObject({ state: "Committed" });
  expect(await text(path)).toBe("by code action\n");
});

test("an untrusted connection sees nothing of it and can do nothing", async () => {
  const path = await file();
  const { id, digest } = await proposeTitled(editor.client, PROBE, write(path, []));
  await using client = await bench.connect({ trusted: false, capabilities: EDITOR_CAPABILITIES });
  const untrusted = new Editor(bench, client);
  expect(await untrusted.lenses(path)).toEqual([]);
  expect(await untrusted.codeActions(path)).toEqual([]);
  for (const command of ["approve", "reject", "undo", "show"])
    await expect(
      untrusted.run({ title: "", command: `lares.action.${command}`, arguments: [{ id, digest }] }),
    ).rejects.toMatchObject({ code: CODES.Untrusted });
  await editor.choose(path, "Lares: reject");
});

test("after the kernel's sudden end the next one shows pending actions and what can be undone", async () => {
  const [waiting, done] = [await file(), await file()];
  await propose("Done", write(done, []));
  await editor.choose(done, "Lares: approve");
  await propose("Waits", write(waiting, thirty.with(7, "x")));
  const { pid } = await bench.status(editor.client);
  await bench.kill(pid);
  await bench.ready(editor.client);
  expect((await editor.lensLines(waiting)).map(([line]) => line)).toEqual([7]);
  expect(await editor.codeActionTitles(done)).toEqual([
    expect.stringMatching(/^Lares: undo: .* says: "Done"$/),
  ]);
  await editor.choose(waiting, "Lares: approve");
  expect(await text(waiting)).toBe(textOf(thirty.with(7, "x")));
});
