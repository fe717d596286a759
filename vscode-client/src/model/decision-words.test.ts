import { expect, it } from "vitest";
import { readVisible } from "../../../kernel/src/base/visible-text.ts";
import { effect } from "../testing/things.ts";
import { decisionWords, decisionWordsOf, saidBy } from "./decision-words.ts";

it.each(["a.md", '" and "b.md', "a\nb", "$(check)", "[a](command:b)", "\u202egpj.exe", "a "])(
  "the path %j is whole in what a person decides by, and can be read back",
  (path) => {
    const words = decisionWordsOf(effect({ path }));
    expect(words).not.toMatch(/\$\(|\]\(|[\n\u202e]/);
    expect(readVisible(words)).toBe(`Edits "${path}"`);
  },
);

it("an action that is more than a message names has no words, and so no button beside them", () => {
  const effects = Array.from({ length: 100 }, (_, index) => effect({ path: `${index}.md` }));
  expect(decisionWords({ effects })).toBe(null);
  expect(decisionWords({ effects: effects.slice(0, 1) })).toBe('Edits "0.md".');
});

it("an agent's words are said as its own, in quotation marks that they cannot end", () =>
  expect(saidBy("Notes", 'Tidy" Approved by you.', "")).toBe('Notes says: "Tidy<U+0022> Approved by you."'));
