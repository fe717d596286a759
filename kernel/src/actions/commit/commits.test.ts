import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { storageError } from "../../base/errors.ts";
import { codeOf } from "../../base/testing/code-of.ts";
import type { EffectInput } from "../../base/vocabulary/action.ts";
import { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { type Bench, everything, person } from "../testing/bench.ts";
import { write, move, remove, edit, field } from "../testing/effects.ts";
import { failRenames } from "../testing/fail-renames.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
let root: string;
const { put, contentOf, snapshot } = useWorkspace((opened) => {
  ({ bench, root } = opened);
});

describe("a difference between preview and commit makes the action Stale, and nothing changes", () => {
  const drifts: readonly [name: string, effects: EffectInput[], drift: () => void][] = [
    ["the file was changed", [write("a.txt", "x")], () => put("a.txt", "changed")],
    ["the file was deleted", [edit("a.txt", "one", "1")], () => rmSync(join(root, "a.txt"))],
    [
      "the file became a folder",
      [remove("a.txt")],
      () => (rmSync(join(root, "a.txt")), mkdirSync(join(root, "a.txt"))),
    ],
    ["the new file exists already", [write("new", "x")], () => put("new", "somebody else's")],
    ["the target of a move exists already", [move("a.txt", "b.txt")], () => put("b.txt", "somebody else's")],
    ["the moved file was changed", [move("a.txt", "b.txt")], () => put("a.txt", "changed")],
    ["something in the moved folder was changed", [move("d", "e")], () => put("d/inner", "changed")],
    ["something was added to the moved folder", [move("d", "e")], () => put("d/more", "")],
    [
      "the file was swapped for a link",
      [write("a.txt", "x")],
      () => (rmSync(join(root, "a.txt")), symlinkSync("d/inner", join(root, "a.txt"))),
    ],
    [
      "its folder was swapped for a link that leads out",
      [write("d/inner", "x")],
      () => (rmSync(join(root, "d"), { recursive: true }), symlinkSync(tmpdir(), join(root, "d"))),
    ],
    ["a folder above the new file has become a file", [write("n/new", "x")], () => put("n", "file")],
    ["the file is open with unsaved changes", [write("a.txt", "x")], () => void bench.unsaved.add("a.txt")],
    [
      "the file that is to be made is open in an editor, and was never saved",
      [write("n/new", "x")],
      () => void bench.unsaved.add("n/new"),
    ],
    [
      "the place it is to be moved to is open in an editor, and was never saved",
      [move("a.txt", "n.txt")],
      () => void bench.unsaved.add("n.txt"),
    ],
    [
      "a file in the moved folder is open with unsaved changes",
      [move("d", "e")],
      () => void bench.unsaved.add("d/inner"),
    ],
    [
      "only the second of two files was changed",
      [write("b.txt", "x"), write("a.txt", "x")],
      () => put("a.txt", "changed"),
    ],
    [
      "the field was set by somebody else",
      [field("a.txt", 2)],
      () => bench.metadata.applied({ kind: "field", path: "a.txt", namespace: "test", key: "k", value: 9 }),
    ],
  ];

  test.each(drifts)("%s", async (_name, effects, drift) => {
    put("a.txt", "one\n");
    put("d/inner", "inner");
    bench.settings.rules = [{ decide: "ask" }];
    const action = await bench.propose(...effects);
    drift();
    const before = snapshot();
    const ended = await bench.actions.approve(person, action.id, { digest: action.digest });
    expect(ended.state).toBe("Stale");
    expect(ended.error).toMatch(/nothing was written|link/i);
    expect(snapshot()).toEqual(before);
    expect(await codeOf(bench.actions.approve(person, action.id, { digest: action.digest }))).toBe(
      "IllegalTransition",
    );
    expect(await codeOf(bench.actions.undo(person, action.id))).toBe("IllegalTransition");
  });

  test("an undo after a change is refused with Stale {path}, and nothing changes", async () => {
    put("a.txt", "one");
    put("b.txt", "b");
    const { id } = await bench.perform(write("a.txt", "two"), remove("b.txt"));
    put("a.txt", "three");
    const before = snapshot();
    await expect(bench.actions.undo(person, id)).rejects.toMatchObject({
      code: "Stale",
      facts: { path: "a.txt" },
    });
    expect(snapshot()).toEqual(before);
    put("a.txt", "two");
    expect((await bench.actions.undo(person, id)).state).toBe("Undone");
    expect([contentOf("a.txt"), contentOf("b.txt")]).toEqual(["one", "b"]);
  });

  test("an undo of a folder's move is refused if the folder has new members", async () => {
    put("d/a.txt", "a");
    const { id } = await bench.perform(move("d", "e"));
    put("e/private/diary.md", "mine");
    const before = snapshot();
    expect(await codeOf(bench.actions.undo(person, id))).toBe("Stale");
    expect(snapshot()).toEqual(before);
  });

  test("a rule added after the commit restrains agents, not the person who undoes it", async () => {
    put("a.txt", "one");
    const { id } = await bench.perform(write("a.txt", "two"));
    bench.settings.rules = [{ decide: "deny", path: "a.txt" }];
    expect((await bench.actions.undo(person, id)).state).toBe("Undone");
    expect(contentOf("a.txt")).toBe("one");
  });

  test("an undo of a delete is refused if the path exists again", async () => {
    put("a.txt", "one");
    const { id } = await bench.perform(remove("a.txt"));
    put("a.txt", "new");
    expect(await codeOf(bench.actions.undo(person, id))).toBe("Stale");
    expect(contentOf("a.txt")).toBe("new");
  });

  test("a permission that was revoked since is noticed by the commit", async () => {
    const action = await bench.propose(write("a.txt", "x"));
    bench.authority = { ...everything, locations: ["elsewhere"] };
    const ended = await bench.actions.approve(person, action.id, { digest: action.digest });
    expect(ended).toMatchObject({ state: "Failed" });
    expect(ended.error).toMatch(/outside the locations/);
    expect(snapshot()).toEqual({});
  });

  test("an extension that was removed cannot act", async () => {
    const action = await bench.propose(write("a.txt", "x"));
    bench.authority = null;
    expect((await bench.actions.approve(person, action.id, { digest: action.digest })).state).toBe("Failed");
  });
});

test("a commit that fails half-way is Failed and rolled back", async () => {
  put("a.txt", "one", 0o640);
  put("b.txt", "b");
  const before = snapshot();
  failRenames("n/x");
  const action = await bench.perform(
    write("a.txt", "two"),
    remove("b.txt"),
    write("m/x", "new"),
    move("m/x", "n/x"),
  );
  expect(action.state).toBe("Failed");
  expect(action.error).toMatch(/name is too long/i);
  expect(action.error).not.toMatch(/\.lares-|\/proc\//);
  expect(snapshot()).toEqual(before);
  expect((await bench.perform(write("a.txt", "three"))).state).toBe("Committed");
});

test("the error of a commit names the files of the action, not those that it writes meanwhile", async () => {
  const full = vi
    .spyOn(WorkspaceFiles.prototype, "writeNew")
    .mockImplementationOnce((path) => Promise.reject(storageError(`${JSON.stringify(path)}: it is full.`)));
  onTestFinished(() => full.mockRestore());
  expect((await bench.perform(write("a.txt", "two"))).error).toBe('"a.txt": it is full.');
});
