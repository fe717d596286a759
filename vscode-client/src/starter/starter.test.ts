import { commands, Uri } from "vscode";
import { beforeEach, expect, test } from "vitest";
import { action as anAction } from "../testing/things.ts";
import { fakeContext } from "../testing/context.ts";
import { files, seen, workspace } from "../testing/vscode.ts";
import { starter } from "./starter.ts";

const bundled = ["media/starter/lares.yaml", "media/starter/first-note.md", "dist/schemas/lares.schema.json"];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

beforeEach(() => {
  seen.forget();
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

test.each(["lares.yaml", "lares.yml", "lares.toml"])("writes nothing where there is a %s", async (name) => {
  files.set(`file:///work/${name}`, bytes("mine"));
  starter(fakeContext().context);
  await commands.executeCommand("lares.createStarter");
  expect(written()).toEqual([`file:///work/${name}`]);
  expect(seen.opened).toEqual([`file:///work/${name}`]);
  expect(seen.messages).toMatchObject([{ severity: "info" }]);
});

test("leaves a note of the same name as it is", async () => {
  files.set("file:///work/notes/first-note.md", bytes("mine"));
  starter(fakeContext().context);
  await commands.executeCommand("lares.createStarter");
  await commands.executeCommand("lares.openFirstNote");
  expect(files.get("file:///work/notes/first-note.md")).toEqual(bytes("mine"));
});

test("without a folder it says what to do", async () => {
  workspace.workspaceFolders = undefined;
  starter(fakeContext().context);
  void commands.executeCommand("lares.createStarter");
  await fakeContext().settle();
  expect(seen.messages).toMatchObject([{ text: expect.stringContaining("open a folder first") }]);
});

test("the walkthrough's last step is done with the first change that a person approved", async () => {
  const fake = fakeContext();
  starter(fake.context);
  const isDone = (): boolean => seen.commands.some(({ id }) => id === "setContext");
  fake.actions = [anAction({ state: "Rejected", decided_by: "user" })];
  fake.actionsChanged.fire();
  expect(isDone()).toBe(false);
  const receipt = { applied: [0], finished: "2026-01-01T00:00:00.000Z" };
  fake.actions = [anAction({ state: "Committed", decided_by: "user", receipt })];
  fake.actionsChanged.fire();
  expect(seen.commands).toEqual([{ id: "setContext", arguments: ["lares.hasApprovedChange", true] }]);
  expect(fake.kept.size).toBe(1);
});
