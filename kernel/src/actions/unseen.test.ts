import { mkdirSync, symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Action } from "../base/vocabulary/action.ts";
import { digestOf } from "./describe.ts";
import { type Bench, agent, everything, program, person } from "./testing/bench.ts";
import { write, move, remove } from "./testing/effects.ts";
import { useWorkspace } from "./testing/workspace.ts";

let bench: Bench;
let root: string;
const { put, contentOf, snapshot } = useWorkspace((opened) => {
  ({ bench, root } = opened);
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
