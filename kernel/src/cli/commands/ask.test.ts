import { expect, test } from "vitest";
import { notFound } from "../../base/errors.ts";
import { aConversation } from "../chat/testing/chat-walk.ts";
import { Terminal } from "../terminal.ts";
import { anAction } from "../testing/fake-kernel.ts";
import { changedUnasked, outcomeLines } from "../chat/outcome.ts";

test("the files that were changed without asking are named once each, and no others", async () => {
  const base = anAction("a1");
  const [effect] = base.effects;
  if (effect === undefined) throw new Error("The action has no effect.");
  const at = (...paths: string[]) => paths.map((path) => ({ ...effect, path }));
  const done = { ...base, state: "Committed" as const };
  const known = new Map([
    ["unasked", { ...done, decided_by: "policy" as const, effects: at("a.md", "b.md") }],
    ["again", { ...done, decided_by: "policy" as const, effects: at("a.md") }],
    ["asked", { ...done, decided_by: "user" as const, effects: at("c.md") }],
    ["refused", { ...base, state: "Rejected" as const, decided_by: "policy" as const, effects: at("d.md") }],
  ]);
  const action = async (id: string) => {
    const found = known.get(id);
    if (found === undefined) throw notFound("action", id);
    return found;
  };
  expect(await changedUnasked({ action }, [...known.keys(), "gone"])).toEqual(["a.md", "b.md"]);
});

test("what waits is named with the commands that decide it, in the folder that was asked", () => {
  const outcome = {
    code: 3,
    text: "",
    error: null,
    cut: null,
    failed: [],
    waiting: [
      { kind: "action" as const, id: "a1", title: "Write b.md" },
      { kind: "ask" as const, id: "q1", title: "May it read c.md?" },
    ],
    conversation: aConversation,
  };
  using terminal = new Terminal();
  const lines = (place: string): string[] => outcomeLines(outcome, { again: "lares chat", place }, terminal);
  expect(lines("")).toEqual([
    "Waits for you: Write b.md",
    "  see it:     lares actions show a1",
    "  approve it: lares actions approve a1",
    "Waits for you: May it read c.md?",
    "  allow it:   lares asks allow q1",
    "Decide with: lares chat --resume 2930fd59",
  ]);
  expect(lines(" ~/notes")).toContain("  approve it: lares actions ~/notes approve a1");
});
