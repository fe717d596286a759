import { expect, test } from "vitest";
import type { RedactedConversation } from "../../../base/vocabulary/conversation-requests.ts";
import { plainSurface } from "../../render/style.ts";
import { copyLines, redactionLines, redactionSentence } from "./redaction.ts";

const done: RedactedConversation = {
  entries: ["e1", "e2"],
  conversations: ["c1"],
  memories: [{ id: "m1", type: "Fact", text: "They like fruit" }],
  derived: [{ conversation: "c1", entry: "e9", kind: "conclusion", text: "It is\na fruit" }],
  derived_total: 12,
  removed: [{ place: "questions", count: 1 }],
  remains: [{ place: "an action", name: "a1", why: "Undo it first." }],
};

test("a person reads what was removed, what stays and why, and what was made from it", () => {
  const lines = redactionLines(done, "test.mind", plainSurface).join("\n");
  expect(lines).toContain("removed from 2 entries");
  expect(lines).toContain("removed from questions: 1");
  expect(lines).toContain("an action · a1: Undo it first.");
  expect(lines).toContain("13 texts made from it");
  expect(lines).not.toContain("It is\na fruit");
  expect(lines).toContain("… and 11 more");
  expect(lines).toContain("--with-derived");
  expect(redactionSentence(done)).toBe(
    "Removed from 2 entries. 1 copy elsewhere: questions. It stays, or was not looked for, in: an action · a1. 13 texts made from it may say the same in other words, such as: It is a fruit",
  );
});

test("where nothing had the text, only copies elsewhere are listed", () => {
  const nothing = {
    ...done,
    entries: [],
    conversations: [],
    memories: [],
    derived: [],
    derived_total: 0,
    removed: [],
    remains: [],
  };
  expect(redactionSentence(nothing)).toBe("The text stands nowhere in this conversation.");
  expect(redactionLines(nothing, "test.mind", plainSurface)).toHaveLength(1);
  const carried = { ...nothing, conversations: ["a"] };
  expect(redactionSentence(carried)).toBe("Removed from what the model reads before all entries.");
});

test("what stays is wrapped between words where the terminal is narrow", () => {
  const place = "everything but the conversations";
  const why = "It may also be a name or a value in data of agents, which would break.";
  const lines = copyLines([], [{ place, name: "a plain word or number", why }], {
    ...plainSurface,
    width: 44,
  });
  expect(lines.slice(2)).toEqual([
    "  everything but the conversations · a",
    "    plain word or number: It may also be a",
    "    name or a value in data of agents, which",
    "    would break.",
  ]);
});

test("a conversation that has the text on its own is named as the lists name it", () => {
  const id = "01a2162a-6b76-708b-abc7-bc622930fd59";
  const remains = [{ place: "another conversation", name: id, why: "Redact it there too." }];
  expect(copyLines([], remains, plainSurface).slice(2)).toEqual([
    "  another conversation · 2930fd59: Redact it there too.",
  ]);
  expect(redactionSentence({ ...done, remains })).toContain(
    "It stays, or was not looked for, in: another conversation · 2930fd59.",
  );
});
