import { commands, Uri } from "vscode";
import { beforeEach, expect, test } from "vitest";
import { fakeContext, type FakeContext } from "../testing/context.ts";
import { action as anAction, effect as anEffect } from "../testing/things.ts";
import { seen, showTab, TabInputText, TabInputTextDiff } from "../testing/vscode.ts";
import type { Side } from "../deciding/content.ts";
import { uriOfSide } from "./addresses.ts";
import { showChanges } from "./show.ts";

beforeEach(() => seen.forget());

const side = (which: Side): never => uriOfSide("action-1", 0, anEffect(), which) as never;
/** What the title of the editor in front offers. */
const offered = (): unknown => seen.commands.findLast(({ id }) => id === "setContext")?.arguments[1];

function fakeWith(action = anAction()): FakeContext {
  const fake = fakeContext();
  fake.actions = [action];
  showChanges(fake.context);
  return fake;
}

test.each([
  ["a diff", () => new TabInputTextDiff(side("before"), side("after"))],
  ["a text", () => new TabInputText(side("after"))],
])("%s of a pending change is answered in its editor, bound to what is shown", async (_name, input) => {
  const fake = fakeWith();
  showTab({ label: "a.md", input: input() });
  expect(offered()).toBe("pending");
  await commands.executeCommand("lares.approveShown");
  const { id, digest } = anAction();
  expect(seen.commands.at(-1)).toEqual({ id: "lares.approve", arguments: [{ id, digest }] });

  fake.actions = [anAction({ state: "Committed" })];
  fake.actionsChanged.fire();
  expect(offered()).toBe("committed");
  fake.actions = [anAction({ state: "Undone" })];
  fake.actionsChanged.fire();
  expect(offered()).toBe(undefined);
});

test("an editor of several files is identified by its title", async () => {
  fakeWith(anAction({ effects: [anEffect({ path: "a.md" }), anEffect({ path: "b.md" })] }));
  await commands.executeCommand("lares.showChanges", "action-1");
  showTab({ label: "Lares: Tidy up (2 files)", input: undefined });
  expect(offered()).toBe("pending");
  showTab({ label: "Lares: Tidy up the rest (2 files)", input: undefined });
  expect(offered()).toBe(undefined);
});

const several = [anEffect({ path: "a.md" }), anEffect({ path: "b.md" })];
const titleShown = (): string =>
  String(seen.commands.findLast(({ id }) => id === "vscode.changes")?.arguments[0]);

test("a person who sees one of several changes is asked about the others, on approve and on reject", async () => {
  const action = anAction({ effects: [anEffect(), anEffect({ path: "b.md" })] });
  fakeWith(action);
  const context = (key: string): unknown =>
    seen.commands.findLast(({ id, arguments: [name] }) => id === "setContext" && name === key)?.arguments[1];
  showTab({ label: "a.md", input: new TabInputTextDiff(side("before"), side("after")) });
  expect(context("lares.shownHasMany")).toBe(true);
  const part = { id: action.id, digest: action.digest, effects: [0] };
  for (const [button, answered] of [
    ["lares.approveShown", "lares.approveSome"],
    ["lares.approveSomeShown", "lares.approveSome"],
    ["lares.rejectShown", "lares.reject"],
  ] as const) {
    await commands.executeCommand(button);
    expect(seen.commands.at(-1)).toEqual({ id: answered, arguments: [part] });
  }
  showTab(undefined);
  expect(context("lares.shownHasMany")).toBe(false);
});

test("of two actions with the same title, the visible one is answered", async () => {
  const fake = fakeWith();
  const [one, other] = ["one", "other"].map((id) => anAction({ id, effects: several }));
  fake.actions = [one!, other!];
  const titles: string[] = [];
  for (const { id } of fake.actions) {
    await commands.executeCommand("lares.showChanges", id);
    titles.push(titleShown());
  }
  for (const [index, id] of ["one", "other"].entries()) {
    showTab({ label: `${titles[index]} (2 files)`, input: undefined });
    await commands.executeCommand("lares.approveShown");
    expect(seen.commands.at(-1)).toMatchObject({ id: "lares.approve", arguments: [{ id }] });
  }
});

test("an action whose title looks like another's with its number of files is not confused with it", async () => {
  const fake = fakeWith();
  const harmful = anAction({ id: "harmful", title: "Tidy", effects: several });
  const harmless = anAction({ id: "harmless", title: "Tidy (2 files)", effects: several });
  fake.actions = [harmful, harmless];
  for (const { id } of fake.actions) await commands.executeCommand("lares.showChanges", id);
  showTab({ label: "Lares: Tidy (2 files) (2 files)", input: undefined });
  await commands.executeCommand("lares.approveShown");
  expect(seen.commands.at(-1)).toMatchObject({ id: "lares.approve", arguments: [{ id: "harmless" }] });
  // The title does not tell which of the two this is.
  showTab({ label: "Lares: Tidy (2 files)", input: undefined });
  expect(offered()).toBe(undefined);
});

test("other editors offer no decision", async () => {
  fakeWith();
  for (const tab of [undefined, { label: "a.md", input: new TabInputText(Uri.file("/a.md")) }]) {
    showTab(tab);
    expect(offered()).toBe(undefined);
    await commands.executeCommand("lares.approveShown");
    expect(seen.commands.some(({ id }) => id === "lares.approve")).toBe(false);
  }
});
