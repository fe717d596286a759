import { expect, test } from "vitest";
import { plainSurface } from "../../render/style.ts";
import { renderConversations } from "../render/conversations.ts";
import { aConversation } from "../testing/chat-walk.ts";
import { type ConversationChoice, factsOf } from "./choices.ts";

const choice: ConversationChoice = { conversation: aConversation, agentName: "Steward", waiting: 0 };
const copy: ConversationChoice = {
  ...choice,
  conversation: { ...aConversation, forked_from: { conversation: aConversation.id, seq: 2 } },
};

test("a copy of a conversation, which has its title, is told from it", () => {
  expect(factsOf(copy)).toContain("copy of 2930fd59");
  expect(factsOf(choice)).not.toContain("copy");
  const rows = renderConversations([choice, copy], { ...plainSurface, width: 120 }).filter((row) =>
    row.includes("Photos of a trip"),
  );
  expect(rows.map((row) => row.includes("(copy of 2930fd59) Photos"))).toEqual([false, true]);
});
