import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Action } from "../protocol.ts";
import { fakeContext } from "../testing/context.ts";
import { action, effect } from "../testing/things.ts";
import { commands, editorsChanged, files, seen, Uri, window, workspace } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { proposalCommands } from "./proposals.ts";

const before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
const after = "one\n2\n3\n4\n5\n6\n7\n8\nnine\n";
const onlyFirst = "one\n2\n3\n4\n5\n6\n7\n8\n9\n";
const onlyLast = "1\n2\n3\n4\n5\n6\n7\n8\nnine\n";
const diff = "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n@@ -8,2 +8,2 @@\n 8\n-9\n+nine\n";
const hash = `sha256:${createHash("sha256").update(before).digest("hex")}` as const;
const otherDigest = `sha256:${"1".repeat(64)}` as const;
const twoParts = (given: Partial<Action> = {}): Action =>
  action({ effects: [effect({ path: "notes/a.md", before: hash, diff })], ...given });
const onePart = (given: Partial<Action> = {}): Action =>
  action({
    effects: [
      effect({ path: "notes/a.md", before: hash, diff: "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n" }),
    ],
    ...given,
  });

beforeEach(() => {
  seen.forget();
  workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
  files.set(Uri.file("/w/notes/a.md").toString(), Buffer.from(before));
});
afterEach(() => vi.restoreAllMocks());

interface FakeEditor {
  readonly document: object;
  selection: { active: { line: number } };
  revealRange(): void;
}
function editorOn(path: string, line = 0, isDirty = false): FakeEditor {
  return {
    document: { uri: Uri.file(`/w/${path}`), isDirty, lineCount: 9 },
    selection: { active: { line } },
    revealRange: () => undefined,
  };
}

function start(...actions: Action[]) {
  const kernel = {
    approve: (): Action => action({ state: "Committed" }),
    reject: (): Action => action({ state: "Rejected" }),
  };
  const fake = fakeContext({
    "lares/actions/content": ({ side }: { side: "before" | "after" }) => ({
      base64: Buffer.from(side === "before" ? before : after).toString("base64"),
      eof: true,
    }),
    "lares/actions/approve": () => kernel.approve(),
    "lares/actions/reject": () => kernel.reject(),
    "lares/actions/undo": () => action({ state: "Undone" }),
  });
  fake.actions = actions;
  fake.agents = [{ id: "test.agent", name: "Notes" }];
  proposalCommands(fake.context);
  const run = async (id: string): Promise<void> => {
    void commands.executeCommand(id);
    await settled();
    await settled();
  };
  const answer = async (button: string | undefined): Promise<void> => {
    seen.messages.shift()?.answer(button);
    await settled();
    await settled();
  };
  const sent = (method: string): unknown[] =>
    fake.asked.filter((asked) => asked.method === method).map(({ params }) => params);
  return { fake, kernel, run, answer, sent };
}
const commandsOf = (id: string): unknown[] =>
  seen.commands.filter((each) => each.id === id).flatMap((each) => each.arguments);
const said = (): string[] => seen.messages.map(({ text }) => text);
const gone = (): never => {
  throw new Error("The kernel is not running.");
};

describe("from proposal to proposal", () => {
  const inFile = (path: string): Action =>
    onePart({ id: path, effects: [{ ...onePart().effects[0]!, path }] });

  it("goes to the next and to the previous place in the same file", async () => {
    const { run } = start(twoParts());
    const editor = editorOn("notes/a.md", 3);
    window.activeTextEditor = editor;
    await run("lares.nextProposal");
    expect(editor.selection.active.line).toBe(8);
    await run("lares.previousProposal");
    expect(editor.selection.active.line).toBe(0);
  });

  it("continues in the next file, and starts over after the last one", async () => {
    for (const name of ["b.md", "c.md"]) files.set(Uri.file(`/w/${name}`).toString(), Buffer.from(before));
    const { run } = start(inFile("b.md"), inFile("c.md"));
    vi.spyOn(window, "showTextDocument").mockImplementation((async (uri: Uri) => {
      const editor = editorOn(uri.path.slice("/w/".length), 5);
      window.activeTextEditor = editor;
      return editor;
    }) as never);
    const at = (): string => ((window.activeTextEditor as FakeEditor).document as { uri: Uri }).uri.path;
    const seenAt: string[] = [];
    for (const way of ["next", "next", "next", "previous", "previous"]) {
      await run(`lares.${way}Proposal`);
      seenAt.push(at());
      (window.activeTextEditor as FakeEditor).selection = { active: { line: way === "next" ? 5 : 0 } };
    }
    expect(seenAt).toEqual(["/w/b.md", "/w/c.md", "/w/b.md", "/w/b.md", "/w/c.md"]);
  });

  it("shows the review page if no file can be opened as a text", async () => {
    const { run } = start(inFile("picture.png"));
    vi.spyOn(window, "showTextDocument").mockRejectedValue(new Error("It is binary."));
    await run("lares.nextProposal");
    expect(seen.commands.some(({ id }) => id === "lares.review")).toBe(true);
  });

  it("reports that nothing is pending if the last one ended meanwhile", async () => {
    const { run } = start(twoParts({ state: "Stale" }));
    await run("lares.nextProposal");
    expect(said()).toEqual(["Nothing waits for you."]);
  });
});

it("keys for a part work only while the cursor is on one, and not after it has ended", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { fake } = start(twoParts());
    const here = async (): Promise<unknown> => {
      vi.runAllTimers();
      await settled();
      return seen.commands.findLast(
        ({ id, arguments: [key] }) => id === "setContext" && key === "lares.proposalHere",
      )?.arguments[1];
    };
    expect(await here()).toBe(undefined);
    window.activeTextEditor = editorOn("notes/a.md", 8);
    editorsChanged.fire();
    expect(await here()).toBe(true);
    fake.actions = [twoParts({ state: "Stale" })];
    fake.actionsChanged.fire();
    expect(await here()).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

it("an answer for a place that the cursor has left does not enable its keys", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const { fake } = start(twoParts());
    const first = Promise.withResolvers<Action>();
    vi.spyOn(fake.context.models.actions, "withDiffs").mockReturnValueOnce(first.promise);
    for (const line of [8, 5]) {
      window.activeTextEditor = editorOn("notes/a.md", line);
      editorsChanged.fire();
      vi.runAllTimers();
    }
    await settled();
    first.resolve(twoParts());
    await settled();
    expect(seen.commands.filter(({ arguments: [key] }) => key === "lares.proposalHere")).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});

describe("the part under the cursor", () => {
  const on = (line: number): void => void (window.activeTextEditor = editorOn("notes/a.md", line));

  it.each([
    ["lares.approvePart", "lares.approve"],
    ["lares.rejectPart", "lares.rejectWithReason"],
  ])("that is all of the proposal is decided as the whole, by its digest: %s", async (id, command) => {
    const { run } = start(onePart());
    on(0);
    await run(id);
    expect(commandsOf(command)).toEqual([{ id: "action-1", digest: action().digest }]);
  });

  it.each<[string, string, number, string]>([
    ["lares.approvePart", "Approve This Part", 0, onlyFirst],
    ["lares.approvePart", "Approve This Part", 8, onlyLast],
    ["lares.rejectPart", "Approve the Others", 0, onlyLast],
  ])("%s, then “%s”, on line %i: just what was said is approved", async (id, button, line, content) => {
    const { run, answer, sent } = start(twoParts());
    on(line);
    await run(id);
    expect(sent("lares/actions/approve")).toEqual([]);
    await answer(button);
    expect(sent("lares/actions/approve")).toEqual([
      { id: "action-1", digest: action().digest, effects: [0], edits: [{ effect: 0, content }] },
    ]);
  });

  it.each([
    ["Reject All of It", "lares.reject"],
    ["Show", "lares.review"],
    [undefined, ""],
  ])(
    "of a large proposal is never approved with the others unseen; answered: %s",
    async (button, command) => {
      const { run, answer, sent } = start(twoParts({ impact_score: 0.9 }));
      on(0);
      await run("lares.rejectPart");
      expect(seen.messages[0]?.buttons).toEqual(["Show", "Reject All of It"]);
      await answer(button);
      expect(sent("lares/actions/approve")).toEqual([]);
      expect(commandsOf(command)).toHaveLength(command === "" ? 0 : 1);
    },
  );

  it("names what else is dropped if the proposal goes beyond the file", async () => {
    const { run } = start(twoParts({ effects: [...twoParts().effects, effect({ path: "b.md" })] }));
    on(0);
    await run("lares.approvePart");
    expect(seen.messages[0]?.detail).toBe(
      "The other 1 of this file is dropped. Its changes to 1 other file are dropped.",
    );
  });

  it.each<[string, Partial<Action>[], boolean]>([
    ["the cursor is on none", [{}], false],
    ["the file has unsaved changes", [{}], true],
    ["the action has ended", [{ state: "Expired" }], false],
  ])("is refused where %s", async (name, given, isDirty) => {
    const { run, sent } = start(...given.map(twoParts));
    window.activeTextEditor = editorOn("notes/a.md", name.includes("cursor") ? 4 : 0, isDirty);
    await run("lares.approvePart");
    expect(said()).toEqual(["Not approved: The cursor is not on a part of a proposal."]);
    expect(sent("lares/actions/approve")).toEqual([]);
  });

  it("is not approved if the proposal changed while the question was open", async () => {
    const { fake, run, answer, sent } = start(twoParts());
    on(0);
    await run("lares.approvePart");
    fake.actions = [twoParts({ digest: otherDigest })];
    await answer("Approve This Part");
    expect(sent("lares/actions/approve")).toEqual([]);
    expect(said()[0]).toContain("It has changed since it was shown to you.");
  });

  it.each([
    ["another window rejected it", "It was rejected already."],
    ["the kernel is gone", "The kernel is not running."],
  ])("claims nothing where %s while the question was open", async (_case, refusal) => {
    const { kernel, run, answer } = start(twoParts());
    on(0);
    await run("lares.approvePart");
    kernel.approve = () => {
      throw new Error(refusal);
    };
    await answer("Approve This Part");
    expect(said()).toEqual([`Not approved: ${refusal}`]);
    expect(window.statusBarMessages).toEqual([]);
  });

  it("claims nothing if its file changes at the moment of the approval", async () => {
    const { kernel, run, answer } = start(twoParts());
    on(0);
    await run("lares.approvePart");
    kernel.approve = () => twoParts({ state: "Stale" });
    await answer("Approve This Part");
    expect(window.statusBarMessages).toEqual([]);
  });
});

describe("all proposals of an agent", () => {
  const several = [action({ id: "1" }), action({ id: "2", title: "Mend it" })];

  it("is approved after one question that names them", async () => {
    const { run, answer, sent } = start(...several);
    await run("lares.approveAllOfAgent");
    expect(seen.messages[0]).toMatchObject({ isModal: true, text: "Approve 2 of Notes?" });
    await answer("Approve 2");
    expect(sent("lares/actions/approve")).toMatchObject([{ id: "1" }, { id: "2" }]);
    expect(window.statusBarMessages).toEqual(["$(check) Approved 2."]);
  });

  it("leaves out what another window decided or what changed while the question was open", async () => {
    const { fake, run, answer, sent } = start(...several, action({ id: "3" }));
    await run("lares.approveAllOfAgent");
    fake.actions = [
      action({ id: "1", state: "Rejected" }),
      action({ id: "2", digest: otherDigest }),
      action({ id: "3" }),
    ];
    await answer("Approve 3");
    expect(sent("lares/actions/approve")).toMatchObject([{ id: "3" }]);
    expect(said()[0]).toMatch(/^Approved 1\. 2 not: One is no longer pending\./);
  });

  it("names what was not approved if the kernel ends midway", async () => {
    const { kernel, run, answer } = start(...several);
    await run("lares.approveAllOfAgent");
    kernel.approve = gone;
    await answer("Approve 2");
    expect(said()[0]).toContain("Approved 0. 2 not: The kernel is not running.");
  });

  it("is rejected with the reason, except what changed while the person typed it", async () => {
    const { fake, run, sent } = start(...several);
    vi.spyOn(window, "showInputBox").mockImplementation(async () => {
      fake.actions = [action({ id: "1", digest: otherDigest }), several[1]!];
      return "Not now.";
    });
    await run("lares.rejectAllOfAgent");
    expect(sent("lares/actions/reject")).toEqual([{ id: "2", reason: "Not now." }]);
    expect(said()[0]).toMatch(/^Rejected 1\. 1 not:/);
  });

  it("does nothing if nothing is pending", async () => {
    const { run } = start(action({ state: "Committed" }));
    await run("lares.rejectAllOfAgent");
    expect(said()).toEqual(["Nothing waits for you."]);
  });
});

describe("what rules did", () => {
  const automatic = action({
    state: "Committed",
    decided_by: "policy",
    rule: { sentence: "by your rule tags by Notes" },
  });

  it("is undone after a question that names the rule", async () => {
    const { run, answer, sent } = start(automatic, action({ id: "mine", state: "Committed" }));
    await run("lares.undoAutomatic");
    expect(seen.messages[0]?.detail).toContain("by your rule tags by Notes");
    expect(sent("lares/actions/undo")).toEqual([]);
    await answer("Undo 1");
    expect(sent("lares/actions/undo")).toEqual([{ id: "action-1" }]);
  });

  it("does nothing if another window undid it before", async () => {
    const { run } = start({ ...automatic, state: "Undone" });
    await run("lares.undoAutomatic");
    expect(said()).toEqual(["Nothing was applied automatically recently."]);
  });
});
