import { describe, expect, it } from "vitest";
import { visibleText } from "../visible-text.ts";
import type { Ask } from "./ask.ts";
import { leftOutWords, shownArguments, startOf } from "./ask-arguments.ts";

const ask = (facts: Ask["facts"]): Pick<Ask, "facts"> => ({ facts });

describe("the arguments that a question shows", () => {
  it("are those of the kernel, as text or as JSON, and none of a question about no call", () => {
    expect(shownArguments(ask({ arguments: '{"a":1}' }), 100)).toEqual({ text: '{"a":1}', left: 0 });
    expect(shownArguments(ask({ arguments: { a: 1 } }), 100)).toEqual({ text: '{"a":1}', left: 0 });
    expect(shownArguments(ask({ model: "lab/x" }), 100)).toBe(null);
  });

  it("say how much is left out, here and by the kernel", () => {
    expect(shownArguments(ask({ arguments: "abcdef", arguments_left_out: 10 }), 4)).toEqual({
      text: "abcd",
      left: 12,
    });
    expect(leftOutWords(12_000)).toBe("12,000 more characters are not shown.");
    expect(leftOutWords(1)).toBe("1 more character is not shown.");
  });

  it("have room once every character is visible", () => {
    const given = "\u202e\u200b".repeat(1_000);
    const shown = shownArguments(ask({ arguments: given }), 100);
    expect(visibleText(shown?.text ?? "").length).toBeLessThanOrEqual(100);
    expect((shown?.text.length ?? 0) + (shown?.left ?? 0)).toBe(given.length);
  });

  it("are not cut inside of a character", () => {
    expect(startOf("ab😀", 3)).toBe("ab");
    expect(startOf("ab😀", 4)).toBe("ab😀");
    expect(shownArguments(ask({ arguments: "ab😀" }), 3)).toEqual({ text: "ab", left: 2 });
  });
});
