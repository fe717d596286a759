import { createHash } from "node:crypto";
import { commands, Uri } from "vscode";
import { beforeEach, expect, test } from "vitest";
import type { Action } from "../protocol.ts";
import { action as anAction, effect as anEffect } from "../testing/things.ts";
import { fakeContext } from "../testing/context.ts";
import { files, seen, workspace } from "../testing/vscode.ts";
import { maxShownEffects, showChanges, targetOf } from "./show.ts";

beforeEach(() => {
  seen.forget();
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
const hash = `sha256:${createHash("sha256").update(content).digest("hex")}` as const;

test("one effect is a diff; its left side is the file itself where that is unchanged", async () => {
  files.set("file:///work/notes/a.md", content);
  const { id, arguments: given } = await shown(anAction({ effects: [anEffect({ before: hash })] }));
  expect(id).toBe("vscode.diff");
  const [before, after, title] = addresses(given);
  expect(before).toBe("file:///work/notes/a.md");
  expect(after).toMatch(/^lares-change:\/notes\/a\.md\?.*after$/);
  expect(title).toBe("a.md (Lares: Tidy up)");
});

test("a file that has changed is not the left side; a stale proposal says so", async () => {
  files.set("file:///work/notes/a.md", content);
  const { arguments: given } = await shown(anAction({ state: "Stale" }));
  expect(addresses(given)[0]).toMatch(/^lares-change:.*before$/);
  expect(addresses(given)[2]).toMatch(/, stale\)$/);
});

test("what has no two contents is opened as a text", async () => {
  const { id, arguments: given } = await shown(
    anAction({ effects: [anEffect({ kind: "tag.add", tag: "x" })] }),
  );
  expect(id).toBe("vscode.open");
  expect(addresses(given)[0]).toMatch(/a\.md\.txt\?/);
});

test("several effects are shown beside each other, at most so many, and the title counts all of them", async () => {
  const effects = Array.from({ length: maxShownEffects + 1 }, (_, index) =>
    anEffect({ path: `${index}.md` }),
  );
  const { id, arguments: given } = await shown(anAction({ effects, title: "Many\u001b[2J" }));
  expect(id).toBe("vscode.changes");
  expect(given[0]).toBe(`Lares: Many␛[2J, the first ${maxShownEffects} of ${maxShownEffects + 1} changes`);
  expect(given[1]).toHaveLength(maxShownEffects);
});

test("a side that is not there is none, and a move is told in words", async () => {
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

test("without an argument the person picks; an action that is not there is said", async () => {
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
