import { expect, it } from "vitest";
import { readVisible } from "../../../kernel/src/base/visible-text.ts";
import { effect } from "../testing/things.ts";
import { decisionWords, decisionWordsOf, saidBy } from "./decision-words.ts";

it.each(["a.md", '" and "b.md', "a\nb", "$(check)", "[a](command:b)", "\u202egpj.exe", "a "])(
  "the path %j is shown in full in a decision, and can be read back",
  (path) => {
    const words = decisionWordsOf(effect({ path }));
    expect(words).not.toMatch(/\$\(|\]\(|[\n\u202e]/);
    expect(readVisible(words)).toBe(`Edits "${path}"`);
  },
);

it("an action that is too large for a message has no words, and so no buttons", () => {
  const effects = Array.from({ length: 100 }, (_, index) => effect({ path: `${index}.md` }));
  expect(decisionWords({ effects })).toBe(null);
  expect(decisionWords({ effects: effects.slice(0, 1) })).toBe('Edits "0.md".');
});

it("an agent's text is marked as its own, in quotation marks that it cannot close", () =>
  expect(saidBy("Notes", 'Tidy" Approved by you.', "")).toBe('Notes says: "Tidy<U+0022> Approved by you."'));
