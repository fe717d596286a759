import { describe, expect, test } from "vitest";
import { isLaresError } from "../../base/errors.ts";
import { codeOf } from "../../base/testing/code-of.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import { causedBy, ownAccord, personAt, type Principal } from "../../base/vocabulary/principal.ts";
import { type Bench, agent, everything, program, person } from "../testing/bench.ts";
import { write, move, edit } from "../testing/effects.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
const { put, contentOf, snapshot, stateOf } = useWorkspace((opened) => {
  ({ bench } = opened);
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

  test('an "always" after the end of its action remembers nothing', async () => {
    put("a", "one");
    const { id, digest } = await bench.propose(edit("a", "one", "1"));
    const late = [
      bench.actions.reject(person, id),
      codeOf(bench.actions.approve(person, id, { digest, remember: "always" })),
    ] as const;
    const [rejected, code] = await Promise.all(late);
    expect([rejected.state, code]).toEqual(["Rejected", "IllegalTransition"]);
    expect(bench.remembered).toEqual([]);
  });

  test('an "always" that cannot be remembered leaves the action waiting', async () => {
    put("a", "one");
    const { id, digest } = await bench.propose(edit("a", "one", "1"));
    bench.failsToRemember = true;
    await expect(bench.actions.approve(person, id, { digest, remember: "always" })).rejects.toThrow(
      "no space",
    );
    expect(await bench.actions.get(id)).toMatchObject({ state: "PendingApproval", digest });
    expect([contentOf("a"), bench.actions.pendingCount()]).toEqual(["one", 1]);
    bench.failsToRemember = false;
    await bench.actions.approve(person, id, { digest, remember: "always" });
    expect([contentOf("a"), bench.remembered.length]).toEqual(["1", 1]);
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

describe("editing before approving", () => {
  test("commits the person's content under a new digest, and hides the content from the agent", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"), write("b", "two"));
    const committed = await bench.actions.approve(person, action.id, {
      digest: action.digest,
      edits: [{ effect: 0, content: "mine" }],
    });
    expect(committed).toMatchObject({ state: "Committed", edited_by: "user", id: action.id });
    expect(committed.digest).not.toBe(action.digest);
    expect([contentOf("a"), contentOf("b")]).toEqual(["mine", "two"]);
    await bench.actions.idle();
    expect(bench.ends).toEqual([
      { action: action.id, title: "A test", state: "Committed", paths: ["a", "b"] },
    ]);
    await bench.actions.undo(person, action.id);
    expect(contentOf("a")).toBe("one");
  });

  test("with an old digest is refused; of a changed file makes the action Stale and writes nothing", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    const edits = [{ effect: 0, content: "mine" }];
    const wrong = `sha256:${"1".repeat(64)}` as const;
    expect(await codeOf(bench.actions.approve(person, action.id, { digest: wrong, edits }))).toBe(
      "DigestMismatch",
    );
    put("a", "else");
    expect((await bench.actions.approve(person, action.id, { digest: action.digest, edits })).state).toBe(
      "Stale",
    );
    expect(contentOf("a")).toBe("else");
  });

  test("into something that policy forbids is refused, and the action keeps waiting unchanged", async () => {
    put("a", "one");
    const action = await bench.propose(edit("a", "one", "1"));
    bench.settings.rules = [{ decide: "deny", path: "a" }];
    const edits = [{ effect: 0, content: "mine" }];
    expect(await codeOf(bench.actions.approve(person, action.id, { digest: action.digest, edits }))).toBe(
      "PermissionDenied",
    );
    expect(await bench.actions.get(action.id)).toMatchObject({
      state: "PendingApproval",
      digest: action.digest,
    });
    expect(contentOf("a")).toBe("one");
  });

  test("of an effect without content, of a missing effect, or of one effect twice is refused", async () => {
    put("a", "one");
    const { id, digest } = await bench.propose(move("a", "b"), write("c", ""));
    for (const edits of [
      [{ effect: 0, content: "" }],
      [{ effect: 9, content: "" }],
      [1, 1].map((effect) => ({ effect, content: "" })),
    ])
      expect(await codeOf(bench.actions.approve(person, id, { digest, edits }))).toBe("InvalidParams");
    expect(await stateOf({ id })).toBe("PendingApproval");
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
