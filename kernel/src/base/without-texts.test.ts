import { expect, test } from "vitest";
import { isDistinctive, redactedMark, textRemover } from "./without-texts.ts";

test("texts are replaced in strings, lists, records and names of fields, the longest first", () => {
  const remover = textRemover(["plum", "plum jam"]);
  expect(remover.from({ a: ["plum jam", 1, null], plum: { b: "a plum" } })).toEqual({
    a: [redactedMark, 1, null],
    [redactedMark]: { b: `a ${redactedMark}` },
  });
  expect(remover.holds("plum pie")).toBe(true);
  expect(remover.holds("apple pie")).toBe(false);
});

test("a text is found in JSON that is a text, and in JSON in that", () => {
  const text = 'a "b"\nc';
  const remover = textRemover([text]);
  const once = JSON.stringify({ text });
  const twice = JSON.stringify({ once });
  expect(JSON.parse(remover.from(once))).toEqual({ text: redactedMark });
  expect(remover.from(twice)).not.toContain("\\nc");
  expect(remover.holds(twice)).toBe(true);
  expect(remover.holds(JSON.stringify(remover.from({ twice })))).toBe(false);
});

test("the beginning of a text is removed where it was cut off, and nowhere else", () => {
  const text = "My bank account is 4711 0815, and nobody but you may know that, please.";
  const remover = textRemover([text]);
  for (const cut of [text.slice(0, 60), `${text.slice(0, 59)}…`, `So: ${text.slice(0, 50)}`]) {
    expect(remover.holds(cut)).toBe(true);
    expect(remover.from(cut)).not.toContain("bank");
    expect(remover.needles.some((needle) => cut.includes(needle))).toBe(true);
  }
  const inJson = JSON.stringify({ title: `${text.slice(0, 50)}…`, more: text.slice(0, 45) });
  expect(JSON.parse(remover.from(inJson))).toEqual({ title: `${redactedMark}…`, more: redactedMark });
  for (const other of [text.slice(0, 30), `${text.slice(0, 45)} another one`]) {
    expect(remover.holds(other)).toBe(false);
    expect(remover.from(other)).toBe(other);
  }
});

test("no texts change nothing", () => {
  const remover = textRemover([""]);
  expect(remover.forms).toEqual([]);
  expect(remover.from("as it is")).toBe("as it is");
  expect(remover.holds("")).toBe(false);
});

test.each([
  ["path", false],
  ["conversation", false],
  ["PendingApproval", false],
  ["file.write", false],
  ["2026", false],
  ["2026-11-27", false],
  ["ab1", false],
  ["hunter2", true],
  ["pa$$word", true],
  ["my pin", true],
  ["correcthorsebatterystaple", true],
  ["sk-ant-1234567890", true],
])("%s is distinctive: %s", (text, expected) => {
  expect(isDistinctive(text)).toBe(expected);
});

test("a cut-off beginning is found at each place, and not where the text continues in another way", () => {
  const text = `He said "hello, how are you today?" and "what a day" and left the room at once.`;
  const remover = textRemover([text]);
  const beginning = text.slice(0, 50);
  expect(remover.from(`${beginning}… and ${beginning}...`)).toBe(`${redactedMark}… and ${redactedMark}...`);
  // The quote is the text's own, and what follows is something else.
  expect(remover.holds(`He said "hello, how are you today?" and "what a night"`)).toBe(false);
  expect(remover.holds(`xx ${text.slice(0, 45)} ${beginning}`)).toBe(true);
});

test("texts that repeat themselves take time in proportion to their length", () => {
  const best = (count: number): number => {
    const remover = textRemover([`${"ab ".repeat(count)}c`]);
    const text = `${"ab ".repeat(count - 1)}x ${'"'.repeat(count)}`;
    const times = Array.from({ length: 5 }, () => {
      const begun = performance.now();
      expect(remover.holds(text)).toBe(false);
      return performance.now() - begun;
    });
    return Math.min(...times);
  };
  best(10_000);
  // Comparing each place with the whole form would take 100 times as long.
  expect(best(100_000) / best(10_000)).toBeLessThan(40);
});

test("what is found is what comparing each place with the form finds, whatever repeats", () => {
  let seed = 5;
  const random = (below: number): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const word = (length: number): string =>
    Array.from({ length }, () => ["a", "b", '"'][random(9) === 0 ? 2 : random(2)]).join("");
  for (let run = 0; run < 300; run++) {
    const part = word(1 + random(4));
    const form = `${part.repeat(20)}${word(30)}`.slice(0, 60);
    const text = `${word(random(5))}${form.slice(0, 35 + random(20))}${word(random(4))}${form.slice(0, 38 + random(20))}`;
    const remover = textRemover([form]);
    const isCutAt = (each: string, from: number): boolean => {
      let length = 0;
      while (length < each.length && text[from + length] === each[length]) length++;
      const rest = text.slice(from + length, from + length + 8);
      return length >= 40 && (length === each.length || /^(?:$|\\*"|…|\.\.\.)/u.test(rest));
    };
    const isThere = remover.forms.some((each) =>
      Array.from({ length: text.length }, (_, from) => from).some((from) => isCutAt(each, from)),
    );
    expect([form, text, remover.holds(text)]).toEqual([form, text, isThere]);
  }
});
