import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { literalsIn, whySlow } from "./slow-patterns.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

test.each([
  // A heading of a chat file, and ends of a word of a message: each has stopped a kernel.
  /^ {0,3}##(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/,
  /'[^\p{L}\p{N}]*$/u,
  /[:：][^\p{L}\p{N}]*$/u,
  /["'“”„«»‘’)\]}*_~」』）】》]+$/u,
  /^[a-z0-9]+(?:[.-][a-z0-9-]+)+$/,
  /([A-Za-z_][\w.]*)\s*(?:==|!=)\s*$/,
  /\S*\s*$/,
])("%s is slow for a character that is repeated", (pattern) => {
  expect(whySlow(pattern)).toMatch(/^".{1,2}" repeated$/);
});

test.each([
  /\$\{([^}]+)\}/g,
  /\[redacted: [^\]]*\]/,
  /checksum .* does not match/i,
  /r?"(?:\\.|[^"\\])*(?:"|$)/gu,
  /(?<=&nbsp;[^\n]+)(?<!&nbsp;)&nbsp;(?!&nbsp;)/g,
  /(?:ab)+(?:ab)+c/,
  /^(?:ab|a|b)*$/,
])("%s is slow for a text that is repeated", (pattern) => {
  expect(whySlow(pattern)).not.toBeNull();
});

test.each([
  /^ {0,3}##(?=[ \t]|$)/,
  /(?<!\/)\/+$/,
  /^[a-z0-9]+[.-][a-z0-9-]+(?:\.[a-z0-9-]+)*$/,
  /model.{0,200}(?:not found|does not exist)/,
  /"(?:[^"\\]|\\[^])*"?/g,
  /(\w+),\1;/y,
])("%s takes linear time for any text", (pattern) => {
  expect(whySlow(pattern)).toBeNull();
});

test("literals are told from divisions and comments", () => {
  const text = "const half = a / b / 2; // /c+/\nconst found: RegExp = /[/]d+/gi, more = `${/e/.source}`;";
  expect(literalsIn(text, "a.ts")).toEqual([
    { source: "[/]d+", flags: "gi" },
    { source: "e", flags: "" },
  ]);
});

test("every regular expression takes linear time: texts come from models, files and peers that nobody has checked", () => {
  const sources = globSync("{kernel,vscode-client,extensions}/**/src/**/*.{ts,tsx}", { cwd: root }).filter(
    (path) => !/(?:^|[\\/])(?:node_modules|dist|build-output|testing)[\\/]|\.test\.tsx?$/u.test(path),
  );
  expect(sources.length).toBeGreaterThan(500);
  const found = new Map<string, string>();
  for (const path of sources)
    for (const { source, flags } of literalsIn(readFileSync(`${root}${path}`, "utf8"), path))
      found.set(`/${source}/${flags}`, path);
  expect(found.size).toBeGreaterThan(300);
  const slow = [...found].flatMap(([literal, path]) => {
    const end = literal.lastIndexOf("/");
    const why = whySlow({ source: literal.slice(1, end), flags: literal.slice(end + 1) });
    return why === null ? [] : [`${path}: ${literal} is slow for ${why}`];
  });
  expect(slow).toEqual([]);
});
