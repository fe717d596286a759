import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { codeOf } from "../../base/testing/code-of.ts";
import type { Action, EffectInput } from "../../base/vocabulary/action.ts";
import { type Bench, agent, everything, person } from "../testing/bench.ts";
import { edit, lines, move, write } from "../testing/effects.ts";
import { modified } from "../testing/entry-changes.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
let root: string;
const { put, contentOf, heard } = useWorkspace((opened) => {
  ({ bench, root } = opened);
});

describe("rebasing", () => {
  const before = lines("a", "b", "c", "d", "e", "f", "g");
  const goStale = async (now: string, ...effects: EffectInput[]): Promise<Action> => {
    put("note", before);
    const { id } = await bench.propose(...effects);
    put("note", now);
    await heard(modified("note"));
    const stale = await bench.actions.get(id);
    if (stale === null) throw new Error("It is gone.");
    return stale;
  };

  test("merges the change into the new text as a new action, which waits and has a new digest", async () => {
    const stale = await goStale(before.replace("f\n", "F\n"), edit("note", "b\n", "B\n"));
    expect(stale.rebasable).toBe(true);
    const rebased = await bench.actions.rebase(person, stale.id);
    const facts = { state: "PendingApproval", supersedes: stale.id, rebased_by: "user", agent };
    expect(rebased).toMatchObject(facts);
    expect(await bench.actions.get(rebased.id)).toMatchObject(facts);
    expect(rebased.digest).not.toBe(stale.digest);
    expect(await bench.actions.get(stale.id)).toMatchObject({ superseded_by: rebased.id });
    expect((await bench.actions.get(stale.id))?.rebasable).toBe(undefined);
    expect(contentOf("note")).toBe(before.replace("f\n", "F\n"));
    await bench.actions.approve(person, rebased.id, { digest: rebased.digest });
    expect(contentOf("note")).toBe(lines("a", "B", "c", "d", "e", "F", "g"));
  });

  test("waits for a person, even if a rule allows it", async () => {
    const stale = await goStale(before.replace("f\n", "F\n"), edit("note", "b\n", "B\n"));
    bench.settings.rules = [{ decide: "allow" }];
    expect((await bench.actions.rebase(person, stale.id)).state).toBe("PendingApproval");
  });

  test("is refused if policy forbids the result", async () => {
    const stale = await goStale(before.replace("f\n", "F\n"), edit("note", "b\n", "B\n"));
    bench.settings.rules = [{ decide: "deny", path: "note" }];
    expect(await codeOf(bench.actions.rebase(person, stale.id))).toBe("PermissionDenied");
    bench.settings.rules = [];
    bench.authority = { ...everything, effective: { read_entries: true } };
    expect(await codeOf(bench.actions.rebase(person, stale.id))).toBe("PermissionDenied");
  });

  const conflicts: readonly [name: string, now: string][] = [
    ["the same line was changed", before.replace("b\n", "other\n")],
    ["the change was already made", before.replace("b\n", "B\n")],
    ["the file is no longer text", "\0"],
  ];
  test.each(conflicts)("is Stale if %s, and stores nothing", async (_name, now) => {
    const stale = await goStale(now, edit("note", "b\n", "B\n"));
    expect(await codeOf(bench.actions.rebase(person, stale.id))).toBe("Stale");
    expect(await bench.actions.list({})).toHaveLength(1);
    expect((await bench.actions.get(stale.id))?.rebasable).toBe(true);
  });

  test("twice at once makes one new action", async () => {
    const stale = await goStale(before.replace("f\n", "F\n"), edit("note", "b\n", "B\n"));
    const both = await Promise.all([1, 2].map(() => codeOf(bench.actions.rebase(person, stale.id))));
    expect(both.toSorted()).toEqual(["IllegalTransition", "fulfilled"]);
    expect(bench.actions.pendingCount()).toBe(1);
  });

  test("handles a whole text, a move, and an effect on the result of another", async () => {
    put("other", "x");
    const stale = await goStale(
      before.replace("g\n", "G\n"),
      write("note", before.replace("a\n", "A\n")),
      edit("note", "d\n", "D\n"),
      move("other", "moved"),
    );
    const { id, digest } = await bench.actions.rebase(person, stale.id);
    expect((await bench.actions.approve(person, id, { digest })).state).toBe("Committed");
    expect(contentOf("note")).toBe(lines("A", "b", "c", "D", "e", "f", "G"));
    expect(contentOf("moved")).toBe("x");
  });
});

describe("a move of a folder is rebased", () => {
  beforeEach(() => {
    put("photos/a", "one");
    put("photos/b", "one");
  });
  /** Makes the waiting move stale by a change that its agent sees. */
  const seenChange = async (): Promise<void> => {
    put("photos/a", "another size");
    await heard(modified("photos/a"));
  };

  test("if its agent sees all past and present members", async () => {
    const { id } = await bench.propose(move("photos", "album"));
    await seenChange();
    expect(await bench.actions.get(id)).toMatchObject({ state: "Stale", rebasable: true });
    const rebased = await bench.actions.rebase(person, id);
    expect(rebased).toMatchObject({ state: "PendingApproval", supersedes: id });
    await bench.actions.approve(person, rebased.id, { digest: rebased.digest });
    await bench.actions.idle();
    expect(contentOf("album/a")).toBe("another size");
    expect(bench.ends).toEqual([
      { action: id, title: "A test", state: "Failed", paths: ["photos", "album"] },
      { action: rebased.id, title: "A test", state: "Committed", paths: ["photos", "album"] },
    ]);
  });

  test("not if a member was hidden when it was proposed", async () => {
    bench.leftOut.add("hidden");
    put("photos/hidden", "h");
    const { id } = await bench.propose(move("photos", "album"));
    await seenChange();
    const shown = await bench.actions.get(id);
    expect(shown).toMatchObject({ state: "Stale" });
    expect(shown).not.toHaveProperty("rebasable");
    expect(await codeOf(bench.actions.rebase(person, id))).toBe("Stale");
  });

  test("not if a member is hidden now, and the agent does not learn that", async () => {
    bench.leftOut.add("hidden");
    const { id } = await bench.propose(move("photos", "album"));
    await seenChange();
    const proposed = await bench.actions.proposed(id);
    const before = await bench.actions.answerTo(everything, proposed!);
    put("photos/deep/hidden", "h");
    await expect(bench.actions.rebase(person, id)).rejects.toThrow(/cannot see/);
    const after = await bench.actions.proposed(id);
    expect(await bench.actions.answerTo(everything, after!)).toEqual(before);
    expect(bench.ends).toHaveLength(1);
  });

  test("not if only hidden files have changed", async () => {
    bench.leftOut.add("hidden");
    const { id, digest } = await bench.propose(move("photos", "album"));
    put("photos/hidden", "h");
    expect((await bench.actions.approve(person, id, { digest })).state).toBe("Stale");
    rmSync(join(root, "photos/hidden"));
    await expect(bench.actions.rebase(person, id)).rejects.toThrow(/its agent can see/);
  });
});
