import { describe, expect, test } from "vitest";
import { countTurns } from "../../base/testing/count-turns.ts";
import { actionLimits } from "../limits.ts";
import { type Bench, everything, person } from "../testing/bench.ts";
import { write, edit } from "../testing/effects.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
const { put, restart } = useWorkspace((opened) => {
  ({ bench } = opened);
});

describe("the end of an action is delivered to its agent", () => {
  test("once: committed, undone, rejected with the reason, expired", async () => {
    put("a", "one");
    const undone = await bench.perform(edit("a", "one", "1"));
    await bench.actions.undo(person, undone.id);
    const rejected = await bench.propose(write("b", ""));
    await bench.actions.reject(person, rejected.id, "Not in my notes");
    const expired = await bench.propose(write("c", ""));
    bench.clock.advance(bench.settings.expireAfterMs + 1);
    await expect.poll(() => bench.ends.length).toBe(4);
    expect(bench.ends).toEqual([
      { action: undone.id, title: "A test", state: "Committed", paths: ["a"] },
      { action: undone.id, title: "A test", state: "Undone", paths: ["a"] },
      { action: rejected.id, title: "A test", state: "Rejected", paths: ["b"], reason: "Not in my notes" },
      { action: expired.id, title: "A test", state: "Expired", paths: ["c"] },
    ]);
    await restart();
    expect(bench.ends).toEqual([]);
  });

  test("once, even if the kernel died between the end and the delivery", async () => {
    const action = await bench.propose(write("b", ""));
    bench.actions.agentsAreKnown(false);
    await bench.actions.reject(person, action.id, "No");
    expect(bench.ends).toEqual([]);
    await restart();
    expect(bench.ends).toEqual([
      { action: action.id, title: "A test", state: "Rejected", paths: ["b"], reason: "No" },
    ]);
    await restart();
    expect(bench.ends).toEqual([]);
  });

  test("as proposed, if the agent cannot see the files", async () => {
    put("secret/a", "one");
    bench.leftOut.add("secret");
    const action = await bench.propose(write("secret/a", "two"));
    put("secret/a", "changed");
    expect((await bench.actions.approve(person, action.id, { digest: action.digest })).state).toBe("Stale");
    await bench.actions.idle();
    expect(bench.ends).toEqual([
      { action: action.id, title: "A test", state: "Failed", paths: ["secret/a"] },
    ]);
  });
});

test("other work gets its turns while an agent receives an action with many effects", async () => {
  const effects = Array.from({ length: 400 }, (_, index) => write(`new-${index}`, ""));
  const waiting = await bench.propose(...effects);
  const proposed = await bench.actions.proposed(waiting.id);
  const told: Record<string, () => Promise<unknown>> = {
    "an answer": () => bench.actions.answerTo(everything, proposed!),
    "an end": async () => {
      await bench.actions.reject(person, waiting.id);
      await bench.actions.idle();
    },
  };
  bench.hidesMs = 1;
  for (const [what, tell] of Object.entries(told)) {
    let longestMs = 0;
    let lastMs = bench.clock.monotonic();
    const measure = (): void => {
      longestMs = Math.max(longestMs, bench.clock.monotonic() - lastMs);
      lastMs = bench.clock.monotonic();
    };
    const begunMs = lastMs;
    await countTurns(tell, measure);
    measure();
    expect(lastMs - begunMs, what).toBeGreaterThanOrEqual(effects.length);
    // The clock does not run by itself: all of this time was spent on looking at paths.
    expect(longestMs, what).toBeLessThanOrEqual(3 * actionLimits.planSliceMs);
  }
  expect(bench.ends).toMatchObject([{ action: waiting.id, state: "Rejected" }]);
});
