import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeOf } from "../../base/testing/code-of.ts";
import type { EffectInput } from "../../base/vocabulary/action.ts";
import { sha256 } from "../../platform/files/hash.ts";
import { type Bench, agent, openBench, person } from "../testing/bench.ts";
import { write, move, remove, edit } from "../testing/effects.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
let root: string;
let folder: string;
const { put, contentOf, snapshot } = useWorkspace((opened) => {
  ({ bench, root, folder } = opened);
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
