import { describe, expect, test } from "vitest";
import { codeOf } from "../base/testing/code-of.ts";
import { actionLimits } from "./limits.ts";
import { type Bench, everything, program, person } from "./testing/bench.ts";
import { lines, write, edit } from "./testing/effects.ts";
import { modified } from "./testing/entry-changes.ts";
import { useWorkspace } from "./testing/workspace.ts";

let bench: Bench;
const { put, contentOf, heard, stateOf, proposeAs } = useWorkspace((opened) => {
  ({ bench } = opened);
});

describe("reading by a commit that policy allowed", () => {
  test("is charged to the agent, except for hidden files", async () => {
    put("a", "one");
    put("secret/a", "one");
    bench.leftOut.add("secret");
    bench.settings.rules = [{ decide: "allow" }];
    const paid: (readonly [path: string, isPaid: boolean])[] = [];
    const budget = { limit: "cpu", allowedMs: 1000, leftMs: () => 1000, charge: () => undefined };
    const { hash } = bench.contents;
    bench.contents.hash = (path, from) => {
      paid.push([path, from === budget]);
      return hash.call(bench.contents, path, from);
    };
    const proposal = { title: "A test", reason: "", effects: [edit("a", "one", "1")] };
    const { action } = await bench.actions.propose(everything, program, proposal, budget);
    expect(action.state).toBe("Committed");
    expect(paid).toEqual([["a", true]]);
    paid.length = 0;
    const { id, digest } = await bench.propose(write("secret/a", "two"));
    await bench.actions.approve(person, id, { digest });
    expect(paid.filter(([, isPaid]) => isPaid)).toEqual([]);
  });
});

describe("work that the kernel does for an agent after it answered the agent's call", () => {
  const { laterCpuMs, laterCpuWindowMs } = actionLimits;
  /** Records the path of each hash that is computed. */
  function hashed(): string[] {
    const paths: string[] = [];
    const { hash } = bench.contents;
    bench.contents.hash = (path, from) => {
      paths.push(path);
      return hash.call(bench.contents, path, from);
    };
    return paths;
  }

  test("comparing a waiting action with a file that keeps changing pauses until time has passed", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    const looked = hashed();
    bench.workCostMs = laterCpuMs / 4;
    for (let times = 0; times < 100; times++) await heard(modified("a"));
    expect(looked).toHaveLength(4);
    put("a", "else");
    await heard(modified("a"));
    expect(await stateOf(action)).toBe("PendingApproval");
    expect(looked).toHaveLength(4);
    bench.clock.advance(laterCpuWindowMs / 2);
    await bench.actions.idle();
    expect(await stateOf(action)).toBe("Stale");
  });

  test("does not delay work for another agent, nor the comparison by the commit", async () => {
    put("a", "one");
    put("b", "one");
    const spent = await bench.propose(edit("a", "one", "1"));
    const other = await proposeAs({ effects: [edit("b", "one", "1")] }, "dev.test.other");
    bench.workCostMs = laterCpuMs;
    await heard(modified("a"));
    put("a", "else");
    put("b", "else");
    await heard(modified("a"), modified("b"));
    expect(await stateOf(spent)).toBe("PendingApproval");
    expect(await stateOf(other)).toBe("Stale");
    expect((await bench.actions.approve(person, spent.id, { digest: spent.digest })).state).toBe("Stale");
    expect(contentOf("a")).toBe("else");
  });

  test("a person's approval, edit and rebase are charged too, but never refused", async () => {
    for (const path of ["a", "b", "c"]) put(path, lines("one", "two", "three", "four", "five", "six"));
    const [one, two, three] = [
      await bench.propose(edit("a", "one", "1")),
      await bench.propose(edit("b", "one", "1")),
      await bench.propose(edit("c", "one", "1")),
    ];
    put("c", lines("one", "two", "three", "four", "five", "6"));
    await heard(modified("c"));
    bench.workCostMs = laterCpuMs * 10;
    expect((await bench.actions.approve(person, one.id, { digest: one.digest })).state).toBe("Committed");
    expect(await codeOf(bench.preview(write("new", "n")))).toBe("LimitExceeded");
    expect(await codeOf(bench.propose(write("new", "n")))).toBe("LimitExceeded");
    const edits = [{ effect: 0, content: "mine" }];
    expect((await bench.actions.approve(person, two.id, { digest: two.digest, edits })).state).toBe(
      "Committed",
    );
    const merged = await bench.actions.rebase(person, three.id);
    expect(merged.state).toBe("PendingApproval");
    // A debt has an upper limit, so a person's decisions cannot block an agent for long.
    bench.clock.advance(laterCpuWindowMs * 2);
    expect((await bench.propose(write("new", "n"))).state).toBe("PendingApproval");
  });

  test.each(["approval", "rebase"])("a person's %s is charged with its cost", async (decision) => {
    put("a", lines("one", "two", "three", "four", "five", "six"));
    const action = await bench.propose(edit("a", "one", "1"));
    if (decision === "rebase") {
      put("a", lines("one", "two", "three", "four", "five", "6"));
      await heard(modified("a"));
    }
    bench.workCostMs = laterCpuMs;
    if (decision === "rebase") await bench.actions.rebase(person, action.id);
    else await bench.actions.approve(person, action.id, { digest: action.digest });
    expect(await codeOf(bench.propose(write("new", "n")))).toBe("LimitExceeded");
  });

  test("work on hidden files has a fixed cost for the agent", async () => {
    put("secret/a", "one");
    bench.leftOut.add("secret");
    const { id, digest } = await bench.propose(write("secret/a", "two"));
    bench.workCostMs = laterCpuMs * 10;
    expect((await bench.actions.approve(person, id, { digest })).state).toBe("Committed");
    expect((await bench.propose(write("new", "n"))).state).toBe("PendingApproval");
  });
});
