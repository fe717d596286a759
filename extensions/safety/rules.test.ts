import { describe, expect, it } from "vitest";
import { readRules, refusal } from "./rules.ts";

const withRules = (...rules: readonly unknown[]) => readRules({ standard: false, rules });
const standard = readRules({});
const call = (tool: string, args: object) => ({ tool, arguments: args });
const deletes = (count: number) => ({
  action: {
    title: "Tidy",
    effects: Array.from({ length: count }, (_, at) => ({ kind: "file.delete", path: `a/${at}.md` })),
  },
});

describe("the standard rules", () => {
  it.each(["rm -rf /", "cd x && rm -fr .", "sudo rm -r -f a", "rm --verbose -rf a", "echo a;rm -Rf b"])(
    "refuse %s",
    (command) => {
      expect(refusal(standard, "tool", call("shell/run", { command }), false)).toContain("rm -rf");
    },
  );

  it.each(["rm a.txt", "rm -r a", "farm -rf", "ls", "echo rmdir -rf"])("let %s through", (command) => {
    expect(refusal(standard, "tool", call("shell/run", { command }), false)).toBe(null);
  });

  it("let a call without a command through, and refuse one of which a part was withheld", () => {
    expect(refusal(standard, "tool", call("files/read", { path: "a" }), false)).toBe(null);
    expect(refusal(standard, "tool", call("files/read", {}), true)).toContain("cannot tell");
  });

  it("refuse more than 20 deletions at once, and any change of keys", () => {
    expect(refusal(standard, "action", deletes(20), false)).toBe(null);
    expect(refusal(standard, "action", deletes(21), false)).toContain("More than 20");
    for (const path of [".ssh/config", "home/.ssh/authorized_keys", "keys/id_ed25519"]) {
      const facts = { action: { effects: [{ kind: "file.write", path }] } };
      expect(refusal(standard, "action", facts, false)).toContain("Keys");
    }
  });

  it("refuse a change whose files are withheld, since they may be keys", () => {
    const facts = { action: { effects: [{ kind: "file.write" }] } };
    expect(refusal(standard, "action", facts, true)).toContain("cannot tell");
  });
});

it("a person's rule refuses what it matches, with its reason", () => {
  const rules = withRules({
    on: "tool",
    when: 'tool == "files/write" && arguments.path.startsWith("archive/")',
    reason: "The archive stays as it is.",
  });
  const facts = (path: string) => call("files/write", { path });
  expect(refusal(rules, "tool", facts("archive/a.md"), false)).toBe("The archive stays as it is.");
  expect(refusal(rules, "tool", facts("notes/a.md"), false)).toBe(null);
  expect(refusal(rules, "action", deletes(1), false)).toBe(null);
});

it.each<[unknown, string]>([
  [{ on: "tool", when: "toool == 'x'", reason: "r" }, "Unknown variable: toool"],
  [{ on: "tool", when: "tool ==", reason: "r" }, "rule 1: "],
  [{ on: "tool", when: "tool", reason: "r" }, "true or false"],
  [{ on: "action", when: "action.effects.exists(e, e.path == 'x'" }, "reason must be"],
  [{ on: "call", when: "true", reason: "r" }, "on must be tool or action"],
  [{ on: "tool", when: "true", reason: "r", severity: 3 }, '"severity" is not known'],
  ["true", "it must be { on, when, reason }"],
])("%j cannot be read, and refuses what it might be about: %s", (rule, problem) => {
  const rules = withRules(rule);
  expect(rules.broken.map((one) => one.problem).join()).toContain(problem);
  const on = rules.broken[0]?.on[0] ?? "tool";
  expect(refusal(rules, on, on === "tool" ? call("a/b", {}) : deletes(1), false)).toContain(problem);
});

it("a list that is none, and one that is too long, refuse everything", () => {
  for (const rules of [{}, "x", Array.from({ length: 101 }, () => ({}))]) {
    const read = readRules({ rules });
    expect(refusal(read, "tool", call("a/b", {}), false)).toContain("a list of at most 100");
    expect(refusal(read, "action", deletes(1), false)).toContain("a list of at most 100");
  }
});

it("a rule that fails while it is evaluated refuses, and names itself", () => {
  const rules = withRules({ on: "tool", when: "arguments.count / 0 == 1", reason: "r" });
  expect(refusal(rules, "tool", call("a/b", { count: 1n }), false)).toContain("arguments.count / 0 == 1");
  expect(refusal(rules, "tool", call("a/b", { count: "x" }), false)).toContain("failed");
});
