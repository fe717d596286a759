import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

/** Phrases that a reader has to read twice, each with what to write instead. Only those without false alarms. */
const stilted: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/(?:^|[.;:] )Of (?!course\b)/, "begin with the subject, not with a genitive"],
  [
    /^So (?:long|many|much|often|seldom|soon) (?!as\b)/,
    "say what the number is: the maximum, the delay, the interval",
  ],
  [/^Whoever\b/, "name the actor: the caller, the client, the person"],
  [/\b(?:held|holds?) against\b/, "compare with, check against, match"],
  [/\bhea(?:r|rs|rd) of\b/, "is notified of, receives"],
  [/\bt(?:old|ells?|elling) of\b/, "report, announce, reveal"],
  [/\bt(?:ake|akes|ook|aken|aking) (?:(?:it|them|all|this|that) )?back\b/, "revoke, roll back, undo"],
  [/\blet(?:s|ting)? (?:go of|count)\b/, "release, unload; apply"],
  [/\bbur(?:y|ies|ied|ying)\b/, "dead-letter, drop"],
  [/\banew\b/, "again"],
  [/\b(?:goes|go|went) on\b/, "continue, keep running"],
  [/\bcom(?:e|es) back\b/, "return, be restored"],
  [/\bmend(?:s|ed|ing)?\b/, "fix, repair"],
  [/\blikeness\b/, "similarity"],
  [/\b(?:is|are) not believed\b/, "is rejected, is discarded"],
  [/\bfalls? to the lot\b/, "is assigned to"],
  [/(?<!\b[Tt]here )\b(?:is|are) no (?!longer\b|more\b|worse\b|better\b|different\b)/, "is not a"],
  [/\bwhere (?:there|it|they) (?:is|are|was|were) (?:no|none|not|one|some|more)\b/, "if there is none"],
];

/** Folders whose texts are still to be rewritten. The list can only shrink: a folder without findings must leave it. */
const unwritten: readonly string[] = [];

const root = fileURLToPath(new URL("../../", import.meta.url));
const self = "test/support/english.test.ts";

/** Returns the repository's files whose names match, without installed and generated ones. */
function filesNamed(pattern: RegExp, folder = ""): string[] {
  return readdirSync(`${root}${folder}`, { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory())
      return /^(?:\..*|node_modules|dist|build-output|corpus)$/.test(entry.name)
        ? []
        : filesNamed(pattern, `${path}/`);
    return entry.isFile() && pattern.test(entry.name) && path !== self ? [path] : [];
  });
}

/** Returns each comment that has lines of its own as one line of text, with the number of its first line. */
function commentsIn(source: string): { readonly line: number; readonly text: string }[] {
  const comments: { line: number; text: string; kind: string }[] = [];
  let last: { line: number; text: string; kind: string } | null = null;
  for (const [index, line] of source.split("\n").entries()) {
    const [, kind = "", text = ""] = /^\s*(\/\/|\/\*\*?|\*(?!\/))\s?(.*?)\s*(?:\*\/)?$/.exec(line) ?? [];
    const isContinued: boolean = last !== null && ((kind === "//" && last.kind === "//") || kind === "*");
    if (kind === "") last = null;
    else if (last !== null && isContinued) last.text = `${last.text} ${text}`.trim();
    else comments.push((last = { line: index + 1, text, kind }));
  }
  return comments;
}

/** Returns the names of tests and of groups of tests, each with its line. */
function testNamesIn(source: string): { readonly line: number; readonly text: string }[] {
  const call = /(?:\b(?:test|it|describe)(?:\.\w+)*\(|\]\)\()\s*(?:"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;
  return [...source.matchAll(call)].map((match) => ({
    line: source.slice(0, match.index).split("\n").length,
    text: match[1] ?? match[2] ?? "",
  }));
}

/** Returns the paragraphs, list items and table cells of Markdown, each with its first line; code is left out. */
function paragraphsIn(source: string): { readonly line: number; readonly text: string }[] {
  const found: { line: number; text: string }[] = [];
  let isCode = false;
  let last: { line: number; text: string } | null = null;
  for (const [index, whole] of source.split("\n").entries()) {
    const line = whole.trim();
    if (/^(?:```|~~~)/.test(line)) isCode = !isCode;
    if (isCode || line === "" || /^(?:```|~~~)/.test(line)) last = null;
    else if (line.startsWith("|"))
      found.push(...line.split("|").map((cell) => ({ line: index + 1, text: cell.trim() })));
    else if (last !== null && !/^(?:[-*#>]|\d+\.)\s/.test(line)) last.text += ` ${line}`;
    else found.push((last = { line: index + 1, text: line.replace(/^(?:[-*#>]+|\d+\.)\s+/, "") }));
  }
  return found.map((each) => ({ ...each, text: each.text.replace(/`[^`]*`/g, "CODE") }));
}

/** Returns the strings on one line that are sentences (four words or more), each with its line. */
function sentencesIn(source: string): { readonly line: number; readonly text: string }[] {
  return source.split("\n").flatMap((line, index) => {
    if (/^\s*(?:\/\/|\/\*|\*|import )/.test(line)) return [];
    return [...line.matchAll(/"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`?|'((?:[^'\\]|\\.)*)'/g)]
      .map(([, double, template, single]) => double ?? template ?? single ?? "")
      .filter((text) => /^\S+(?: \S+){3,}$/.test(text))
      .map((text) => ({ line: index + 1, text }));
  });
}

const isTestFile = (path: string): boolean => /(?:\.test|\.suite)\.tsx?$|^test\/|\/testing\//.test(path);

/** What Markdown is not English, or is written by others. */
const otherTexts = /^(?:examples\/library\/|test\/(?:e2e\/workspace|fixtures)\/)/;

const findings = [
  ...filesNamed(/\.tsx?$/).map((path) => {
    const source = readFileSync(`${root}${path}`, "utf8");
    const sentences = isTestFile(path) ? testNamesIn(source) : sentencesIn(source);
    return { path, texts: [...commentsIn(source), ...sentences] };
  }),
  ...filesNamed(/\.md$/)
    .filter((path) => !otherTexts.test(path))
    .map((path) => ({ path, texts: paragraphsIn(readFileSync(`${root}${path}`, "utf8")) })),
].flatMap(({ path, texts }) =>
  texts.flatMap(({ line, text }) =>
    stilted.flatMap(([phrase, instead]) => {
      const found = phrase.exec(text);
      return found === null ? [] : [{ path, message: `${path}:${line}: "${found[0].trim()}": ${instead}` }];
    }),
  ),
);

test("comments, errors, names of tests and Markdown avoid phrases that have to be read twice", () => {
  const unexpected = findings.filter(
    ({ path }) => !unwritten.some((folder) => path.startsWith(`${folder}/`)),
  );
  expect(unexpected.map(({ message }) => message)).toEqual([]);
});

test("a folder leaves the list of exceptions once its texts are rewritten", () => {
  const clean = unwritten.filter((folder) => !findings.some(({ path }) => path.startsWith(`${folder}/`)));
  expect(clean).toEqual([]);
});

test("a phrase is found in every kind of comment, also across lines", () => {
  const source = [
    "/** It is heard",
    " * of later. */",
    "const url = 'held against'; // ok",
    "  // Made anew.",
    "/* x */",
  ];
  expect(commentsIn(source.join("\n"))).toMatchObject([
    { line: 1, text: "It is heard of later." },
    { line: 4, text: "Made anew." },
    { line: 5, text: "x" },
  ]);
});

test("a phrase is found in the names of tests and in errors", () => {
  const source = [
    'test("what is anew", () => {',
    "  it.each([1])(",
    "    `goes ${on} on`,",
    'throw new Error("This is no text of a file.");',
    'import { a } from "./is no import of it";',
  ].join("\n");
  expect(testNamesIn(source).map(({ text }) => text)).toEqual(["what is anew", "goes ${on} on"]);
  expect(sentencesIn(source)).toEqual([{ line: 4, text: "This is no text of a file." }]);
});

test("a phrase is found in a paragraph, a list and a table of Markdown, and not in code", () => {
  const source = [
    "# It is",
    "",
    "one that went",
    "on `anew`.",
    "- mends",
    "| a | buried |",
    "```",
    "anew",
    "```",
  ];
  expect(paragraphsIn(source.join("\n"))).toEqual([
    { line: 1, text: "It is" },
    { line: 3, text: "one that went on CODE." },
    { line: 5, text: "mends" },
    { line: 6, text: "" },
    { line: 6, text: "a" },
    { line: 6, text: "buried" },
    { line: 6, text: "" },
  ]);
});
