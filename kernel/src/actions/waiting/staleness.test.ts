import { readdirSync, rmSync, existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { EffectInput } from "../../base/vocabulary/action.ts";
import type { EntryChange } from "../../base/vocabulary/event.ts";
import { type Bench, person } from "../testing/bench.ts";
import { write, move, edit } from "../testing/effects.ts";
import { modified, created, deleted, movedFolder } from "../testing/entry-changes.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
let root: string;
const { put, contentOf, restart, heard, stateOf } = useWorkspace((opened) => {
  ({ bench, root } = opened);
});

describe("a waiting action goes stale by itself", () => {
  const cases: readonly [name: string, effects: EffectInput[], change: () => EntryChange[]][] = [
    ["a file that it edits is changed", [edit("a", "one", "1")], () => (put("a", "else"), [modified("a")])],
    [
      "a file that it edits is deleted",
      [edit("a", "one", "1")],
      () => (rmSync(join(root, "a")), [deleted("a")]),
    ],
    [
      "a file that it deletes is changed",
      [{ kind: "file.delete", path: "a" }],
      () => (put("a", "else"), [modified("a")]),
    ],
    [
      "something appears where it makes a file",
      [write("new", "n")],
      () => (put("new", "else"), [created("new")]),
    ],
    ["something appears where it moves a file", [move("a", "b")], () => (put("b", ""), [created("b")])],
    [
      "the folder above a file that it edits is moved",
      [edit("d/in/a", "one", "1")],
      () => (renameSync(join(root, "d"), join(root, "e")), [movedFolder("d", "e")]),
    ],
    [
      "the folder above a file that it edits is deleted",
      [edit("d/in/a", "one", "1")],
      () => (rmSync(join(root, "d"), { recursive: true }), [deleted("d")]),
    ],
    [
      "a file in a folder that it moves is changed",
      [move("d", "e")],
      () => (put("d/in/a", "x"), [modified("d/in/a")]),
    ],
    [
      "a folder that it moves is gone",
      [move("d", "e")],
      () => (rmSync(join(root, "d"), { recursive: true }), [deleted("d")]),
    ],
  ];
  test.each(cases)("when %s", async (_name, effects, change) => {
    put("a", "one");
    put("d/in/a", "one");
    const action = await bench.propose(...effects);
    const announced: string[] = [];
    bench.actions.changed.on(({ id, state }) => void (id === action.id && announced.push(state)));
    expect(bench.actions.pendingCount()).toBe(1);
    await heard(...change());
    expect(announced).toEqual(["Stale"]);
    expect(bench.actions.pendingCount()).toBe(0);
    // A folder may hold files that are hidden from the agent, so the agent is not told why its move failed.
    const told = action.effects[0]?.summary.includes("a folder of") === true ? "Failed" : "Stale";
    expect(bench.ends).toMatchObject([{ action: action.id, state: told }]);
    await restart();
    expect(await stateOf(action)).toBe("Stale");
    expect(bench.actions.pendingCount()).toBe(0);
  });

  test("not when a file is rewritten with the same bytes, or another file is changed", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    put("a", "one");
    put("b", "two");
    await heard(modified("a"), created("b"), deleted("a"), created("a"));
    expect(await stateOf(action)).toBe("PendingApproval");
  });

  test("not for a file that its agent cannot see; the commit notices the change", async () => {
    put("secret/a", "one");
    put("d/secret/a", "one");
    bench.leftOut.add("secret");
    const hidden = await bench.propose(write("secret/a", "two"));
    const moved = await bench.propose(move("d", "e"));
    put("secret/a", "changed");
    put("d/secret/a", "changed");
    await heard(modified("secret/a"), modified("d/secret/a"));
    expect(await stateOf(hidden)).toBe("PendingApproval");
    expect(await stateOf(moved)).toBe("PendingApproval");
    expect(bench.ends).toEqual([]);
    expect((await bench.actions.approve(person, moved.id, { digest: moved.digest })).state).toBe("Stale");
  });

  // The index does not report files that appear before it lists them, and what is hidden from the agent makes no action
  // stale.
  const unheard: readonly [name: string, effects: EffectInput[], change: () => void, path: string][] = [
    ["a file appeared where it creates one", [write("new", "n")], () => put("new", "else"), "new"],
    ["a file appeared at the target of its move", [move("a", "b")], () => put("b", "else"), "b"],
    ["a file that it edits changed", [edit("a", "one", "1")], () => put("a", "else"), "a"],
    [
      "a file that it deletes is gone",
      [{ kind: "file.delete", path: "a" }],
      () => rmSync(join(root, "a")),
      "a",
    ],
    [
      "a hidden file that it writes changed",
      [write("secret/a", "two")],
      () => put("secret/a", "else"),
      "secret/a",
    ],
    [
      "a hidden file came where it makes one",
      [write("secret/new", "n")],
      () => put("secret/new", "else"),
      "secret/new",
    ],
    [
      "a hidden file that it writes is gone",
      [write("secret/a", "two")],
      () => rmSync(join(root, "secret/a")),
      "secret/a",
    ],
    [
      "a hidden file in a folder that it moves changed",
      [move("d", "e")],
      () => put("d/secret/a", "else"),
      "d",
    ],
  ];
  test.each(unheard)(
    "the commit refuses it with the path when %s unheard",
    async (_name, effects, change, path) => {
      for (const file of ["a", "secret/a", "d/secret/a"]) put(file, "one");
      bench.leftOut.add("secret");
      const action = await bench.propose(...effects);
      change();
      const before = new Set(readdirSync(root, { recursive: true, encoding: "utf8" }));
      expect(await stateOf(action)).toBe("PendingApproval");
      const ended = await bench.actions.approve(person, action.id, { digest: action.digest });
      expect(ended.state).toBe("Stale");
      expect(ended.error).toContain(JSON.stringify(path));
      expect(new Set(readdirSync(root, { recursive: true, encoding: "utf8" }))).toEqual(before);
      if (existsSync(join(root, path)) && path !== "d") expect(contentOf(path)).toBe("else");
    },
  );

  test("a file that appeared and disappeared before the commit does not prevent it", async () => {
    const action = await bench.propose(write("new", "n"));
    put("new", "else");
    rmSync(join(root, "new"));
    expect((await bench.actions.approve(person, action.id, { digest: action.digest })).state).toBe(
      "Committed",
    );
    expect(contentOf("new")).toBe("n");
  });

  test("not while the workspace folder itself is missing, nor when it is back", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    renameSync(root, `${root}-away`);
    await heard(deleted("a"));
    expect(await stateOf(action)).toBe("PendingApproval");
    renameSync(`${root}-away`, root);
    await heard(modified("a"));
    expect(await stateOf(action)).toBe("PendingApproval");
  });

  test("if the file changed while the kernel was down, and not if nothing changed", async () => {
    put("a", "one");
    put("b", "one");
    const [changed, same] = [
      await bench.propose(edit("a", "one", "1")),
      await bench.propose(edit("b", "one", "1")),
    ];
    await restart(() => put("a", "else"));
    expect(await stateOf(changed)).toBe("Stale");
    expect(await stateOf(same)).toBe("PendingApproval");
    expect(bench.ends).toMatchObject([{ action: changed.id, state: "Stale" }]);
  });

  test("when the change arrives between its plan and its record", async () => {
    put("a", "one");
    const putObject = bench.objects.put.bind(bench.objects);
    bench.objects.put = async (...parameters: Parameters<typeof putObject>) => {
      // The action is planned, but not in the ledger yet.
      put("a", "else");
      bench.actions.workspaceChanged([modified("a")]);
      return putObject(...parameters);
    };
    const action = await bench.propose(edit("a", "one", "1"));
    await bench.actions.idle();
    expect(await stateOf(action)).toBe("Stale");
  });

  test("either stale or committed when it is approved at the same time; the change is never overwritten", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    put("a", "else");
    bench.actions.workspaceChanged([modified("a")]);
    const approved = bench.actions.approve(person, action.id, { digest: action.digest }).catch(() => null);
    await Promise.all([approved, bench.actions.idle()]);
    await bench.actions.idle();
    expect(await stateOf(action)).toBe("Stale");
    expect(contentOf("a")).toBe("else");
    expect(bench.ends).toMatchObject([{ action: action.id, state: "Stale" }]);
  });

  test("a burst of 10,000 events with 500 waiting actions reads each changed file once", async () => {
    for (let index = 0; index < 500; index++) put(`f/${index}`, "one");
    for (let index = 0; index < 500; index++) await bench.propose(edit(`f/${index}`, "one", "1"));
    let hashes = 0;
    const { hash } = bench.contents;
    bench.contents.hash = (...parameters: Parameters<typeof hash>) => {
      hashes += 1;
      return hash.apply(bench.contents, parameters);
    };
    put("f/7", "else");
    const burst = Array.from({ length: 10_000 }, (_none, index) =>
      modified(index % 2 === 0 ? "f/7" : `other/${index}`),
    );
    await heard(...burst);
    expect(hashes).toBe(1);
    expect(bench.actions.pendingCount()).toBe(499);
  });
});
