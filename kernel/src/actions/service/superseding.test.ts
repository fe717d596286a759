import { describe, expect, test } from "vitest";
import { codeOf } from "../../base/testing/code-of.ts";
import { type Bench, person } from "../testing/bench.ts";
import { write, edit } from "../testing/effects.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
const { put, contentOf, restart, stateOf, proposeAs } = useWorkspace((opened) => {
  ({ bench } = opened);
});

describe("superseding", () => {
  test("a newer proposal supersedes an older one of the same agent for the same paths, not one of another agent", async () => {
    put("a", "one");
    const older = await bench.propose(edit("a", "one", "1"));
    const others = await proposeAs({ effects: [edit("a", "one", "2")] }, "dev.test.other");
    const newer = await bench.propose(edit("a", "one", "3"));
    expect(await bench.actions.get(older.id)).toMatchObject({ state: "Stale", superseded_by: newer.id });
    expect(await stateOf(others)).toBe("PendingApproval");
    expect(bench.actions.pendingCount()).toBe(2);
    await bench.actions.idle();
    expect(bench.ends).toMatchObject([{ action: older.id, state: "Stale", superseded_by: newer.id }]);
    expect(await codeOf(bench.actions.approve(person, older.id, { digest: older.digest }))).toBe(
      "IllegalTransition",
    );
    expect(contentOf("a")).toBe("one");
  });

  test("two tags of one file are different targets", async () => {
    put("a", "one");
    bench.settings.rules = [{ decide: "ask" }];
    const one = await bench.propose({ kind: "tag.add", path: "a", tag: "#one" });
    await bench.propose({ kind: "tag.add", path: "a", tag: "#two" });
    expect(await stateOf(one)).toBe("PendingApproval");
  });

  test("by id: the agent's own waiting or stale action; another agent's is not found, an ended one refused", async () => {
    put("a", "one");
    put("b", "one");
    const waiting = await bench.propose(edit("a", "one", "1"));
    const newer = await proposeAs({ effects: [edit("b", "one", "1")], supersedes: waiting.id });
    expect(newer.supersedes).toBe(waiting.id);
    expect(await bench.actions.get(waiting.id)).toMatchObject({ state: "Stale", superseded_by: newer.id });
    const effects = [edit("a", "one", "2")];
    expect(await codeOf(proposeAs({ effects, supersedes: newer.id }, "dev.test.other"))).toBe("NotFound");
    expect(await codeOf(proposeAs({ effects, supersedes: waiting.id }))).toBe("IllegalTransition");
    await bench.actions.reject(person, newer.id);
    expect(await codeOf(proposeAs({ effects, supersedes: newer.id }))).toBe("IllegalTransition");
    expect(bench.actions.pendingCount()).toBe(0);
  });

  test("a proposal that policy refuses supersedes nothing", async () => {
    put("a", "one");
    const older = await bench.propose(edit("a", "one", "1"));
    bench.settings.rules = [{ decide: "deny", path: "a" }];
    expect((await bench.propose(edit("a", "one", "2"))).state).toBe("Rejected");
    expect(await stateOf(older)).toBe("PendingApproval");
  });

  test("an approval and a newer proposal at the same time: one wins, and nothing is applied unapproved", async () => {
    for (let times = 0; times < 10; times++) {
      put("a", "one");
      const older = await bench.propose(write("a", "older"));
      const [, newer] = await Promise.all([
        bench.actions.approve(person, older.id, { digest: older.digest }).catch(() => null),
        bench.propose(write("a", "newer")),
      ]);
      const state = await stateOf(older);
      expect(contentOf("a")).toBe(state === "Committed" ? "older" : "one");
      expect(["Committed", "Stale"]).toContain(state);
      expect(["PendingApproval", "Stale"]).toContain(await stateOf(newer));
      await bench.actions.reject(person, newer.id).catch(() => null);
    }
  });
});

describe("the key of a proposal", () => {
  test("returns the same action for concurrent and later calls, after its end and after a restart", async () => {
    put("a", "one");
    const request = { effects: [edit("a", "one", "1")], key: "note a" };
    const [one, two] = await Promise.all([proposeAs(request), proposeAs(request)]);
    expect(two.id).toBe(one.id);
    expect(one.key).toBe("note a");
    await bench.actions.reject(person, one.id);
    await restart();
    expect(await proposeAs({ ...request, effects: [write("b", "")] })).toMatchObject({
      id: one.id,
      state: "Rejected",
    });
    expect((await proposeAs(request, "dev.test.other")).id).not.toBe(one.id);
    expect(await bench.actions.list({})).toHaveLength(2);
  });
});
