import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { emptyComposer, insert, sent, typed, withText, type Composer } from "./composer.ts";

const press = (
  composer: Composer,
  name: string,
  more: { control?: boolean; meta?: boolean } = {},
): Composer =>
  typed(composer, {
    name,
    text: "",
    isControl: more.control === true,
    isShift: false,
    ...(more.meta === true ? { isMeta: true } : {}),
  }) ?? composer;

describe("the composer", () => {
  test("moves by what a person sees as one character", () => {
    const family = "a👨‍👩‍👧é";
    const at = press(withText(emptyComposer, family), "left");
    expect(press(at, "left").cursor).toBe(1);
    expect(press(at, "backspace").text).toBe("aé");
  });

  test("moves by words and to the ends of a line", () => {
    const composer = withText(emptyComposer, "one two\nthree four");
    const word = press(composer, "left", { control: true });
    expect(composer.text.slice(word.cursor)).toBe("four");
    expect(press(word, "a", { control: true }).cursor).toBe(8);
    expect(press(word, "k", { control: true }).text).toBe("one two\nthree ");
    expect(press(composer, "w", { control: true }).text).toBe("one two\nthree ");
    expect(press(composer, "u", { control: true }).text).toBe("one two\n");
  });

  test("moves between lines before it opens the history", () => {
    const before = sent(withText(emptyComposer, "earlier"));
    const composer = withText(before, "one\ntwo");
    const up = press(composer, "up");
    expect([up.text, up.cursor]).toEqual(["one\ntwo", 3]);
    expect(press(up, "up").text).toBe("earlier");
    expect(press(press(up, "up"), "down").text).toBe("one\ntwo");
  });

  test("keeps the cursor within the text, whatever keys are pressed", () => {
    const names = ["left", "right", "up", "down", "home", "end", "backspace", "delete"];
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.array(fc.tuple(fc.constantFrom(...names), fc.boolean())),
        (text, keys) => {
          const end = keys.reduce(
            (composer, [name, control]) => press(composer, name, { control }),
            insert(sent(withText(emptyComposer, "x\ny")), text),
          );
          expect(end.cursor).toBeGreaterThanOrEqual(0);
          expect(end.cursor).toBeLessThanOrEqual(end.text.length);
        },
      ),
    );
  });
});
