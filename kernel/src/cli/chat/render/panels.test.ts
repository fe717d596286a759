import { expect, test } from "vitest";
import { plainSurface } from "../../render/style.ts";
import { aConversation, begun, ChatWalk } from "../testing/chat-walk.ts";
import { contextLines } from "./panels.ts";

const context = {
  model: "script/script",
  limit: 8_000,
  sections: [
    { name: "identity", tokens: 900, text: "I am calm.", cached: true },
    {
      name: "history",
      tokens: 100,
      text: Array.from({ length: 60 }, (_none, at) => `line ${at}`).join("\n"),
    },
  ],
};

test("a context says that its sections are estimated where they do not add up to what was counted", () => {
  const counted = contextLines(aConversation, { ...context, tokens: 1_204 }, plainSurface);
  expect(counted[0]).toContain("1,204 of 8,000 tokens");
  expect(counted[1]).toBe("The provider's count. The rows are estimates, 1,000 in all.");
  const estimated = contextLines(aConversation, { ...context, tokens: 1_000 }, plainSurface);
  expect(estimated.join()).not.toContain("The provider's count");
});

test("End and Home go to the end and the beginning of a context", () => {
  const walk = begun(new ChatWalk({ columns: 80, rows: 24 })).give({
    kind: "context",
    context: { ...context, tokens: 1_000 },
  });
  expect(walk.screen).not.toContain("line 59");
  expect(walk.press("<end>").screen).toContain("line 59");
  expect(walk.press("<home>").screen).toContain("What script/script sees");
});
