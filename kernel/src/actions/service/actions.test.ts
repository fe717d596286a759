import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { isLaresError, storageError } from "../../base/errors.ts";
import type { Action, EffectInput } from "../../base/vocabulary/action.ts";
import { extentWords } from "../../base/vocabulary/impact-words.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import {
  type Actor,
  causedBy,
  ownAccord,
  personAt,
  type Principal,
} from "../../base/vocabulary/principal.ts";
import { sha256 } from "../../platform/files/hash.ts";
import { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { folderSnapshot } from "../../platform/testing/folder-snapshot.ts";
import { digestOf } from "../describe.ts";
import { agent, everything, openBench, program, type Bench, person } from "../testing/bench.ts";

let folder: string;
let root: string;
let bench: Bench;

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "lares-actions-")));
  root = join(folder, "root");
  mkdirSync(root);
  mkdirSync(join(folder, "state"));
  bench = await openBench({ roots: [{ name: "root", path: root }], state: join(folder, "state") });
});
afterEach(async () => {
  await bench[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function restart(): Promise<void> {
  const { clock } = bench;
  await bench[Symbol.asyncDispose]();
  bench = await openBench({ roots: [{ name: "root", path: root }], state: join(folder, "state"), clock });
  await bench.actions.recover();
}

function put(path: string, content: string, mode = 0o644, mtimeSeconds = 1_700_000_000): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
  chmodSync(join(root, path), mode);
  utimesSync(join(root, path), mtimeSeconds, mtimeSeconds);
}

const contentOf = (path: string): string => readFileSync(join(root, path), "utf8");

const snapshot = (): Record<string, string> => folderSnapshot(root);

async function codeOf(running: Promise<unknown>): Promise<string> {
  try {
    await running;
    return "fulfilled";
  } catch (error) {
    return isLaresError(error) ? error.code : `not a LaresError: ${String(error)}`;
  }
}

const write = (path: string, content: string): EffectInput => ({ kind: "file.write", path, content });
const move = (from: string, to: string): EffectInput => ({ kind: "file.move", from, to });
const remove = (path: string): EffectInput => ({ kind: "file.delete", path });
const edit = (path: string, find: string, replace: string): EffectInput => ({
  kind: "file.edit",
  path,
  edits: [{ find, replace }],
});
const tag = (path: string, name: string): EffectInput => ({ kind: "tag.add", path, tag: name });
const field = (path: string, value: unknown): EffectInput => ({
  kind: "field.set",
  path,
  namespace: "test",
  key: "k",
  value,
});

describe("each kind of effect is previewed, waits, is committed, and is undone exactly", () => {
  const cases: readonly [name: string, effects: EffectInput[], summary: RegExp, after: () => void][] = [
    [
      "file.write of a new file with new folders above it",
      [write("x/y/new.txt", "new\n")],
      /^Create x\/y\/new\.txt \(4 B\)$/,
      () => expect(contentOf("x/y/new.txt")).toBe("new\n"),
    ],
    [
      "file.write of bytes",
      [{ kind: "file.write", path: "b.bin", content_base64: "AP8=" }],
      /^Create b\.bin \(2 B\)$/,
      () => expect([...readFileSync(join(root, "b.bin"))]).toEqual([0, 255]),
    ],
    [
      "file.write over a file, whose mode stays",
      [write("d/script.sh", "echo 2\n")],
      /^Overwrite d\/script\.sh \(7 B → 7 B\)$/,
      () => {
        expect(contentOf("d/script.sh")).toBe("echo 2\n");
        expect(lstatSync(join(root, "d/script.sh")).mode & 0o777).toBe(0o755);
      },
    ],
    [
      "file.edit",
      [edit("a.txt", "two", "2")],
      /^Edit a\.txt/,
      () => expect(contentOf("a.txt")).toBe("one\n2\nthree\n"),
    ],
    [
      "file.move into a new folder",
      [move("a.txt", "archive/2026/a.txt")],
      /^Move a\.txt to archive\/2026\/a\.txt$/,
      () => expect(Object.keys(snapshot())).toEqual(expect.arrayContaining(["archive/2026/a.txt"])),
    ],
    [
      "file.move of a folder",
      [move("d", "e/f")],
      /^Move d to e\/f \(a folder of 2 files\)$/,
      () => expect(contentOf("e/f/deep/inner.txt")).toBe("inner"),
    ],
    [
      "file.delete",
      [remove("d/script.sh")],
      /^Delete d\/script\.sh \(7 B\)$/,
      () => expect(snapshot()["d/script.sh"]).toBe(undefined),
    ],
    [
      "folder.create",
      [{ kind: "folder.create", path: "p/q" }],
      /^Create the folder p\/q$/,
      () => expect(snapshot()["p/q"]).toBe("folder"),
    ],
    [
      "folder.create of one that is there",
      [{ kind: "folder.create", path: "d" }],
      /which exists$/,
      () => expect(snapshot()["d"]).toBe("folder"),
    ],
    [
      "several at once",
      [
        write("x/new.txt", "new"),
        edit("a.txt", "one", "1"),
        move("d/deep/inner.txt", "x/inner.txt"),
        remove("d/script.sh"),
      ],
      /./,
      () =>
        expect(Object.keys(snapshot()).toSorted()).toEqual([
          "a.txt",
          "d",
          "d/deep",
          "x",
          "x/inner.txt",
          "x/new.txt",
        ]),
    ],
    [
      "write, then move what was written, then edit it there",
      [write("n.txt", "hello"), move("n.txt", "o/n.txt"), edit("o/n.txt", "hello", "bye")],
      /^Create n\.txt/,
      () => expect(contentOf("o/n.txt")).toBe("bye"),
    ],
    [
      "delete, then write in the same place",
      [remove("d/script.sh"), write("d/script.sh", "other")],
      /^Delete/,
      () => expect(contentOf("d/script.sh")).toBe("other"),
    ],
    [
      "move away, write in its place, delete what was moved",
      [move("a.txt", "b.txt"), write("a.txt", "new a"), remove("b.txt")],
      /^Move/,
      () => expect([contentOf("a.txt"), snapshot()["b.txt"]]).toEqual(["new a", undefined]),
    ],
    [
      "two files change places",
      [move("a.txt", "t"), move("d/script.sh", "a.txt"), move("t", "d/script.sh")],
      /^Move/,
      () => expect([contentOf("a.txt"), contentOf("d/script.sh")]).toEqual(["echo 1\n", "one\ntwo\nthree\n"]),
    ],
    [
      "overwrite twice",
      [write("a.txt", "1"), write("a.txt", "2")],
      /^Overwrite/,
      () => expect(contentOf("a.txt")).toBe("2"),
    ],
    [
      "a folder in place of a deleted file",
      [remove("a.txt"), write("a.txt/inside", "x")],
      /^Delete/,
      () => expect(contentOf("a.txt/inside")).toBe("x"),
    ],
  ];

  test.each(cases)("%s", async (_name, effects, summary, after) => {
    put("a.txt", "one\ntwo\nthree\n");
    put("d/script.sh", "echo 1\n", 0o755, 1_600_000_000.123);
    put("d/deep/inner.txt", "inner", 0o600);
    const before = snapshot();

    const previewed = await bench.preview(...effects);
    expect(previewed.effects[0]?.summary).toMatch(summary);
    expect(await bench.actions.list({})).toEqual([]);

    const action = await bench.propose(...effects);
    expect(action).toMatchObject({ state: "PendingApproval", agent });
    expect(action.effects).toEqual(previewed.effects);
    expect(snapshot()).toEqual(before);

    const committed = await bench.actions.approve(person, action.id, { digest: action.digest });
    expect(committed.error).toBe(undefined);
    expect(committed).toMatchObject({ state: "Committed", decided_by: "user" });
    expect(committed.receipt?.applied).toEqual(effects.map((_effect, index) => index));
    after();
    expect(Object.keys(snapshot()).filter((path) => path.includes(".lares-"))).toEqual([]);

    const undone = await bench.actions.undo(person, action.id);
    expect(undone).toMatchObject({ state: "Undone", undone_by: "user" });
    expect(snapshot()).toEqual(before);
    expect(await codeOf(bench.actions.undo(person, action.id))).toBe("IllegalTransition");
  });

  test("an action has the time of its end: of its commit, then of its undo", async () => {
    put("a.txt", "a");
    const committed = await bench.perform(write("a.txt", "b"));
    expect(Date.parse(committed.ended ?? "")).toBeGreaterThanOrEqual(Date.parse(committed.decided ?? ""));
    bench.clock.advance(60_000);
    const undone = await bench.actions.undo(person, committed.id);
    expect(undone.decided).toBe(committed.decided);
    expect(Date.parse(undone.ended ?? "") - Date.parse(committed.ended ?? "")).toBeGreaterThanOrEqual(60_000);
    const waiting = await bench.propose(write("a.txt", "c"));
    expect(waiting.ended).toBeUndefined();
  });

  test("a moved file keeps its inode", async () => {
    put("a.txt", "a");
    const { ino } = lstatSync(join(root, "a.txt"));
    await bench.perform(move("a.txt", "b/a.txt"));
    expect(lstatSync(join(root, "b/a.txt")).ino).toBe(ino);
  });

  test("an undo keeps a folder that the action created and another program has used since", async () => {
    put("a.txt", "a");
    const { id } = await bench.perform(move("a.txt", "archive/a.txt"));
    put("archive/mine.txt", "mine");
    expect((await bench.actions.undo(person, id)).state).toBe("Undone");
    expect(Object.keys(snapshot()).toSorted()).toEqual(["a.txt", "archive", "archive/mine.txt"]);
  });
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

describe("diffs and content", () => {
  test("texts have a unified diff; binaries and large texts have none", async () => {
    put("a.txt", "one\ntwo\nthree\n");
    put("large.txt", "x".repeat(300_000));
    const { effects } = await bench.preview(
      edit("a.txt", "two", "2"),
      write("new.txt", "new"),
      { kind: "file.write", path: "b.bin", content_base64: "AP8=" },
      write("large.txt", "small"),
      remove("a.txt"),
    );
    expect(effects[0]?.diff).toBe("--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    expect(effects[1]?.diff).toBe(
      "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,1 @@\n+new\n\\ No newline at end of file\n",
    );
    expect(effects[2]?.diff).toBe(undefined);
    expect(effects[3]?.diff).toBe(undefined);
    expect(effects[4]?.diff).toContain("+++ /dev/null");
  });

  test("both sides can be read in pieces, before and after the commit", async () => {
    put("a.txt", "before");
    const action = await bench.propose(write("a.txt", "after!"), remove("a.txt"));
    const read = async (effect: number, side: "before" | "after", offset?: number, length?: number) => {
      const { bytes, eof } = await bench.actions.content(action.id, effect, side, offset, length);
      return [new TextDecoder().decode(bytes), eof];
    };
    expect(await read(0, "before")).toEqual(["before", true]);
    expect(await read(0, "after", 1, 2)).toEqual(["ft", false]);
    expect(await codeOf(bench.actions.content(action.id, 1, "after"))).toBe("NotFound");
    expect(await codeOf(bench.actions.content(action.id, 9, "after"))).toBe("InvalidParams");
    await bench.actions.approve(person, action.id, { digest: action.digest });
    expect(await read(0, "before")).toEqual(["before", true]);
    expect(await read(1, "before")).toEqual(["after!", true]);
  });

  test("a list has at most two megabytes, and the next page begins before its last action", async () => {
    const made: string[] = [];
    for (let count = 0; count < 6; count++) {
      const path = `${count}.md`;
      put(path, "x");
      const effects = Array.from({ length: 150 }, (_, at): EffectInput => ({
        kind: "field.set",
        path,
        namespace: "test",
        key: `k${at}`,
        value: "v".repeat(3500),
      }));
      made.push((await bench.propose(...effects, write(path, "y"))).id);
    }
    const seen: { readonly id: string }[] = [];
    for (let page = await bench.actions.list({}); page.length > 0;) {
      expect(JSON.stringify(page).length).toBeLessThan(2 * 1024 * 1024);
      seen.push(...page);
      page = await bench.actions.list({ before: page.at(-1)?.id ?? "" });
    }
    expect(seen.map(({ id }) => id)).toEqual(made.toReversed());
  });

  test("a list is newest first, filtered, and without diffs; get has them", async () => {
    put("a.txt", "a\n");
    const first = await bench.perform(edit("a.txt", "a", "b"));
    const second = await bench.propose(edit("a.txt", "b", "c"));
    const listed = await bench.actions.list({});
    expect(listed.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(listed.some(({ effects }) => effects.some((effect) => "diff" in effect))).toBe(false);
    expect((await bench.actions.get(first.id))?.effects[0]?.diff).toContain("+b");
    expect((await bench.actions.list({ state: "Committed" })).map(({ id }) => id)).toEqual([first.id]);
    expect(await bench.actions.list({ agent: "nobody" })).toEqual([]);
    expect(await bench.actions.list({ limit: 1 })).toHaveLength(1);
    expect(await bench.actions.get("nothing")).toBe(null);
  });
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

/** Makes the system refuse to give a file this name, which planning cannot foresee. */
function failRenames(name: string): void {
  const { rename } = WorkspaceFiles.prototype;
  const failing = vi.spyOn(WorkspaceFiles.prototype, "rename").mockImplementation(function (
    this: WorkspaceFiles,
    from,
    to,
  ) {
    return rename.call(this, from, to === name ? `n/${"x".repeat(256)}` : to);
  });
  onTestFinished(() => failing.mockRestore());
}

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

test("the preview of a change says that another name of the file keeps the old text", async () => {
  put("a.txt", "one");
  put("b.txt", "one");
  linkSync(join(root, "a.txt"), join(root, "other.txt"));
  const { effects } = await bench.propose(write("a.txt", "two"), write("b.txt", "two"));
  expect(effects.map(({ hard_link: is }) => is)).toEqual([true, undefined]);
  expect(extentWords(effects)).toContain(
    "1 of the files has another name (hard link), which keeps the old text.",
  );
});

describe("approval", () => {
  test("a different digest is refused; repeating a proposal gives a new digest", async () => {
    const one = await bench.propose(write("a.txt", "x"));
    const other = await bench.propose(write("a.txt", "x"));
    expect(one.digest).not.toBe(other.digest);
    expect(await codeOf(bench.actions.approve(person, other.id, { digest: one.digest }))).toBe(
      "DigestMismatch",
    );
    expect(await codeOf(bench.actions.approve(person, "nothing", { digest: one.digest }))).toBe("NotFound");
    expect(bench.actions.pendingCount()).toBe(1);
  });

  test("of a subset applies and records only the subset", async () => {
    const action = await bench.propose(write("a", "a"), write("b", "b"), write("c", "c"));
    const ended = await bench.actions.approve(person, action.id, { digest: action.digest, effects: [2, 0] });
    expect(ended.receipt?.applied).toEqual([0, 2]);
    expect(Object.keys(snapshot()).toSorted()).toEqual(["a", "c"]);
    await bench.actions.undo(person, action.id);
    expect(snapshot()).toEqual({});
  });

  test.each([
    ["an effect that builds on a dropped one", [1]],
    ["none", []],
    ["one that does not exist", [7]],
    ["half of one", [0.5]],
  ])("of a subset with %s is refused and leaves it pending", async (_name, effects) => {
    const action = await bench.propose(write("a", "a"), move("a", "b"), write("c", "c"));
    expect(await codeOf(bench.actions.approve(person, action.id, { digest: action.digest, effects }))).toBe(
      "InvalidParams",
    );
    expect((await bench.actions.get(action.id))?.state).toBe("PendingApproval");
  });

  test("always without rules remembers one rule for each chosen effect and its exact paths", async () => {
    const action = await bench.propose(write("a (1).txt", ""), write("b", ""), write("dropped", ""));
    await bench.actions.approve(person, action.id, {
      digest: action.digest,
      remember: "always",
      effects: [0, 1],
    });
    expect(bench.remembered).toEqual([
      { decide: "allow", agent, kind: "file.write", path: "a (1).txt" },
      { decide: "allow", agent, kind: "file.write", path: "b" },
    ]);
    bench.settings.rules = [...bench.remembered];
    expect((await bench.propose(write("a (1).txt", "2"))).state).toBe("Committed");
    expect((await bench.propose(write("a (2).txt", "2"))).state).toBe("PendingApproval");
  });

  test("always is refused with a reason if an effect is asked each time, and nothing is committed", async () => {
    const { id, digest } = await bench.propose(write("a", ""), write("lares.yaml", ""));
    await expect(bench.actions.approve(person, id, { digest, remember: "always" })).rejects.toMatchObject({
      code: "InvalidParams",
      message: expect.stringContaining('"lares.yaml" is asked each time'),
    });
    expect([bench.remembered, (await bench.actions.get(id))?.state]).toEqual([[], "PendingApproval"]);
    // It works without that effect.
    await bench.actions.approve(person, id, { digest, remember: "always", effects: [0] });
    expect(bench.remembered).toHaveLength(1);
  });

  test("the rules of an offered scope are remembered", async () => {
    const { id, digest } = await bench.propose(write("notes/a", ""));
    const scope = (await bench.actions.get(id))?.scopes?.find((each) => each.id === "session");
    await bench.actions.approve(person, id, { digest, rules: scope?.rules ?? [] });
    const rule = { decide: "allow", agent, kind: "file.write", path: "notes/**", until: "close" };
    expect(bench.remembered).toEqual([rule]);
  });

  const offeredRule = { decide: "allow", agent, kind: "file.write", path: "notes/**" } as const;
  test.each<[string, object, string]>([
    ["a rule for another agent", { rules: [{ ...offeredRule, agent: "x.y" }] }, "was not offered"],
    ["a rule for every agent", { rules: [{ decide: "allow", path: "notes/**" }] }, "was not offered"],
    ["a wider rule", { rules: [{ ...offeredRule, path: "**" }] }, "was not offered"],
    ["a rule that denies", { rules: [{ ...offeredRule, decide: "deny" }] }, "was not offered"],
    ["a rule for an effect that is not chosen", { rules: [offeredRule], effects: [1] }, "none of the chosen"],
    ["an offered rule with remember: once", { rules: [offeredRule], remember: "once" }, "contradict"],
  ])("rules that were not offered are refused: %s", async (_name, approval, message) => {
    const { id, digest } = await bench.propose(write("notes/a", ""), write("b", ""));
    await expect(bench.actions.approve(person, id, { digest, ...approval })).rejects.toMatchObject({
      code: "InvalidParams",
      message: expect.stringContaining(message),
    });
    expect([bench.remembered, (await bench.actions.get(id))?.state]).toEqual([[], "PendingApproval"]);
  });

  test("rules that changed since they were offered are refused", async () => {
    const { id, digest } = await bench.propose(write("notes/a", ""));
    const rules = (await bench.actions.get(id))?.scopes?.[0]?.rules ?? [];
    bench.settings.rules = [{ decide: "ask" }];
    expect(await codeOf(bench.actions.approve(person, id, { digest, rules }))).toBe("InvalidParams");
  });

  test("nobody but a person decides, whoever asks", async () => {
    const { id, digest } = await bench.propose(write("a", ""));
    const others: readonly Principal[] = [
      { kind: "agent", id: agent, lineage: ownAccord },
      { kind: "schedule", agent, schedule: "daily", lineage: causedBy(personAt()) },
      { kind: "kernel", lineage: ownAccord },
    ];
    for (const other of others) {
      expect(await codeOf(bench.actions.approve(other, id, { digest }))).toBe("PermissionDenied");
      expect(await codeOf(bench.actions.reject(other, id))).toBe("PermissionDenied");
      expect(await codeOf(bench.actions.undo(other, id))).toBe("PermissionDenied");
      expect(await codeOf(bench.actions.rebase(other, id))).toBe("PermissionDenied");
    }
    expect((await bench.actions.get(id))?.state).toBe("PendingApproval");
    expect(await bench.actions.approve(person, id, { digest })).toMatchObject({ decided_by: "user" });
  });

  test("a rejected action has the reason and cannot be decided again", async () => {
    const action = await bench.propose(write("a", ""));
    const waiting = bench.actions.settled(action.id);
    expect(await bench.actions.reject(person, action.id, "No thanks")).toMatchObject({
      state: "Rejected",
      rejected_reason: "No thanks",
    });
    expect((await waiting).state).toBe("Rejected");
    expect(bench.actions.pendingCount()).toBe(0);
    expect(snapshot()).toEqual({});
  });

  test("every change of state is announced, without diffs", async () => {
    const states: string[] = [];
    using _listening = bench.actions.changed.on((action: Action) => {
      states.push(action.state);
      expect(action.effects.some((effect) => "diff" in effect)).toBe(false);
    });
    const { id } = await bench.perform(write("a", "text"));
    await bench.actions.undo(person, id);
    expect(states).toEqual(["PendingApproval", "Approved", "Committing", "Committed", "Undone"]);
    expect(bench.touched.filter((path) => path === "a")).toHaveLength(2);
  });
});

describe("policy decides", () => {
  test("an action decided by a rule names the rule and its place", async () => {
    bench.settings.rules = [{ decide: "allow", agent, path: "notes/**" }];
    const { id } = await bench.propose(write("notes/a", ""));
    expect(await bench.actions.get(id)).toMatchObject({
      decided_by: "policy",
      rule: {
        sentence: `By your rule: all changes in "notes/" and its folders by ${agent}.`,
        place: { path: "/rules.yaml", line: 1 },
        decision: "d",
      },
    });
    const asked = await bench.propose(write("b", ""));
    const approved = await bench.actions.approve(person, asked.id, { digest: asked.digest });
    expect([approved.decided_by, approved.rule]).toEqual(["user", undefined]);
  });

  test("an action decided by the threshold names the setting; an expired one names the time", async () => {
    bench.settings.autoApproveBelow = 0.2;
    const { id } = await bench.propose(write("a", ""));
    expect((await bench.actions.get(id))?.rule?.sentence).toBe(
      "Its impact 0.03 is below 0.2 (auto_approve_below: 0.2).",
    );
    const waiting = await bench.propose(write("lares.yaml", ""));
    bench.clock.advance(bench.settings.expireAfterMs + 1);
    expect((await bench.actions.settled(waiting.id)).rule?.sentence).toContain("expire_after");
  });

  test("a waiting action has the reason why it is asked, and the rule that does not apply", async () => {
    bench.settings.rules = [{ decide: "allow", path: "build*" }];
    const { id } = await bench.propose(write("build.sh", ""));
    expect((await bench.actions.get(id))?.asked_because).toEqual({
      sentence:
        'Your rule allows it (all changes matching "build*" by any agent), but "build.sh" is asked each time: Scripts and programs run when they are opened or named.',
      place: { path: "/rules.yaml", line: 1 },
      decision: "d",
    });
    bench.settings.rules = [];
    expect((await bench.actions.get(id))?.asked_because?.sentence).toBe(
      '"build.sh" is asked each time: Scripts and programs run when they are opened or named.',
    );
  });

  test("an agent is told neither rules nor scopes nor why it is asked", async () => {
    bench.settings.rules = [{ decide: "allow", path: "notes/**" }];
    const [asked, allowed] = [await bench.propose(write("a", "")), await bench.propose(write("notes/a", ""))];
    for (const { id } of [asked, allowed]) {
      const told = (await bench.actions.proposed(id))?.action;
      expect([told?.rule, told?.scopes, told?.asked_because]).toEqual([undefined, undefined, undefined]);
    }
    expect([allowed.state, allowed.rule, asked.scopes, asked.asked_because]).toEqual([
      "Committed",
      undefined,
      undefined,
      undefined,
    ]);
  });

  test("an action that a rule allowed waits for the person if the rule is revoked before its commit", async () => {
    bench.settings.rules = [{ decide: "allow" }];
    const announced: [string, string][] = [];
    using _listening = bench.actions.changed.on(({ id, state }: Action) => {
      announced.push([id, state]);
      // The action is stored and allowed, and its commit has not begun.
      if (state === "Approved") bench.settings.rules = [];
    });
    const action = await bench.propose(write("a", ""));
    expect(action.state).toBe("PendingApproval");
    expect(action.decided_by).toBeUndefined();
    expect(snapshot()).toEqual({});
    expect(bench.actions.pendingCount()).toBe(1);
    expect(announced.map(([, state]) => state)).toEqual(["Approved", "PendingApproval"]);
    expect((await bench.actions.approve(person, action.id, { digest: action.digest })).state).toBe(
      "Committed",
    );
  });

  describe("an action that rules allowed for everybody who led to it", () => {
    const callers = (...ids: string[]): Authority[] => ids.map((extension) => ({ ...everything, extension }));
    const allow = (...agents: string[]) => agents.map((agent) => ({ decide: "allow" as const, agent }));
    const calledBy = (id: string): Actor => ({ kind: "agent", id });
    const people = Array.from({ length: 40 }, (_, at): Actor => ({ kind: "person", client: `client ${at}` }));

    test.each<[of: string, revoked: string, lineage: readonly Actor[], state: Action["state"]]>([
      ["nobody", "test.nobody", [calledBy("test.caller"), calledBy("test.first")], "Committed"],
      [
        "its agent",
        everything.extension,
        [calledBy("test.caller"), calledBy("test.first")],
        "PendingApproval",
      ],
      ["the caller", "test.caller", [calledBy("test.caller"), calledBy("test.first")], "PendingApproval"],
      [
        "the caller's caller",
        "test.first",
        [calledBy("test.caller"), calledBy("test.first")],
        "PendingApproval",
      ],
      [
        "an agent in a lineage too long to be stored whole",
        "test.first",
        [calledBy("test.caller"), ...people, calledBy("test.first")],
        "PendingApproval",
      ],
    ])("the rule of %s is revoked before its commit", async (_of, revoked, lineage, state) => {
      const all = allow(everything.extension, "test.caller", "test.first");
      bench.settings.rules = all;
      using _listening = bench.actions.changed.on((changed: Action) => {
        if (changed.state === "Approved") bench.settings.rules = all.filter((rule) => rule.agent !== revoked);
      });
      const { action } = await bench.actions.propose(
        { ...everything, onBehalfOf: callers("test.caller", "test.first") },
        program,
        { title: "T", reason: "", effects: [write("a", "")] },
        undefined,
        { onBehalfOf: lineage },
      );
      expect(action.state).toBe(state);
      expect(Object.keys(snapshot())).toEqual(state === "Committed" ? ["a"] : []);
    });
  });

  test("a rule allows, denies, asks", async () => {
    bench.settings.rules = [
      { decide: "allow", path: "ok/**" },
      { decide: "deny", path: "no/**" },
    ];
    expect(await bench.propose(write("ok/a", "a"))).toMatchObject({
      state: "Committed",
      decided_by: "policy",
    });
    expect(await bench.propose(write("no/a", "a"))).toMatchObject({
      state: "Rejected",
      decided_by: "policy",
    });
    expect(await bench.propose(write("ok/b", "a"), write("else", "a"))).toMatchObject({
      state: "PendingApproval",
    });
    expect(Object.keys(snapshot())).toEqual(["ok", "ok/a"]);
  });

  test("the impact of many small changes adds up for an hour, also across a restart", async () => {
    bench.settings.autoApproveBelow = 0.1;
    expect((await bench.propose(write("1", ""))).state).toBe("Committed");
    expect((await bench.propose(write("2", ""))).state).toBe("Committed");
    await restart();
    bench.settings.autoApproveBelow = 0.1;
    expect((await bench.propose(write("3", ""))).state).toBe("Committed");
    expect((await bench.propose(write("4", ""))).state).toBe("PendingApproval");
    bench.clock.advance(3_600_001);
    expect((await bench.propose(write("5", ""))).state).toBe("Committed");
  });

  test("race: concurrent proposals share the hourly impact", async () => {
    bench.settings.autoApproveBelow = 0.1;
    const all = await Promise.all(
      ["1", "2", "3", "4", "5", "6"].map((name) => bench.propose(write(name, ""))),
    );
    expect(all.filter(({ state }) => state === "Committed")).toHaveLength(3);
    expect(all.filter(({ state }) => state === "PendingApproval")).toHaveLength(3);
  });

  test("a protected path, and a folder that contains one, is asked despite a rule", async () => {
    put("d/.vscode/settings.json", "{}");
    bench.settings.rules = [{ decide: "allow" }];
    expect((await bench.propose(write("lares.yaml", ""))).state).toBe("PendingApproval");
    expect(await bench.propose(move("d", "e"))).toMatchObject({
      state: "PendingApproval",
      impact_score: 0.9,
    });
    expect((await bench.propose(write("other", ""))).state).toBe("Committed");
  });

  describe("executable files are asked despite a rule that allows everything", () => {
    const states = async (...inputs: readonly EffectInput[]): Promise<string[]> => {
      bench.settings.rules = [{ decide: "allow" }];
      const all: string[] = [];
      for (const input of inputs) all.push((await bench.propose(input)).state);
      return all;
    };
    const asked = "PendingApproval";

    test("when a file that can be executed is edited, moved or deleted, also within a folder", async () => {
      for (const path of ["one", "two", "d/three"]) put(path, "x");
      for (const path of ["one", "two", "d/three"]) chmodSync(join(root, path), 0o755);
      expect(
        await states(
          write("one", "y"),
          move("one", "three"),
          remove("two"),
          move("d", "e"),
          write("four", "y"),
        ),
      ).toEqual([asked, asked, asked, asked, "Committed"]);
    });

    test("when a write adds or removes the header of a script or program", async () => {
      put("c.txt", "#!/bin/sh\n");
      expect(
        await states(write("a.txt", "#!/bin/sh\n"), write("b.txt", "# !\n"), write("c.txt", "x\n")),
      ).toEqual([asked, "Committed", asked]);
    });

    test("when a script of a package runs the file, also after a move of its folder", async () => {
      put("web/package.json", JSON.stringify({ scripts: { build: "node tools/build" } }));
      put("web/src/x.js", "x");
      put("web/new/build.js", "x");
      expect(
        await states(
          write("web/src/x.js", "y"),
          write("web/tools/build.js", "y"),
          move("web/new", "web/tools"),
        ),
      ).toEqual(["Committed", asked, asked]);
    });

    test("when a folder would become a repository, at once or step by step", async () => {
      put("docs/o/info/x", "x");
      put("docs/h", "ref: refs/heads/main\n");
      expect(
        await states(
          write("docs/HEAD", "ref: refs/heads/main\n"),
          move("docs/h", "docs/head"),
          move("docs/o", "docs/objects"),
          { kind: "folder.create", path: "docs/refs" },
          write("docs/config", "[core]\n\tfsmonitor = ./x\n"),
        ),
      ).toEqual([asked, asked, asked, asked, asked]);
    });

    test("when a file or a member of a folder is moved to a protected name", async () => {
      put("a", "x");
      put("d/make/Makefile", "x");
      expect(await states(move("a", "AGENTS.md"), move("d", "e"), write("a", "y"))).toEqual([
        asked,
        asked,
        "Committed",
      ]);
    });

    test("but not a tag on such a file", async () => {
      put("Makefile", "x");
      expect(await states(tag("Makefile", "#build"))).toEqual(["Committed"]);
    });
  });

  test("a delete scores less if a copy of the content remains", async () => {
    put("a", "same");
    put("b", "same");
    const alone = await bench.preview(remove("a"));
    bench.copies.set(sha256("same"), ["a", "b"]);
    const copied = await bench.preview(remove("a"));
    expect(copied.impact_score).toBeLessThan(alone.impact_score);
    expect((await bench.preview(remove("a"), remove("b"))).impact_score).toBeGreaterThan(alone.impact_score);
  });
});

describe("a delete that scores less because a copy remains", () => {
  beforeEach(() => {
    put("a", "same");
    put("b", "same");
    bench.copies.set(sha256("same"), ["a", "b"]);
    bench.settings.autoApproveBelow = 0.5;
  });

  test("is stale if the copy was deleted meanwhile, so that no two deletes rely on each other", async () => {
    const both = await Promise.all([bench.propose(remove("a")), bench.propose(remove("b"))]);
    expect(both.map(({ state }) => state).toSorted()).toEqual(["Committed", "Stale"]);
    expect(["a", "b"].filter((path) => path in snapshot())).toHaveLength(1);
  });

  test("is stale if the content of the copy differs from the index", async () => {
    put("b", "another");
    expect(await bench.propose(remove("a"))).toMatchObject({ state: "Stale" });
    expect(contentOf("a")).toBe("same");
  });

  test("does not rely on a copy that the same action changes, in any order", async () => {
    for (const other of [edit("b", "same", "other"), write("b", "x"), move("b", "c")]) {
      const alone = await bench.preview(remove("a"));
      const [before, after] = [
        await bench.preview(other, remove("a")),
        await bench.preview(remove("a"), other),
      ];
      expect(before.impact_score).toBe(after.impact_score);
      expect(before.impact_score).toBeGreaterThan(0.6);
      expect(alone.impact_score).toBeLessThan(0.3);
    }
  });
});

describe("tags, fields and sidecars", () => {
  test("are committed without asking, with the action, and undone", async () => {
    put("a.txt", "a");
    bench.metadata.applied({ kind: "field", path: "a.txt", namespace: "test", key: "k", value: { old: 1 } });
    await bench.database.batch(
      bench.metadata.statements({
        kind: "field",
        path: "a.txt",
        namespace: "test",
        key: "k",
        value: { old: 1 },
      }),
    );
    const before = bench.metadata.all();
    const action = await bench.propose(tag("a.txt", "#one"), field("a.txt", { new: [1, 2] }), {
      kind: "sidecar.write",
      path: "a.txt",
      sidecar: "notes",
      data: { text: "n" },
    });
    expect(action).toMatchObject({ state: "Committed", decided_by: "policy" });
    expect(action.effects[0]).toMatchObject({ before: null, after: sha256('"#one"'), tag: "#one" });
    expect(Object.values(bench.metadata.all())).toEqual([{ new: [1, 2] }, { text: "n" }, "#one"]);
    await restart();
    expect(Object.values(bench.metadata.all())).toHaveLength(3);
    await bench.actions.undo(person, action.id);
    expect(bench.metadata.all()).toEqual(before);
    await restart();
    expect(bench.metadata.all()).toEqual(before);
  });

  test("compose within an action, and null removes a field", async () => {
    put("a.txt", "a");
    const action = await bench.perform(field("a.txt", 1), field("a.txt", 2), tag("a.txt", "t"), {
      kind: "tag.remove",
      path: "a.txt",
      tag: "t",
    });
    expect(action.effects[1]).toMatchObject({ before: sha256("1"), after: sha256("2") });
    expect(Object.values(bench.metadata.all())).toEqual([2]);
    const removed = await bench.perform(field("a.txt", null));
    expect(bench.metadata.all()).toEqual({});
    await bench.actions.undo(person, removed.id);
    expect(Object.values(bench.metadata.all())).toEqual([2]);
    await bench.actions.undo(person, action.id);
    expect(bench.metadata.all()).toEqual({});
  });

  test("are changed together with a file in one action, and not if that fails", async () => {
    put("a.txt", "a");
    const good = await bench.perform(tag("a.txt", "t"), write("a.txt", "b"));
    expect(good.state).toBe("Committed");
    expect(Object.values(bench.metadata.all())).toEqual(["t"]);
    failRenames("n/x");
    const bad = await bench.perform(tag("a.txt", "u"), write("n/x", "b"));
    expect(bad.state).toBe("Failed");
    expect(Object.values(bench.metadata.all())).toEqual(["t"]);
  });

  test("an undo is refused if the value has changed since; an earlier tag stays", async () => {
    put("a.txt", "a");
    const first = await bench.perform(field("a.txt", 1));
    await bench.perform(field("a.txt", 2));
    expect(await codeOf(bench.actions.undo(person, first.id))).toBe("Stale");
    const one = await bench.perform(tag("a.txt", "t"));
    const two = await bench.perform(tag("a.txt", "t"));
    await bench.actions.undo(person, two.id);
    expect(bench.metadata.current("a.txt")?.tags).toEqual(["t"]);
    await bench.actions.undo(person, one.id);
    expect(bench.metadata.current("a.txt")?.tags).toEqual([]);
  });
});

describe("races: exactly one wins, the other gets the current state", () => {
  async function outcomes(...running: Promise<Action>[]): Promise<string[]> {
    const settled = await Promise.allSettled(running);
    return settled.map((result) => {
      if (result.status === "fulfilled") return result.value.state;
      return isLaresError(result.reason)
        ? `${result.reason.code} ${JSON.stringify(result.reason.facts)}`
        : "?";
    });
  }

  test("approve and approve", async () => {
    const { id, digest } = await bench.propose(write("a", "a"));
    const found = await outcomes(
      bench.actions.approve(person, id, { digest }),
      bench.actions.approve(person, id, { digest }),
    );
    expect(found[0]).toBe("Committed");
    expect(found[1]).toMatch(/^IllegalTransition \{"state":"(Approved|Committing|Committed)"\}$/);
  });

  test("approve and reject", async () => {
    const { id, digest } = await bench.propose(write("a", "a"));
    const found = await outcomes(
      bench.actions.approve(person, id, { digest }),
      bench.actions.reject(person, id),
    );
    expect(found[0]).toBe("Committed");
    expect(found[1]).toMatch(/^IllegalTransition/);
  });

  test("reject and approve", async () => {
    const { id, digest } = await bench.propose(write("a", "a"));
    const found = await outcomes(
      bench.actions.reject(person, id),
      bench.actions.approve(person, id, { digest }),
    );
    expect(found).toEqual(["Rejected", 'IllegalTransition {"state":"Rejected"}']);
    expect(snapshot()).toEqual({});
  });

  test("approve and expire: the clock passes while the approval is under way", async () => {
    const { id, digest } = await bench.propose(write("a", "a"));
    const approving = bench.actions.approve(person, id, { digest });
    bench.clock.advance(86_400_000);
    const [outcome] = await outcomes(approving);
    const final = await bench.actions.settled(id);
    expect(outcome === "Committed" ? "Committed" : "Expired").toBe(final.state);
    expect(Object.keys(snapshot())).toEqual(final.state === "Committed" ? ["a"] : []);
  });

  test("expire and approve: the action is overdue before its timer fires", async () => {
    const { id, digest } = await bench.propose(write("a", "a"));
    bench.clock.setNow(bench.clock.now() + 86_400_000);
    expect(await outcomes(bench.actions.approve(person, id, { digest }))).toEqual([
      'IllegalTransition {"state":"Expired"}',
    ]);
  });

  test("undo and undo", async () => {
    const { id } = await bench.perform(write("a", "a"));
    expect(await outcomes(bench.actions.undo(person, id), bench.actions.undo(person, id))).toEqual([
      "Undone",
      'IllegalTransition {"state":"Undone"}',
    ]);
  });

  test("two actions on one file, approved together: the first is Committed, the second Stale", async () => {
    put("a", "0");
    const one = await bench.propose(write("a", "1"));
    // Another agent proposes the second action: the same agent's would supersede the first.
    const other = { ...everything, extension: "dev.test.other" };
    const proposal = { title: "t", reason: "", effects: [write("a", "2")] };
    const { action: two } = await bench.actions.propose(other, program, proposal);
    const found = await outcomes(
      bench.actions.approve(person, one.id, { digest: one.digest }),
      bench.actions.approve(person, two.id, { digest: two.digest }),
    );
    expect(found).toEqual(["Committed", "Stale"]);
    expect(contentOf("a")).toBe("1");
  });

  test("settled is requested while the action ends, and afterwards", async () => {
    const { id, digest } = await bench.propose(write("a", "a"));
    const waiting = [bench.actions.settled(id), bench.actions.settled(id)];
    const approving = bench.actions.approve(person, id, { digest });
    waiting.push(bench.actions.settled(id));
    await approving;
    waiting.push(bench.actions.settled(id));
    expect((await Promise.all(waiting)).map(({ state }) => state)).toEqual(Array(4).fill("Committed"));
    expect(await codeOf(bench.actions.settled("nothing"))).toBe("NotFound");
  });
});

describe("time and restarts", () => {
  test("expires after the configured time, by the clock", async () => {
    bench.settings.expireAfterMs = 60_000;
    const first = await bench.propose(write("a", "a"));
    bench.clock.advance(30_000);
    const second = await bench.propose(write("b", "b"));
    const ended = bench.actions.settled(first.id);
    bench.clock.advance(30_000);
    expect(await ended).toMatchObject({ state: "Expired", decided_by: "policy" });
    expect((await bench.actions.get(second.id))?.state).toBe("PendingApproval");
    const then = bench.actions.settled(second.id);
    bench.clock.advance(30_000);
    expect((await then).state).toBe("Expired");
    expect(bench.actions.pendingCount()).toBe(0);
  });

  test("an action that waited through a restart can be approved, and expires at its own time", async () => {
    put("a", "0");
    const kept = await bench.propose(write("a", "1"));
    const old = await bench.propose(write("b", "1"));
    await bench.actions.reject(person, old.id);
    await restart();
    expect(bench.actions.pendingCount()).toBe(1);
    expect((await bench.actions.approve(person, kept.id, { digest: kept.digest })).state).toBe("Committed");
    const late = await bench.propose(write("c", "1"));
    bench.clock.setNow(bench.clock.now() + 86_400_000);
    await restart();
    expect((await bench.actions.get(late.id))?.state).toBe("Expired");
    expect((await bench.actions.undo(person, kept.id)).state).toBe("Undone");
    expect(contentOf("a")).toBe("0");
  });

  test("a restart deletes exactly the contents that no action needs", async () => {
    put("a", "0");
    const committed = await bench.perform(write("a", "1"));
    const rejected = await bench.propose(write("b", "unwanted"));
    await bench.actions.reject(person, rejected.id);
    expect(await bench.objects.has(sha256("unwanted"))).toBe(true);
    await restart();
    expect(await bench.objects.has(sha256("unwanted"))).toBe(false);
    expect(await bench.objects.has(sha256("0"))).toBe(true);
    await bench.actions.undo(person, committed.id);
  });

  test("after closing, nothing is changed", async () => {
    const { id, digest } = await bench.propose(write("a", "a"));
    const waiting = codeOf(bench.actions.settled(id));
    // The call must be waiting before the shutdown begins.
    await bench.actions.get(id);
    await bench.actions[Symbol.asyncDispose]();
    expect(await waiting).toBe("Busy");
    expect(await codeOf(bench.actions.undo(person, id))).toBe("Busy");
    expect(digest).toMatch(/^sha256:/);
  });
});

describe("what the agent cannot see", () => {
  const ends = (action: Action) => ({ state: action.state, error: action.error });

  test("a folder that contains .git is asked, described like any other, and never moved", async () => {
    mkdirSync(join(root, "repository/.git"), { recursive: true });
    mkdirSync(join(root, "plain"));
    bench.settings.rules = [{ decide: "allow" }];
    const [closed, plain] = [
      await bench.propose(move("repository", "e")),
      await bench.propose(move("plain", "p")),
    ];
    expect([closed.state, plain.state]).toEqual(["PendingApproval", "PendingApproval"]);
    expect(closed.impact_score).toBe(plain.impact_score);
    const ended = await bench.actions.approve(person, closed.id, { digest: closed.digest });
    expect(ends(ended)).toEqual({
      state: "Failed",
      error: "repository → e is closed to every extension.",
    });
    expect(Object.keys(snapshot())).toContain("repository/.git");
  });

  test("a deny rule added after the proposal also applies to a person's approval", async () => {
    put("d/diary.md", "d");
    const action = await bench.propose(move("d", "e"));
    bench.settings.rules = [{ decide: "deny", path: "**/diary.md" }];
    const ended = await bench.actions.approve(person, action.id, { digest: action.digest });
    expect(ends(ended)).toEqual({
      state: "Failed",
      error: "A rule denies file.move of d → e, which reaches d/diary.md.",
    });
    expect(contentOf("d/diary.md")).toBe("d");
  });

  const unseen: readonly [name: string, make: () => void][] = [
    ["nothing", () => undefined],
    ["a file", () => put("hidden", "something long\n".repeat(100))],
    ["a folder", () => put("hidden/inner", "x")],
    ["a link", () => symlinkSync("a.txt", join(root, "hidden"))],
    [
      "a file too large to edit",
      () => (put("hidden", ""), truncateSync(join(root, "hidden"), 65 * 1_048_576)),
    ],
  ];
  test.each(unseen)(
    "if %s is hidden, pending actions count the same, and nothing is lost",
    async (name, make) => {
      bench.leftOut.add("hidden");
      put("a.txt", "a");
      make();
      const before = snapshot();
      const proposal = {
        title: "t",
        reason: "r",
        effects: [write("hidden", "new"), move("a.txt", "hidden2")],
      };
      const { action, agentView } = await bench.actions.propose(everything, program, proposal);
      // Only the hidden one of two effects, and a size that depends only on the proposal.
      expect(agentView).toEqual({ unseen: [0], impact: 0.0688, bytes: expect.any(Number) as number });
      counted.add(agentView?.bytes ?? 0);
      expect(counted.size).toBe(1);
      const ended = await bench.actions.approve(person, action.id, { digest: action.digest });
      expect(ended.state).toBe(name === "nothing" || name === "a file" ? "Committed" : "Stale");
      if (ended.state === "Committed") await bench.actions.undo(person, action.id);
      expect(snapshot()).toEqual(before);
    },
  );
  const counted = new Set<number>();

  test("the agent cannot compute the digest of an action that touches a hidden file", async () => {
    bench.leftOut.add(".env");
    put(".env", "secret");
    const { id, digest, effects } = await bench.propose(write(".env", "x"));
    expect(digest).not.toBe(digestOf(id, agent, program, effects));
    const seen = await bench.propose(write("a.txt", "x"));
    expect(seen.digest).toBe(digestOf(seen.id, agent, program, seen.effects));
  });

  test("only a person can change the files that define what agents see", async () => {
    bench.settings.rules = [{ decide: "allow" }];
    put("d/.gitignore", "*.key\n");
    for (const effect of [write("d/.gitignore", ""), remove("d/.gitignore"), write("new/.gitignore", "")])
      expect((await bench.propose(effect)).state).toBe("PendingApproval");
    expect((await bench.propose(write("d/other", ""))).state).toBe("Committed");
  });
});

test("an agent has at most 1,000 actions waiting", async () => {
  const folderOf = (path: string) => ({
    title: "t",
    reason: "",
    effects: [{ kind: "folder.create" as const, path }],
  });
  for (let times = 0; times < 20; times++)
    await Promise.all(
      Array.from({ length: 50 }, (_none, index) =>
        bench.actions.propose(everything, program, folderOf(`f${times}-${index}`)),
      ),
    );
  await expect(bench.propose(write("a", "a"))).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "pendingPerAgent", value: 1000 },
  });
  // A proposal that supersedes another one needs no room of its own.
  const again = await bench.actions.propose(everything, program, folderOf("f0-0"));
  expect(again.action.state).toBe("PendingApproval");
  const other = { ...everything, extension: "dev.test.other" };
  expect((await bench.actions.propose(other, program, folderOf("f"))).action.state).toBe("PendingApproval");
  expect(bench.actions.pendingCount()).toBe(1001);
});

test("a workspace with two roots: paths begin with the root's name, and a file can be moved between roots", async () => {
  const second = join(folder, "second");
  mkdirSync(second);
  put("a.txt", "a", 0o640);
  const before = snapshot();
  mkdirSync(join(folder, "state2"));
  await using both = await openBench({
    roots: [
      { name: "one", path: root },
      { name: "two", path: second },
    ],
    state: join(folder, "state2"),
  });
  const action = await both.perform(move("one/a.txt", "two/deep/a.txt"), write("two/b.txt", "b"));
  expect(action).toMatchObject({ state: "Committed" });
  expect(snapshot()).toEqual({});
  expect(readFileSync(join(second, "deep/a.txt"), "utf8")).toBe("a");
  expect(lstatSync(join(second, "deep/a.txt")).mode & 0o777).toBe(0o640);
  await both.actions.undo(person, action.id);
  expect(snapshot()).toEqual(before);
  expect(readdirSync(second)).toEqual([]);
  expect(await codeOf(both.propose(write("three/x", "")))).toBe("NotFound");
});

test("any sequence of effects that can be proposed is committed as previewed and undone exactly", async () => {
  const name = fc.constantFrom("a", "b", "d/a", "d/b", "n/m/c");
  const anyEffect: fc.Arbitrary<EffectInput> = fc.oneof(
    fc.tuple(name, fc.constantFrom("x", "y", "")).map(([path, content]) => write(path, content)),
    fc.tuple(name, name).map(([from, to]) => move(from, to)),
    name.map(remove),
    fc.constantFrom("d", "n", "n/m", "e").map((path): EffectInput => ({ kind: "folder.create", path })),
    fc.tuple(fc.constantFrom("d", "n"), fc.constantFrom("e", "d/e")).map(([from, to]) => move(from, to)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(anyEffect, { minLength: 1, maxLength: 7 }), async (effects) => {
      for (const entry of readdirSync(root)) rmSync(join(root, entry), { recursive: true });
      put("a", "first", 0o600, 1_500_000_000.5);
      put("d/b", "second", 0o755);
      const accepted: EffectInput[] = [];
      for (const effect of effects) {
        if ((await codeOf(bench.preview(...accepted, effect))) === "fulfilled") accepted.push(effect);
      }
      if (accepted.length === 0) return;
      const before = snapshot();
      const action = await bench.perform(...accepted);
      expect(action).toMatchObject({ state: "Committed" });
      const last = new Map<string, string | null>();
      for (const { kind, path, from, after } of action.effects) {
        if (kind === "file.move" && from !== undefined) last.set(from, null);
        if (kind !== "folder.create") last.set(path, after);
      }
      for (const [path, hash] of last) {
        const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
        if (stat?.isDirectory() === true) continue;
        expect([path, stat === undefined ? null : sha256(readFileSync(join(root, path)))]).toEqual([
          path,
          hash,
        ]);
      }
      await bench.actions.undo(person, action.id);
      expect(snapshot()).toEqual(before);
    }),
    { numRuns: 30 },
  );
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

describe("the metadata of a file that an action deletes", () => {
  const sidecar = (data: unknown): EffectInput => ({
    kind: "sidecar.write",
    path: "a.txt",
    sidecar: "notes",
    data,
  });

  test("is restored by an undo, also after a restart and for large values", async () => {
    put("a.txt", "a");
    await bench.perform(tag("a.txt", "#one"), field("a.txt", "f".repeat(10_000)), sidecar({ text: "n" }));
    const before = bench.metadata.all();
    const files = snapshot();
    const deleted = await bench.perform(remove("a.txt"));
    expect(bench.metadata.all()).toEqual({});
    await restart();
    await bench.actions.undo(person, deleted.id);
    expect(bench.metadata.all()).toEqual(before);
    expect(snapshot()).toEqual(files);
  });

  test("is restored to its state before the action, which also changed it", async () => {
    put("a.txt", "a");
    await bench.perform(tag("a.txt", "#one"));
    const before = bench.metadata.all();
    const action = await bench.perform(tag("a.txt", "#two"), field("a.txt", 1), remove("a.txt"));
    expect([action.state, bench.metadata.all()]).toEqual(["Committed", {}]);
    await bench.actions.undo(person, action.id);
    expect(bench.metadata.all()).toEqual(before);
  });

  test("is not changed if the same action puts another file at the path", async () => {
    put("a.txt", "a");
    await bench.perform(tag("a.txt", "#one"));
    const action = await bench.perform(remove("a.txt"), write("a.txt", "b"));
    await bench.perform(tag("a.txt", "#two"));
    await bench.actions.undo(person, action.id);
    expect(contentOf("a.txt")).toBe("a");
    expect(bench.metadata.current("a.txt")?.tags).toEqual(["#one", "#two"]);
  });
});

describe("the storage of actions is bounded", () => {
  const MiB = 1_048_576;
  const sidecar = (data: unknown): EffectInput => ({
    kind: "sidecar.write",
    path: "a.txt",
    sidecar: "notes",
    data,
  });
  const large = (at: number): string => String(at).padEnd(MiB - 2, "x");
  const ledgerBytes = async (): Promise<number> => {
    const [row] = await bench.database.query<{ bytes: number }>(
      "SELECT sum(octet_length(body) + octet_length(diffs) + coalesce(octet_length(inverse), 0)) AS bytes FROM actions",
    );
    return row?.bytes ?? 0;
  };

  test("a large field or sidecar is stored as an object, shown by its hash, committed and undone", async () => {
    put("a.txt", "a");
    const first = await bench.perform(field("a.txt", "f".repeat(5000)), sidecar(large(1)));
    const second = await bench.perform(sidecar(large(2)));
    expect(await ledgerBytes()).toBeLessThan(5000);
    expect(first.effects[0]).not.toHaveProperty("value");
    expect(first.effects[0]).toMatchObject({ after: sha256(JSON.stringify("f".repeat(5000))) });
    const { bytes, eof } = await bench.actions.content(second.id, 0, "after", 0, MiB);
    expect([new TextDecoder().decode(bytes), eof]).toEqual([JSON.stringify(large(2)), true]);
    await restart();
    await bench.actions.undo(person, second.id);
    expect(Object.values(bench.metadata.all())).toEqual(["f".repeat(5000), large(1)]);
    await bench.actions.undo(person, first.id);
    expect(bench.metadata.all()).toEqual({});
  });

  test("after 30 days an ended action loses its contents, even if a person decided it", async () => {
    put("a.txt", "0");
    await bench.actions.recover();
    const old = await bench.perform(write("a.txt", "1"));
    bench.clock.advance(15 * 86_400_000);
    const young = await bench.perform(write("a.txt", "2"));
    bench.clock.advance(15 * 86_400_000 + 3_600_001);
    await vi.waitFor(async () => expect(await bench.objects.has(sha256("0"))).toBe(false));
    await bench.actions.undo(person, young.id);
    expect(contentOf("a.txt")).toBe("1");
    await expect(bench.actions.undo(person, old.id)).rejects.toMatchObject({ code: "NotFound" });
  });

  test("records without contents: a bounded number per agent is kept, the newest", async () => {
    put("a.txt", "a");
    const { id } = await bench.propose(tag("a.txt", "t"));
    await bench.database.batch([
      {
        sql: `WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 10100)
              INSERT INTO actions (id, agent, state, created, decided, body, diffs, ended, contents_kept)
              SELECT 'old-' || n.at, agent, state, created, decided, body, diffs, n.at, 1 FROM n, actions WHERE id = ?`,
        params: [id],
      },
    ]);
    await restart();
    const rows = await bench.database.query<{ id: string }>("SELECT id FROM actions ORDER BY ended");
    expect([rows.length, rows[0]?.id, rows.at(-1)?.id]).toEqual([10_001, "old-101", id]);
  });

  test("waiting proposals: their total per agent is bounded, through a restart, until some are decided", async () => {
    put("a.txt", "a");
    const text = (at: number): string => String(at).padEnd(8 * MiB, "x");
    const waiting: Action[] = [];
    for (let at = 0; at < 7; at++) waiting.push(await bench.propose(write(`f${at}`, text(at))));
    await expect(bench.propose(write("f8", text(8)))).rejects.toMatchObject({
      code: "LimitExceeded",
      facts: { limit: "pendingBytesPerAgent" },
    });
    expect(await bench.objects.has(sha256(text(8)))).toBe(false);
    await restart();
    expect(await codeOf(bench.propose(write("f8", text(8))))).toBe("LimitExceeded");
    await bench.actions.reject(person, waiting[0]?.id ?? "");
    expect((await bench.propose(write("f8", text(8)))).state).toBe("PendingApproval");
  });

  test("race: a sweep removes nothing that a proposal is just storing", async () => {
    put("a.txt", "a");
    const text = "the same".padEnd(MiB, "x");
    for (let round = 0; round < 5; round++) {
      const gone = await bench.propose(write("b.txt", text));
      await bench.actions.reject(person, gone.id);
      const [, action] = await Promise.all([bench.actions.recover(), bench.propose(write("b.txt", text))]);
      expect((await bench.actions.approve(person, action.id, { digest: action.digest })).state).toBe(
        "Committed",
      );
      await bench.actions.undo(person, action.id);
    }
  });

  test("the diffs of an action in total", async () => {
    const lines = (mark: string): string => `${mark}\n`.repeat(60_000);
    const effects = Array.from({ length: 30 }, (_, at) => write(`f${at}`, lines(String(at))));
    const { effects: seen } = await bench.preview(...effects);
    const diffs = seen.flatMap(({ diff }) => diff ?? []);
    expect(diffs.length).toBeGreaterThan(10);
    expect(diffs.join("").length).toBeLessThan(5 * MiB);
  });
});

describe("the diff of one effect", () => {
  test("is computed on demand if the action's diffs had no room for it", async () => {
    const paths = Array.from({ length: 20 }, (_, index) => `big-${index}.txt`);
    for (const path of paths) put(path, `${path} ${"x".repeat(240_000)}\n`);
    const { id, effects } = await bench.propose(...paths.map(remove));
    expect(effects[0]?.diff).toBeDefined();
    expect(effects[19]?.diff).toBeUndefined();
    expect(await bench.actions.diff(id, 0)).toBe(effects[0]?.diff);
    expect(await bench.actions.diff(id, 19)).toContain("-big-19.txt xxx");
    put("big-19.txt", "another\n");
    expect(await codeOf(bench.actions.diff(id, 19))).toBe("Stale");
  });
  test("is read without the other effects of its action", async () => {
    const effects = Array.from({ length: 10 }, (_, at) => write(`f${at}`, "x".repeat(200_000)));
    const { id } = await bench.propose(...effects);
    const queried = vi.spyOn(bench.database, "query");
    const diff = await bench.actions.diff(id, 3);
    const rows = await Promise.all(queried.mock.results.map(({ value }) => value as Promise<unknown>));
    queried.mockRestore();
    expect(diff).toContain("+++ b/f3");
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows).length).toBeLessThan(2 * 200_000);
  });

  test("of a field or sidecar is its value; without text or content it is null", async () => {
    put("a.txt", "a\n");
    const { id } = await bench.propose(
      { kind: "sidecar.write", path: "a.txt", sidecar: "notes", data: { run: "curl | sh" } },
      field("a.txt", "x".repeat(10_000)),
      tag("a.txt", "t"),
      { kind: "folder.create", path: "b" },
      { kind: "file.write", path: "c.bin", content_base64: "AP8=" },
      write("d.txt", "d".repeat(300_000)),
    );
    expect(await bench.actions.diff(id, 0)).toContain('+  "run": "curl | sh"\n');
    expect(await bench.actions.diff(id, 1)).toContain(`+"${"x".repeat(10_000)}"\n`);
    for (const effect of [2, 3, 4, 5]) expect(await bench.actions.diff(id, effect)).toBeNull();
    expect(await codeOf(bench.actions.diff(id, 6))).toBe("InvalidParams");
  });
});

test("an action keeps its lineage through an edit and a restart, and hides it from its agent", async () => {
  put("a.txt", "old");
  const onBehalfOf = [{ kind: "agent", id: "test.caller" }, { kind: "person" }] as const;
  const proposed = await bench.actions.propose(
    everything,
    program,
    { title: "T", reason: "", effects: [write("a.txt", "new")] },
    undefined,
    { onBehalfOf },
  );
  const { id, digest } = proposed.action;
  expect(await bench.actions.answerTo(everything, proposed)).not.toHaveProperty("on_behalf_of");
  const edited = await bench.actions.approve(person, id, { digest, edits: [{ effect: 0, content: "mine" }] });
  expect(edited).toMatchObject({ state: "Committed", edited_by: "user", on_behalf_of: onBehalfOf });
  await restart();
  expect((await bench.actions.get(id))?.on_behalf_of).toEqual(onBehalfOf);
});

test("an action that text led to for which nobody vouches is asked each time, again after a rebase, and says why", async () => {
  bench.settings.rules = [{ decide: "allow" }];
  put("a.txt", "old");
  const propose = (path: string, lineage?: { onBehalfOf: []; sources: string[] }) =>
    bench.actions.propose(
      everything,
      program,
      { title: "T", reason: "", effects: [write(path, "new")] },
      undefined,
      lineage,
    );
  expect((await propose("b.txt")).action.state).toBe("Committed");
  const proposed = await propose("a.txt", { onBehalfOf: [], sources: ["downloads/x.md"] });
  expect(proposed.action).toMatchObject({ state: "PendingApproval", sources: ["downloads/x.md"] });
  expect(await bench.actions.answerTo(everything, proposed)).not.toHaveProperty("sources");
  const shown = await bench.actions.get(proposed.action.id);
  expect(JSON.stringify(shown)).toContain("because of text from");
});
