import { describe, expect, test } from "vitest";
import type { RedactedConversation } from "../../base/vocabulary/conversation-requests.ts";
import { expectHarmless, HOSTILE } from "../../../../test/support/hostile-text.ts";
import { asks, begun, channel, ChatWalk } from "./testing/chat-walk.ts";

const found: RedactedConversation = {
  entries: ["e1", "e2"],
  conversations: ["c1", "c2"],
  memories: [],
  derived: [{ conversation: "c1", entry: "e9", kind: "summary", text: "The code of the door" }],
  derived_total: 2,
  removed: [],
  remains: [],
};
const nothing: RedactedConversation = {
  ...found,
  entries: [],
  conversations: [],
  derived: [],
  derived_total: 0,
};
const aMoment = 1_000;

/** A chat in which the question whether to remove "4711-b" was asked a moment ago. */
function asked(more: Partial<RedactedConversation> = {}, walk = begun()): ChatWalk {
  walk.press("/redact 4711-b<return>");
  const atMs = walk.state.nowMs;
  return walk.give({ kind: "redactable", text: "4711-b", found: { ...found, ...more }, atMs }).wait(aMoment);
}

describe("/redact", () => {
  test("looks for the text first, and asks with what would be removed", () => {
    const walk = asked();
    expect(walk.commands).toEqual([{ kind: "preview", text: "4711-b" }]);
    expect(walk.screen).toContain('Remove "4711-b" for good, from 2 entries, in 2 conversations?');
    expect(walk.screen.replace(/\s+/g, " ")).toContain("2 texts made from it by models may say the same");
    expect(walk.screen).toContain("y removes it. t removes those texts too. Esc removes nothing.");
  });

  test.each([
    ["y", false],
    ["t", true],
  ])("removes it with %s", (key, withDerived) => {
    const walk = asked().press(key);
    expect(walk.commands.at(-1)).toEqual({ kind: "redact", text: "4711-b", withDerived });
    expect(walk.screen).not.toContain("4711-b");
  });

  test.each(["<escape>", "n"])("removes nothing with %s", (key) => {
    const walk = asked().press(key);
    expect(walk.screen).toContain("Nothing was removed.");
    expect(walk.commands).toHaveLength(1);
  });

  test("removes nothing with another key, nor with a key that came before the question was read", () => {
    expect(asked().press("x<return>").commands).toHaveLength(1);
    const walk = begun().press("/redact 4711-b<return>");
    walk.give({ kind: "redactable", text: "4711-b", found, atMs: walk.state.nowMs }).press("yes");
    expect([walk.commands.length, walk.state.panel, walk.state.composer.text]).toEqual([1, null, "yes"]);
  });

  test("offers texts made from it only if there are some, and says where the text is not", () => {
    const walk = asked(nothing);
    expect(walk.screen).toContain("The text stands nowhere in this conversation.");
    expect(walk.screen).not.toContain("t removes");
    expect(walk.press("t").commands).toHaveLength(1);
  });

  test("stays in no history, and takes with it what was sent with the text", () => {
    const walk = begun().press("it is 4711-b<return>hello<return>");
    expect(asked({}, walk).press("<escape><up>").state.composer.text).toBe("hello");
    walk.press("<down>");
    asked({}, walk).press("y");
    expect(walk.state.composer.history).toEqual(["hello"]);
    expect(begun().press("/redact abc<return>").state.composer.history).toEqual([]);
  });

  test("waits in the composer while something runs", () => {
    const walk = begun().entries(asks("go"), channel("Running")).press("/redact 4711-b<return>");
    expect(walk.screen).toContain("Something runs or waits here");
    expect([walk.commands, walk.state.composer.text]).toEqual([[], "/redact 4711-b"]);
  });

  test("shows foreign text harmlessly, on a narrow screen too", () => {
    const derived = [{ conversation: "c1", entry: "e9", kind: "summary", text: HOSTILE }];
    const walk = begun(new ChatWalk({ columns: 40, rows: 30 }));
    walk.give({ kind: "redactable", text: HOSTILE, found: { ...found, derived }, atMs: 0 });
    expectHarmless(walk.screen, "the question");
  });
});
