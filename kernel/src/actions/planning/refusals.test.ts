import { lstatSync, mkdirSync, symlinkSync, truncateSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { codeOf } from "../../base/testing/code-of.ts";
import type { EffectInput } from "../../base/vocabulary/action.ts";
import { sha256 } from "../../platform/files/hash.ts";
import { type Bench, everything, person } from "../testing/bench.ts";
import { write, move, remove, edit, tag, field } from "../testing/effects.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
let root: string;
let folder: string;
const { put, snapshot } = useWorkspace((opened) => {
  ({ bench, root, folder } = opened);
});

describe("refused proposals", () => {
  const refusals: readonly [name: string, effects: EffectInput[], code: string][] = [
    ["an edit whose text is absent", [edit("a.txt", "zebra", "x")], "InvalidParams"],
    ["an edit whose text is ambiguous", [edit("a.txt", "e", "x")], "InvalidParams"],
    ["an edit of a missing file", [edit("missing", "e", "x")], "NotFound"],
    ["an edit of a file that is not text", [edit("binary", "e", "x")], "InvalidParams"],
    ["an edit of a folder", [edit("d", "e", "x")], "InvalidParams"],
    [
      "a second edit whose text the first one took",
      [edit("a.txt", "two", "2"), edit("a.txt", "two", "2")],
      "InvalidParams",
    ],
    ["a write over a folder", [write("d", "x")], "InvalidParams"],
    ["a write beneath a file", [write("a.txt/x", "x")], "InvalidParams"],
    [
      "a write that expects another content",
      [{ kind: "file.write", path: "a.txt", content: "", expected: sha256("?") }],
      "Stale",
    ],
    [
      "a write that expects nothing there",
      [{ kind: "file.write", path: "a.txt", content: "", expected: null }],
      "Stale",
    ],
    ["bytes that are not base64", [{ kind: "file.write", path: "n", content_base64: "§" }], "InvalidParams"],
    ["text that is not Unicode", [write("n", "\ud800")], "InvalidParams"],
    ["a move of a missing file", [move("missing", "x")], "NotFound"],
    ["a move onto a file", [move("a.txt", "d/b.txt")], "InvalidParams"],
    ["a move onto itself", [move("a.txt", "./a.txt")], "InvalidParams"],
    ["a folder into itself", [move("d", "d/e")], "InvalidParams"],
    ["a delete of a folder", [remove("d")], "InvalidParams"],
    ["a delete of a file that an earlier effect deleted", [remove("a.txt"), remove("a.txt")], "NotFound"],
    ["a folder at the path of a file", [{ kind: "folder.create", path: "a.txt" }], "InvalidParams"],
    ["a moved folder that another effect changes", [write("d/x", ""), move("d", "e")], "InvalidParams"],
    ["a change in a folder that was moved", [move("d", "e"), write("e/x", "")], "InvalidParams"],
    ["a path into .git", [write("repository/.git/config", "")], "ScopeViolation"],
    ["a path out of the workspace", [write("../x", "")], "ScopeViolation"],
    ["the workspace itself", [remove(".")], "ScopeViolation"],
    ["a link", [write("link", "x")], "ScopeViolation"],
    ["a path through a link", [write("out/x", "x")], "ScopeViolation"],
    ["a tag on a missing file", [tag("missing", "t")], "NotFound"],
    ["a tag on a file that this action creates", [write("n", ""), tag("n", "t")], "InvalidParams"],
    ["an undefined field", [field("a.txt", () => 1)], "InvalidParams"],
  ];

  test.each(refusals)("%s", async (_name, effects, code) => {
    put("a.txt", "one\ntwo\nthree\n");
    put("d/b.txt", "b");
    put("binary", "e\0");
    mkdirSync(join(root, "repository/.git"), { recursive: true });
    symlinkSync("a.txt", join(root, "link"));
    symlinkSync(folder, join(root, "out"));
    const before = snapshot();
    expect(await codeOf(bench.propose(...effects))).toBe(code);
    expect(await bench.actions.list({})).toEqual([]);
    expect(snapshot()).toEqual(before);
  });

  test("an effect without permission, by the same rules as every host call", async () => {
    bench.authority = { ...everything, effective: { propose_actions: ["file.move"] } };
    expect(await codeOf(bench.propose(write("a", "")))).toBe("PermissionDenied");
    expect(await codeOf(bench.preview(tag("a", "t")))).toBe("PermissionDenied");
  });
});

test.each([
  write(`new/${"ä".repeat(128)}/a.txt`, "x"),
  write("x".repeat(256), "x"),
  move("a.txt", "x".repeat(303)),
  { kind: "folder.create", path: "x".repeat(256) } as const,
])("a name that no file system takes is refused before a person is asked", async (effect) => {
  put("a.txt", "one");
  await expect(bench.propose(effect)).rejects.toMatchObject({
    code: "InvalidParams",
    message: expect.stringMatching(/(256|303) bytes.*at most 255.*shorter/) as string,
  });
  expect((await bench.perform(write("x".repeat(255), "x"))).state).toBe("Committed");
});

describe("files that are too large to be read", () => {
  const huge = 3e12;
  const grow = (path: string): void => truncateSync(join(root, path), huge);

  test.each([
    ["written", write("huge", "x"), "previewFileBytes"],
    ["edited", edit("huge", "a", "b"), "previewFileBytes"],
    [
      "written as expected",
      { ...write("huge", "x"), expected: sha256("") } as EffectInput,
      "previewFileBytes",
    ],
    ["deleted", remove("huge"), "preimageBytes"],
  ])("are not %s, which is said at once", async (_how, effect, limit) => {
    put("huge", "");
    grow("huge");
    await expect(bench.preview(effect)).rejects.toMatchObject({
      code: "LimitExceeded",
      facts: { limit, value: huge },
    });
  });

  test("are tagged and moved, identified by inode, size and time; a change makes a move Stale", async () => {
    put("huge", "");
    grow("huge");
    utimesSync(join(root, "huge"), 1_700_000_000, 1_700_000_000);
    expect((await bench.perform(tag("huge", "large"))).state).toBe("Committed");
    const moved = await bench.perform(move("huge", "archive/huge"));
    expect(moved.state).toBe("Committed");
    await bench.actions.undo(person, moved.id);
    const late = await bench.propose(move("huge", "archive/huge"));
    utimesSync(join(root, "huge"), 1_700_000_001, 1_700_000_001);
    expect((await bench.actions.approve(person, late.id, { digest: late.digest })).state).toBe("Stale");
    expect(lstatSync(join(root, "huge")).size).toBe(huge);
  });
});
