import { commands, Uri } from "vscode";
import { beforeEach, describe, expect, test } from "vitest";
import type { Action } from "../protocol.ts";
import { fakeContext, type FakeContext } from "../testing/context.ts";
import { action as anAction, effect, status } from "../testing/things.ts";
import { files, filesChanged, seen, workspace } from "../testing/vscode.ts";
import { nextStep } from "./note-lens.ts";
import { starter } from "./starter.ts";

const bundled = ["media/starter/lares.yaml", "media/starter/first-note.md", "dist/schemas/lares.schema.json"];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

beforeEach(() => {
  seen.forget();
  workspace.isTrusted = true;
  for (const path of bundled) files.set(`file:///extension/${path}`, bytes(path));
  workspace.workspaceFolders = [{ uri: Uri.file("/work"), name: "work", index: 0 }];
});

const written = (): string[] => [...files.keys()].filter((uri) => uri.startsWith("file:///work/"));

test("writes document, schema and a note into an empty folder, and opens the document", async () => {
  starter(fakeContext().context);
  await commands.executeCommand("lares.createStarter");
  expect(written()).toEqual([
    "file:///work/notes/first-note.md",
    "file:///work/.lares/schemas/lares.schema.json",
    "file:///work/lares.yaml",
  ]);
  expect(seen.opened).toEqual(["file:///work/lares.yaml"]);
});

test.each(["lares.yaml", "lares.yml", "lares.toml"])("writes nothing if there is a %s", async (name) => {
  files.set(`file:///work/${name}`, bytes("mine"));
  starter(fakeContext().context);
  await commands.executeCommand("lares.createStarter");
  expect(written()).toEqual([`file:///work/${name}`]);
  expect(seen.opened).toEqual([`file:///work/${name}`]);
  expect(seen.messages).toMatchObject([{ severity: "info" }]);
});

test("leaves an existing note unchanged", async () => {
  files.set("file:///work/notes/first-note.md", bytes("mine"));
  starter(fakeContext().context);
  await commands.executeCommand("lares.createStarter");
  await commands.executeCommand("lares.openFirstNote");
  expect(files.get("file:///work/notes/first-note.md")).toEqual(bytes("mine"));
});

test("without a folder, a message says what to do", async () => {
  workspace.workspaceFolders = undefined;
  starter(fakeContext().context);
  void commands.executeCommand("lares.createStarter");
  await fakeContext().settle();
  expect(seen.messages).toMatchObject([{ text: expect.stringContaining("open a folder first") }]);
});

test("a new starter leads to its permissions, and to its note once they are allowed", async () => {
  const allowed = status({ trusted: true });
  const fake = fakeContext({ "lares/status": () => allowed });
  starter(fake.context);
  await commands.executeCommand("lares.createStarter");
  expect(seen.commands).toContainEqual({ id: "lares.trustWorkspace", arguments: [{ awaits: true }] });
  expect(seen.opened).toEqual(["file:///work/lares.yaml", "file:///work/notes/first-note.md"]);
});

test("a person who allows nothing yet stays at the document", async () => {
  const fake = fakeContext({ "lares/status": () => status({ trusted: false }) });
  starter(fake.context);
  await commands.executeCommand("lares.createStarter");
  expect(seen.opened).toEqual(["file:///work/lares.yaml"]);
});

test("in a restricted folder, a starter asks nothing of its own", async () => {
  workspace.isTrusted = false;
  starter(fakeContext().context);
  await commands.executeCommand("lares.createStarter");
  expect(seen.commands.map(({ id }) => id)).not.toContain("lares.trustWorkspace");
});

test("a person who trusts the folder from the walkthrough is led back to it", async () => {
  workspace.isTrusted = false;
  starter(fakeContext().context);
  await commands.executeCommand("lares.trustFolder");
  workspace.trustGranted.fire();
  const walkthrough = "lares.lares-vscode#lares.start";
  const opened = { id: "workbench.action.openWalkthrough" };
  expect(seen.commands.at(-1)).toMatchObject({
    ...opened,
    arguments: [{ category: walkthrough, step: "document" }, false],
  });
  const before = seen.commands.length;
  workspace.trustGranted.fire();
  expect(seen.commands).toHaveLength(before);
});

describe("the walkthrough's steps", () => {
  const contextsOf = (): Map<unknown, unknown> =>
    new Map(
      seen.commands
        .filter(({ id }) => id === "setContext")
        .map(({ arguments: [name, value] }) => [name, value]),
    );

  test("follow the actual state: looking at a question completes no step", async () => {
    const fake = fakeContext();
    fake.status = status({ trusted: false });
    starter(fake.context);
    await fake.settle();
    expect(contextsOf().get("lares.hasDocument")).toBe(false);
    files.set("file:///work/lares.yaml", bytes("mine"));
    filesChanged.fire();
    await fake.settle();
    await commands.executeCommand("lares.trustWorkspace");
    expect(contextsOf().get("lares.hasDocument")).toBe(true);
    expect(contextsOf().get("lares.isAllowed")).toBe(false);
    fake.status = status({ trusted: true });
    fake.statusChanged.fire();
    expect(contextsOf().get("lares.isAllowed")).toBe(true);
  });

  test("the step of an approved and undone change stays completed", () => {
    const fake = fakeContext();
    starter(fake.context);
    fake.actions = [anAction({ state: "Rejected", decided_by: "user" })];
    fake.actionsChanged.fire();
    expect(contextsOf().has("lares.hasApprovedChange")).toBe(false);
    const receipt = { applied: [0], finished: "2026-01-01T00:00:00.000Z" };
    fake.actions = [anAction({ state: "Committed", decided_by: "policy", receipt })];
    fake.actionsChanged.fire();
    expect(contextsOf().has("lares.hasApprovedChange")).toBe(false);
    fake.actions = [anAction({ state: "Committed", decided_by: "user", receipt })];
    fake.actionsChanged.fire();
    expect(contextsOf().get("lares.hasApprovedChange")).toBe(true);
    expect(contextsOf().has("lares.hasUndoneChange")).toBe(false);
    fake.actions = [anAction({ state: "Undone", decided_by: "user", receipt })];
    fake.actionsChanged.fire();
    expect(contextsOf().get("lares.hasUndoneChange")).toBe(true);
    expect(fake.kept.size).toBe(2);
  });
});

describe("above the first note", () => {
  const onNote = (given: Partial<Action>) =>
    anAction({ effects: [effect({ path: "notes/first-note.md" })], ...given });
  const stepWith = (fake: FakeContext): string | undefined => nextStep(fake.context)?.command;

  test("the one next step is shown, and never a proposal that does not exist", () => {
    const fake = fakeContext();
    fake.agents = [{ id: "dev.lares.notes", name: "Notes" }];
    workspace.isTrusted = false;
    expect(stepWith(fake)).toBe("lares.trustFolder");
    workspace.isTrusted = true;
    fake.status = status({ trusted: false });
    expect(stepWith(fake)).toBe("lares.trustWorkspace");
    fake.status = status({ trusted: true });
    expect(stepWith(fake)).toBe("lares.agents.focus");
    fake.actions = [onNote({})];
    expect(stepWith(fake)).toBeUndefined();
    fake.actions = [onNote({ state: "Committed" })];
    expect(nextStep(fake.context)).toMatchObject({ command: "lares.undo", arguments: [{ id: "action-1" }] });
    fake.actions = [onNote({ state: "Undone" })];
    expect(stepWith(fake)).toBe("lares.showActivity");
    fake.actions = [];
    fake.agents = [];
    expect(stepWith(fake)).toBe("lares.openWalkthrough");
  });
});
