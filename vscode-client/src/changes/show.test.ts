import { commands, Uri } from "vscode";
import { beforeEach, expect, test } from "vitest";
import type { Action } from "../protocol.ts";
import { action as anAction, effect as anEffect } from "../testing/things.ts";
import { fakeContext } from "../testing/context.ts";
import { files, seen, showTab, TabInputTextDiff, window, workspace } from "../testing/vscode.ts";
import { maxShownEffects, showChanges, targetOf } from "./show.ts";

beforeEach(() => {
  seen.forget();
  Object.assign(window.tabGroups.activeTabGroup, { activeTab: undefined, others: [], viewColumn: 1 });
  workspace.workspaceFolders = [{ uri: Uri.file("/work"), name: "work", index: 0 }];
});

/** Runs the command on an action; what the editor was asked to do. */
async function shown(
  action: Action,
  given: unknown = action.id,
): Promise<{ id: string; arguments: unknown[] }> {
  const fake = fakeContext();
  fake.actions = [action];
  showChanges(fake.context);
  await commands.executeCommand("lares.showChanges", given);
  const last = seen.commands.at(-1);
  if (last === undefined) throw new Error("the editor was asked nothing");
  return last;
}
const addresses = (values: readonly unknown[]): string[] => values.map((value) => String(value));
const content = new TextEncoder().encode("as it is\n");

test("one effect is a diff between the file itself and what it would be", async () => {
  files.set("file:///work/notes/a.md", content);
  const { id, arguments: given } = await shown(anAction());
  expect(id).toBe("vscode.diff");
  const [before, after, title] = addresses(given);
  expect(before).toBe("file:///work/notes/a.md");
  expect(after).toMatch(/^lares-change:\/work\/notes\/a\.md\?.*after$/);
  expect(title).toBe("a.md (Lares: Tidy up)");
});

const receipt = { applied: [0], finished: "2026-01-01T00:00:00.000Z" };
test.each([
  ["what was carried out", anAction({ state: "Committed", receipt }), 0],
  ["what another effect leaves", anAction({ effects: [anEffect(), anEffect()] }), 1],
  ["a file that is not there", anAction({ effects: [anEffect({ path: "gone.md" })] }), 0],
])("the kernel says what was before: %s", async (_name, action, effect) => {
  files.set("file:///work/notes/a.md", content);
  const { arguments: given } = await shown(action, { id: action.id, effect });
  expect(addresses(given)[0]).toMatch(/^lares-change:.*before$/);
});

test("of a partly approved action, the approved part is shown, and its title says how much it is", async () => {
  const effects = ["a.md", "b.md", "c.md"].map((path) => anEffect({ path }));
  const applied = (...indices: number[]): Action =>
    anAction({ state: "Committed", effects, receipt: { ...receipt, applied: indices } });
  const fake = fakeContext();
  showChanges(fake.context);
  const shownOf = async (action: Action, given: unknown = action.id): Promise<readonly unknown[]> => {
    fake.actions = [action];
    await commands.executeCommand("lares.showChanges", given);
    return seen.commands.at(-1)?.arguments ?? [];
  };
  const [title, resources] = await shownOf(applied(0, 2));
  expect(title).toEqual(expect.stringMatching(/^Applied \(2 of 3\) \d\d:\d\d: Lares: Tidy up$/));
  const about = (resources as readonly (readonly unknown[])[]).map(([uri]) => String(uri));
  expect(about).toEqual([expect.stringMatching(/^lares-change:/), "file:///work/a.md", "file:///work/c.md"]);
  expect(await shownOf(applied(0, 1, 2))).toEqual([
    expect.stringMatching(/^Applied \d\d:\d\d: Lares: Tidy up$/),
    expect.objectContaining({ length: 4 }),
  ]);
  // Each effect can still be shown separately, including those that were left out.
  const [, , alone] = await shownOf(applied(0, 2), { id: "action-1", effect: 1 });
  expect(alone).toBe("Left out: b.md (Lares: Tidy up)");
});

test("a stale proposal is titled so, and one that becomes stale while it is shown is reopened under that title", async () => {
  files.set("file:///work/notes/a.md", content);
  const fake = fakeContext();
  fake.actions = [anAction()];
  showChanges(fake.context);
  await commands.executeCommand("lares.showChanges", "action-1");
  const { arguments: given } = seen.commands.at(-1) ?? { arguments: [] };
  showTab({ label: String(given[2]), input: new TabInputTextDiff(given[0] as never, given[1] as never) });

  fake.actions = [anAction({ state: "Stale" })];
  fake.actionsChanged.fire();
  await fake.settle();
  const diffs = seen.commands.filter(({ id }) => id === "vscode.diff").map(({ arguments: each }) => each[2]);
  expect(diffs).toEqual(["a.md (Lares: Tidy up)", "Out of date: a.md (Lares: Tidy up)"]);
  expect(seen.closedTabs).toEqual(["a.md (Lares: Tidy up)"]);

  showTab({ label: String(diffs[1]), input: new TabInputTextDiff(given[0] as never, given[1] as never) });
  fake.actionsChanged.fire();
  await fake.settle();
  expect(seen.closedTabs).toHaveLength(1);
});

test("a change that is partly approved while it is shown is reopened once as that part", async () => {
  const effects = ["a.md", "b.md", "c.md"].map((path) => anEffect({ path }));
  const fake = fakeContext();
  fake.actions = [anAction({ effects })];
  showChanges(fake.context);
  await commands.executeCommand("lares.showChanges", "action-1");
  showTab({ label: "Lares: Tidy up (3 files)", input: undefined });
  fake.actions = [anAction({ state: "Committed", effects, receipt: { ...receipt, applied: [0, 2] } })];
  fake.actionsChanged.fire();
  await fake.settle();
  expect(seen.closedTabs).toEqual(["Lares: Tidy up (3 files)"]);
  const titles = (): unknown[] =>
    seen.commands.filter(({ id }) => id === "vscode.changes").map(({ arguments: [title] }) => title);
  expect(titles()).toEqual([
    "Lares: Tidy up",
    expect.stringMatching(/^Applied \(2 of 3\) \d\d:\d\d: Lares: Tidy up$/),
  ]);

  showTab({ label: `${String(titles()[1])} (2 files)`, input: undefined });
  fake.actionsChanged.fire();
  await fake.settle();
  expect(titles()).toHaveLength(2);
});

test("an effect without two contents is opened as a text", async () => {
  const { id, arguments: given } = await shown(
    anAction({ effects: [anEffect({ kind: "tag.add", tag: "x" })] }),
  );
  expect(id).toBe("vscode.open");
  expect(addresses(given)[0]).toMatch(/a\.md\.txt\?/);
});

test("several effects are shown side by side, up to a limit, and the title counts all of them", async () => {
  const effects = Array.from({ length: maxShownEffects + 1 }, (_, index) =>
    anEffect({ path: `${index}.md` }),
  );
  const { id, arguments: given } = await shown(anAction({ effects, title: "Many\u001b[2J" }));
  expect(id).toBe("vscode.changes");
  expect(given[0]).toBe(`Lares: Many␛[2J, the first ${maxShownEffects} of ${maxShownEffects + 1} changes`);
  expect(given[1]).toHaveLength(maxShownEffects);
});

test("a missing side is undefined, and a move is described in words", async () => {
  const { arguments: given } = await shown(
    anAction({
      effects: [
        anEffect({ kind: "file.write", path: "new.md", before: null }),
        anEffect({ kind: "file.delete", path: "old.md", after: null }),
        anEffect({ kind: "file.move", path: "to.md", from: "from.md" }),
      ],
    }),
  );
  const [added, removed, moved] = given[1] as unknown[][];
  expect(addresses(added ?? [])).toEqual([
    "file:///work/new.md",
    "undefined",
    expect.stringMatching(/\/work\/new\.md\?.*after$/),
  ]);
  expect(addresses(removed ?? [])).toEqual([
    "file:///work/old.md",
    expect.stringMatching(/before$/),
    "undefined",
  ]);
  expect(addresses(moved ?? [])).toEqual([
    "file:///work/to.md",
    "undefined",
    expect.stringMatching(/to\.md\.txt\?/),
  ]);
});

test("one of several effects can be shown alone", async () => {
  const effects = [anEffect({ path: "a.md" }), anEffect({ path: "b.md" })];
  const action = anAction({ effects });
  const { id, arguments: given } = await shown(action, { id: action.id, effect: 1 });
  expect(id).toBe("vscode.diff");
  expect(given[2]).toMatch(/^b\.md \(/);
});

test("without an argument the person picks; a missing action is reported", async () => {
  expect((await shown(anAction(), undefined)).id).toBe("vscode.diff");
  seen.forget();
  await shown(anAction(), "another");
  expect(seen.messages.at(-1)).toMatchObject({ severity: "error" });
});

test.each([
  ["an id", "a", { id: "a" }],
  ["an id and an effect", { id: "a", effect: 2 }, { id: "a", effect: 2 }],
  ["a tree's element", { action: "a", effect: 1, label: "x" }, { id: "a", effect: 1 }],
  ["an action", { action: { id: "a" } }, { id: "a" }],
  ["nothing", undefined, undefined],
  ["something else", { title: "x" }, undefined],
])("the command's argument may be %s", (_name, given, target) => {
  expect(targetOf(given)).toEqual(target);
});

test("a change that is already shown in another group is shown there", async () => {
  files.set("file:///work/notes/a.md", content);
  const fake = fakeContext();
  fake.actions = [anAction()];
  showChanges(fake.context);
  await commands.executeCommand("lares.showChanges", "action-1");
  const [before, after, title] = seen.commands.at(-1)?.arguments ?? [];
  const group = window.tabGroups.activeTabGroup;
  group.viewColumn = 2;
  group.others = [{ label: String(title), input: new TabInputTextDiff(before as never, after as never) }];
  files.clear();
  await commands.executeCommand("lares.showChanges", "action-1");
  const again = seen.commands.at(-1)?.arguments ?? [];
  expect(addresses(again.slice(0, 3))).toEqual(addresses([before, after, title]));
  expect(again[3]).toEqual({ viewColumn: 2 });
  expect(seen.closedTabs).toEqual([]);
});

test("several changes that are already shown keep their one tab", async () => {
  const fake = fakeContext();
  fake.actions = [anAction({ effects: [anEffect({ path: "a.md" }), anEffect({ path: "b.md" })] })];
  showChanges(fake.context);
  const opened = () => seen.commands.filter(({ id }) => id === "vscode.changes").length;
  await commands.executeCommand("lares.showChanges", "action-1");
  const tab = { label: "Lares: Tidy up (2 files)", input: undefined };
  window.tabGroups.activeTabGroup.others = [tab];
  await commands.executeCommand("lares.showChanges", "action-1");
  expect(seen.closedTabs).toEqual([tab.label]);
  expect(opened()).toBe(2);
  showTab(tab);
  await commands.executeCommand("lares.showChanges", "action-1");
  expect(opened()).toBe(2);
});

test.each(["Committed", "Undone", "Stale", "Rejected"] as const)(
  "a change that is %s is shown beside a text with its outcome, reason and impact",
  async (state) => {
    const diff = "--- a.md\n+++ a.md\n@@ -1 +1 @@\n-a\n+b\n";
    const { id, arguments: given } = await shown(anAction({ state, effects: [anEffect({ diff })] }));
    expect(id).toBe("vscode.changes");
    expect(given[0]).toMatch(/: a\.md \(Lares: Tidy up\)$/);
    const [about, change] = (given[1] as unknown[][]).map(addresses);
    expect(about).toEqual([
      expect.stringContaining("About%20this%20change"),
      "undefined",
      expect.stringContaining("about"),
    ]);
    expect(change).toEqual([
      expect.stringContaining("/notes/a.md"),
      expect.stringMatching(/before$/),
      expect.stringMatching(/after$/),
    ]);
  },
);

test("one frozen change of several keeps its own title, and is not reopened", async () => {
  const diff = "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n";
  const effects = ["a.md", "b.md"].map((path) => anEffect({ path, diff }));
  const fake = fakeContext();
  fake.actions = [anAction({ state: "Committed", effects, receipt })];
  showChanges(fake.context);
  await commands.executeCommand("lares.showChanges", { id: "action-1", effect: 1 });
  const title = String(seen.commands.at(-1)?.arguments[0]);
  expect(title).toBe("Left out: b.md (Lares: Tidy up)");
  showTab({ label: `${title} (2 files)`, input: undefined });
  fake.actionsChanged.fire();
  await fake.settle();
  expect(seen.closedTabs).toEqual([]);
});

test("an outdated change that is then replaced is titled so, without repetition", async () => {
  const diff = "--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n";
  const fake = fakeContext();
  fake.actions = [anAction({ effects: [anEffect({ diff })] })];
  showChanges(fake.context);
  await commands.executeCommand("lares.showChanges", "action-1");
  const [before, after, title] = seen.commands.at(-1)?.arguments ?? [];
  showTab({ label: String(title), input: new TabInputTextDiff(before as never, after as never) });
  const titles: string[] = [];
  for (const given of [{}, {}, { superseded_by: "newer" }, { superseded_by: "newer" }]) {
    fake.actions = [anAction({ state: "Stale", effects: [anEffect({ diff })], ...given })];
    fake.actionsChanged.fire();
    await fake.settle();
    const opened = seen.commands.filter(({ id }) => id === "vscode.changes");
    const last = String(opened.at(-1)?.arguments[0]);
    if (opened.length > titles.length) titles.push(last);
    showTab({ label: `${last} (2 files)`, input: undefined });
    await fake.settle();
  }
  expect(titles).toEqual(["Out of date: a.md (Lares: Tidy up)", "Replaced: a.md (Lares: Tidy up)"]);
});
