import fc from "fast-check";
import { expect, test } from "vitest";
import { quotationIn } from "./quotations.ts";

const word = fc.stringMatching(/^[a-z]{2,8}$/);
const sentence = fc
  .tuple(fc.array(word, { minLength: 2, maxLength: 8 }), fc.constantFrom(".", "!", "?"))
  .map(([words, end]) => {
    const [first = "", ...rest] = words;
    return `${first.charAt(0).toUpperCase()}${first.slice(1)} ${rest.join(" ")}${end}`;
  })
  // An abbreviation ends no sentence.
  .filter((text) => quotationIn(`${text} The next one begins.`, text) !== null);
const gap = fc.constantFrom(" ", "  ", "\n", "\n\n", "\t ");

test.each([
  ["I like short answers", "I like short answers"],
  ["Hello! I like short answers. Now read this.", "I like short answers"],
  ["Hello! I like short answers. Now read this.", "i like  short\nanswers."],
  ["I like “short” answers.", 'I like "short" answers.'],
  ["Don’t mail me. I like tea.", "Don't mail me. I like tea."],
  ["I like tea.\nI live in Bonn.", '"I live in Bonn."'],
  ["短い答えが好きです。ファイルを消さないで。", "ファイルを消さないで。"],
])("of %j the sentences %j are whole", (message, text) => {
  expect(quotationIn(message, text)).not.toBeNull();
});

test.each([
  ["Please never delete all files in archive", "delete all files in archive"],
  ["Please never, under any circumstances, delete all files.", "delete all files."],
  ["Never do this: Delete all files. Send mails.", "Send mails."],
  ["Never do the following:\n\nDelete all files. Send mails.", "Send mails."],
  ["Never do this:\n- Delete all files.\n- Send mails.", "Send mails."],
  ["Never do this:\n- Delete all files.\n- Send mails.", "- Send mails."],
  ["I would never\n1. Delete all files. Never.\n2. Send mails.", "Delete all files."],
  ["He said “I hate it. Delete all files. Good bye.” I do not.", "Delete all files."],
  ["He said 'I hate it. Delete all files. Good bye.' I do not.", "Delete all files."],
  ["The mail says (it is long. Delete all files. Bye) what?", "Delete all files."],
  ["They wrote\n> Hello. Delete all files. Bye.\nwhat now?", "Delete all files."],
  ["Never run\n```\nIt works. Delete all files. Bye.\n```", "Delete all files."],
  ["Should I delete all files?", "I delete all files"],
  ["Delete all files?", "Delete all files"],
  ["Delete all files?", "Delete all files."],
  ["Do not let Dr. Smith delete all files.", "Smith delete all files."],
  ["Never use tools, e.g. Delete all files.", "Delete all files."],
  ["Never ... Delete all files.", "Delete all files."],
  ["I do not like it. delete all files.", "delete all files."],
  ["I like tea", ""],
  ["I like tea", "."],
])("of %j the text %j is not a whole sentence", (message, text) => {
  expect(quotationIn(message, text)).toBeNull();
});

test("any run of whole sentences is a quotation, whatever spaces and letters it has", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(sentence, gap), { minLength: 1, maxLength: 6 }),
      fc.nat(),
      fc.nat(),
      fc.boolean(),
      (given, from, length, isUpper) => {
        const message = given.map(([text, space]) => text + space).join("");
        const first = from % given.length;
        const run = given.slice(first, first + 1 + (length % given.length));
        const text = run.map(([each]) => each).join("  ");
        expect(quotationIn(message, isUpper ? text.toUpperCase() : text)).not.toBeNull();
      },
    ),
  );
});

test("a quotation never begins or ends within a sentence", () => {
  fc.assert(
    fc.property(
      fc.array(sentence, { minLength: 1, maxLength: 4 }),
      fc.nat(),
      fc.nat(),
      (sentences, from, length) => {
        const words = sentences.join(" ").split(" ");
        const first = from % words.length;
        const text = words.slice(first, first + 1 + (length % words.length)).join(" ");
        const found = quotationIn(sentences.join(" "), text);
        if (found === null) return;
        const isWhole = sentences.some((_each, begin) =>
          sentences.some(
            (_other, end) => end >= begin && sentences.slice(begin, end + 1).join(" ") === found,
          ),
        );
        expect(isWhole).toBe(true);
      },
    ),
  );
});

test("no part of a sentence is a quotation of it, and what it returns stands in the message", () => {
  fc.assert(
    fc.property(sentence, fc.string(), fc.nat(), (text, around, cut) => {
      const words = text.split(" ");
      const at = 1 + (cut % (words.length - 1));
      // The same words may also be all of another sentence.
      expect(quotationIn(text, words.slice(at).join(" "))).toBeNull();
      const found = quotationIn(`${around} ${text}`, text);
      if (found !== null)
        expect(`${around} ${text}`.replace(/\s+/gu, " ")).toContain(found.replace(/\s+/gu, " "));
    }),
  );
});

test("a long message is looked through in linear time", () => {
  const message = "I like it. (\"' : ".repeat(60_000);
  expect(quotationIn(message, "I never said this")).toBeNull();
});

test.each(["'", ":", '"', "’\u{1f600}"])("a word with a million of %j takes linear time", (mark) => {
  expect(quotationIn(`Look: ${mark.repeat(1_000_000)}x`, "I like tea")).toBeNull();
});

test("marks behind a word close and introduce, and those within it do not", () => {
  expect(quotationIn("'He said so.' I like tea.", "I like tea")).not.toBeNull();
  expect(quotationIn("'He can't. I like tea.", "I like tea")).toBeNull();
  expect(quotationIn("This is wrong:) I like tea.", "I like tea")).toBeNull();
  expect(quotationIn("It is 12:30. I like tea.", "I like tea")).not.toBeNull();
});
