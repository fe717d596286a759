import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ApprovalRule, Scope, ScopeId } from "../base/vocabulary/approval-rule.ts";
import { maxRulesPerScope } from "../base/vocabulary/approval-rule.ts";
import { decideApproval, type ApprovalPolicy, type ApprovalSubject } from "./approval.ts";
import { finished } from "../base/steps.ts";
import { scopesOf, whyNotAlways } from "./scopes.ts";

const agent = "dev.example.notes";
const none: ApprovalPolicy = { rules: [], autoApproveBelow: 0 };
const effect = (
  kind: ApprovalSubject["kind"],
  paths: string | string[],
  more: Partial<ApprovalSubject> = {},
): ApprovalSubject => ({ kind, paths: [paths].flat(), protection: "none", ...more });
const edit = (path: string, more: Partial<ApprovalSubject> = {}): ApprovalSubject =>
  effect("file.edit", path, more);

function offered(effects: ApprovalSubject[], rules: ApprovalRule[] = []): Partial<Record<ScopeId, Scope>> {
  const scopes = finished(scopesOf(agent, effects, { rules, autoApproveBelow: 0 }));
  return Object.fromEntries(scopes.map((scope) => [scope.id, scope]));
}
const ids = (effects: ApprovalSubject[], rules: ApprovalRule[] = []): string[] =>
  Object.keys(offered(effects, rules));
const isAllowed = (subject: ApprovalSubject, rules: readonly ApprovalRule[], by = agent): boolean =>
  decideApproval(
    { agent: by, effects: [subject], impact: 1, impactThisHour: 1 },
    { rules, autoApproveBelow: 1 },
  ).decide === "allow";

describe("a scope is offered only if it would allow the present effect", () => {
  const allow: ApprovalRule = { decide: "allow", agent };
  test.each<[name: string, effects: ApprovalSubject[], rules: ApprovalRule[], expected: string[]]>([
    ["an edit has all four", [edit("notes/a.md")], [], ["file", "folder", "kind", "session"]],
    ["a protected file has none", [edit("lares.yaml", { protection: "protected" })], [], []],
    ["what may be hidden has none", [edit("a", { alwaysAsked: "may be hidden from the agent" })], [], []],
    ["what a rule asks about has none", [edit("a")], [{ decide: "ask" }], []],
    ["what a rule refuses has none", [edit("a")], [{ decide: "deny" }], []],
    ["what a rule allows already has none", [edit("a")], [allow], []],
    ["a granted tag has none", [effect("tag.add", "a")], [], []],
    ["a move happens once to a file", [effect("file.move", ["a", "b"])], [], ["folder", "kind", "session"]],
    ["a deletion happens once", [effect("file.delete", "a")], [], ["folder", "kind", "session"]],
    ["a folder is made once", [effect("folder.create", "a")], [], ["folder", "kind", "session"]],
  ])("%s", (_name, effects, rules, expected) => {
    expect(ids(effects, rules)).toEqual(expected);
  });

  test("of an action with a protected file only the other effects are in it", () => {
    const { folder } = offered([edit("notes/a.md"), edit("bin/x", { protection: "protected" })]);
    expect(folder?.rules).toEqual([{ decide: "allow", agent, kind: "file.edit", path: "notes/**" }]);
  });

  test("one with more rules than a person reads is not offered", () => {
    const effects = Array.from({ length: maxRulesPerScope + 1 }, (_each, at) => edit(`notes/${at}.md`));
    expect(ids(effects)).toEqual(["folder", "kind", "session"]);
    expect(ids(effects.slice(1))).toContain("file");
  });
});

describe("what a scope allows", () => {
  test.each<[id: ScopeId, allowed: ApprovalSubject[], asked: ApprovalSubject[]]>([
    ["file", [edit("notes/a [1].md")], [edit("notes/a 1.md"), edit("notes/A [1].md"), edit("notes/b.md")]],
    [
      "folder",
      [edit("notes/b.md"), edit("notes/x/c.md")],
      [edit("Notes/b.md"), edit("b.md"), edit("notes2/b")],
    ],
    ["kind", [edit("b.md")], [effect("file.write", "notes/a [1].md"), effect("file.delete", "b.md")]],
    ["session", [edit("notes/b.md")], [edit("b.md")]],
  ])("%s", (id, allowed, asked) => {
    const rules = offered([edit("notes/a [1].md")])[id]?.rules ?? [];
    for (const each of allowed) expect([each.paths, isAllowed(each, rules)]).toEqual([each.paths, true]);
    for (const each of asked) expect([each.paths, isAllowed(each, rules)]).toEqual([each.paths, false]);
    expect(isAllowed(edit("notes/a [1].md"), rules, "dev.other")).toBe(false);
  });

  test("of a file at the top: its neighbours, without files in folders", () => {
    const rules = offered([edit("a.md")]).folder?.rules ?? [];
    expect([isAllowed(edit("b.md"), rules), isAllowed(edit("notes/b.md"), rules)]).toEqual([true, false]);
  });

  test("of a move: between its two folders, and nowhere else", () => {
    const rules = offered([effect("file.move", ["photos/2024/a.jpg", "photos/archive/a.jpg"])]).folder?.rules;
    const moves = (from: string, to: string): boolean =>
      isAllowed(effect("file.move", [from, to]), rules ?? []);
    expect(moves("photos/2024/b.jpg", "photos/archive/b.jpg")).toBe(true);
    expect(moves("photos/2024/b.jpg", "elsewhere/b.jpg")).toBe(false);
    expect(moves("elsewhere/b.jpg", "photos/archive/b.jpg")).toBe(false);
  });

  test("only the session's rules end with it", () => {
    const { folder, session } = offered([edit("notes/a.md")]);
    expect(session?.rules).toEqual(folder?.rules.map((rule) => ({ ...rule, until: "close" })));
    expect(JSON.stringify(folder)).not.toContain("until");
  });

  test("each rule allows, for this agent alone, an effect that was asked, whatever its path", () => {
    const name = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
      .filter((text) => !/[/\0]/.test(text));
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
    fc.assert(
      fc.property(path, (each) => {
        for (const { rules } of finished(scopesOf(agent, [edit(each)], none))) {
          expect(isAllowed(edit(each), rules)).toBe(true);
          expect(isAllowed(edit(each), rules, "dev.other")).toBe(false);
        }
      }),
    );
  });
});

describe("titles", () => {
  test.each<[ApprovalSubject[], string[]]>([
    [
      [edit("notes/a.md")],
      [
        'This file: edits of "notes/a.md"',
        'This folder: edits in "notes/" and its folders',
        "This kind: edits by dev.example.notes, anywhere",
        'Until you close Lares: edits in "notes/" and its folders',
      ],
    ],
    [
      [effect("file.move", ["a.jpg", "old/a.jpg"])],
      [
        'This folder: moves within and between the top folder of the workspace and "old/" and its folders',
        "This kind: moves by dev.example.notes, anywhere",
        'Until you close Lares: moves within and between the top folder of the workspace and "old/" and its folders',
      ],
    ],
  ])("say what would be allowed from then on", (effects, titles) => {
    expect(finished(scopesOf(agent, effects, none)).map(({ title }) => title)).toEqual(titles);
  });

  test("a name can neither end its quotes nor hide in them", () => {
    const title = finished(scopesOf(agent, [edit('a" by anyone\u202e/b')], none))[0]?.title;
    expect(title).toBe('This file: edits of "a<U+0022> by anyone<U+202E>/b"');
  });
});

describe('why "always" would not count', () => {
  test("names the first effect that needs approval each time", () => {
    const subject = edit("build.sh", { protection: "protected", whyProtected: "Scripts run." });
    expect(whyNotAlways(agent, [edit("a"), subject], none)).toBe(
      '"build.sh" is asked each time: Scripts run.',
    );
    expect(whyNotAlways(agent, [edit("a")], none)).toBeNull();
  });

  test("names the rule that asks, and the rule that does not count", () => {
    const ask: ApprovalPolicy = { rules: [{ decide: "ask", path: "a" }], autoApproveBelow: 0 };
    expect(whyNotAlways(agent, [edit("a")], ask)).toBe(
      'Your rule asks about it: all changes of "a" by any agent.',
    );
    const allow: ApprovalPolicy = { rules: [{ decide: "allow", path: "b*" }], autoApproveBelow: 0 };
    const subject = edit("build.sh", { protection: "protected", whyProtected: "Scripts run." });
    expect(whyNotAlways(agent, [subject], allow)).toBe(
      'Your rule allows it (all changes matching "b*" by any agent), but "build.sh" is asked each time: Scripts run.',
    );
  });
});

test("what may be remembered about many effects is worked out in a step for each at least", () => {
  const effects = Array.from({ length: 1000 }, (_, at) => edit(`folder-${at % 3}/file-${at}.txt`));
  let steps = 0;
  for (const _step of scopesOf(agent, effects, none)) steps++;
  expect(steps).toBeGreaterThanOrEqual(effects.length);
});
