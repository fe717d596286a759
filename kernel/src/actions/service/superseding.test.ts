import { describe, expect, test } from "vitest";
import { codeOf } from "../../base/testing/code-of.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import type { Actor } from "../../base/vocabulary/principal.ts";
import { agent, type Bench, person } from "../testing/bench.ts";
import { write, edit } from "../testing/effects.ts";
import { modified } from "../testing/entry-changes.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
const { put, contentOf, restart, heard, stateOf, proposeAs } = useWorkspace((opened) => {
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

  describe("a process of a mind", () => {
    const process = (id: string, conversation = "one"): Actor => ({
      kind: "process",
      process: "worker",
      agent,
      conversation,
      id,
    });
    const three = "one\ntwo\nthree\n";
    const proposeFor = (from: string, to: string, ...onBehalfOf: readonly Actor[]): Promise<Action> =>
      proposeAs({ effects: [edit("a", from, to)] }, agent, onBehalfOf);

    test("supersedes its own older proposal, also through another actor", async () => {
      put("a", three);
      const older = await proposeFor("one", "1", process("first"));
      const newer = await proposeFor("one", "I", { kind: "agent", id: "dev.test.other" }, process("first"));
      expect(await bench.actions.get(older.id)).toMatchObject({ state: "Stale", superseded_by: newer.id });
    });

    test.each<[string, readonly Actor[], readonly Actor[]]>([
      ["another process", [process("first")], [process("second")]],
      ["one of another conversation", [process("first", "one")], [process("first", "two")]],
      ["the agent itself", [], [process("first")]],
    ])("leaves a proposal of %s waiting, and the other way round", async (_name, one, other) => {
      put("a", three);
      const proposed = [
        await proposeFor("one", "1", ...one),
        await proposeFor("three", "3", ...other),
        await proposeFor("two", "2", ...one),
      ];
      expect(await Promise.all(proposed.map(stateOf))).toEqual([
        "Stale",
        "PendingApproval",
        "PendingApproval",
      ]);
    });

    test("waits beside another one's: what is approved first makes the other stale, which a person rebases", async () => {
      put("a", three);
      const first = await proposeFor("one", "1", process("first"));
      const second = await proposeFor("three", "3", process("second"));
      await bench.actions.approve(person, first.id, { digest: first.digest });
      await heard(modified("a"));
      expect(contentOf("a")).toBe("1\ntwo\nthree\n");
      const stale = await bench.actions.get(second.id);
      expect(stale).toMatchObject({ state: "Stale", rebasable: true });
      expect(stale?.superseded_by).toBeUndefined();
      const rebased = await bench.actions.rebase(person, second.id);
      expect(rebased).toMatchObject({ state: "PendingApproval", on_behalf_of: second.on_behalf_of });
      expect(contentOf("a")).toBe("1\ntwo\nthree\n");
      await bench.actions.approve(person, rebased.id, { digest: rebased.digest });
      expect(contentOf("a")).toBe("1\ntwo\n3\n");
    });

    test("names a proposal of another process to supersede it", async () => {
      put("a", three);
      const older = await proposeFor("one", "1", process("first"));
      const effects = [edit("a", "three", "3")];
      const newer = await proposeAs({ effects, supersedes: older.id }, agent, [process("second")]);
      expect(await bench.actions.get(older.id)).toMatchObject({ state: "Stale", superseded_by: newer.id });
    });

    test("leaves what another one proposed before a restart", async () => {
      put("a", three);
      const older = await proposeFor("one", "1", process("first"));
      await restart();
      await proposeFor("one", "I", process("second"));
      expect(await stateOf(older)).toBe("PendingApproval");
      await proposeFor("one", "i", process("first"));
      expect(await stateOf(older)).toBe("Stale");
    });
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
