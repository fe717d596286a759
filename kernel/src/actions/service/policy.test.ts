import { chmodSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import type { Action, EffectInput } from "../../base/vocabulary/action.ts";
import type { Authority } from "../../base/vocabulary/permissions.ts";
import type { Actor } from "../../base/vocabulary/principal.ts";
import { sha256 } from "../../platform/files/hash.ts";
import { type Bench, agent, everything, program, person } from "../testing/bench.ts";
import { write, move, remove, edit, tag } from "../testing/effects.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
let root: string;
const { put, contentOf, snapshot, restart } = useWorkspace((opened) => {
  ({ bench, root } = opened);
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

  test("a proposal whose cause is stopped while it is planned is neither made nor kept, although a rule allows it", async () => {
    bench.settings.rules = [{ decide: "allow", agent, path: "notes/**" }];
    const before = snapshot();
    const proposed = bench.propose(write("notes/a", ""));
    bench.isStopped = true;
    await expect(proposed).rejects.toMatchObject({ code: "RequestCancelled" });
    expect(await bench.actions.list({})).toEqual([]);
    expect(snapshot()).toEqual(before);
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
