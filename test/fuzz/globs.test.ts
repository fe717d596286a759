import process from "node:process";
import fc from "fast-check";
import picomatch from "picomatch";
import { afterAll, expect } from "vitest";
import { compileGlob } from "../../kernel/src/base/glob.ts";
import { fuzz } from "./support/campaign.ts";

const target = "globs";

/**
 * The limit for compiling any accepted pattern and matching it with any path, as a multiple of a reference in the same
 * run. The reference keeps a thousand states alive through the longest possible path.
 */
const maxTimesReference = 5;
const longestPath = 4096;
const worst = { ratio: 0, pattern: "" };
afterAll(() => {
  if (worst.ratio > 0)
    console.log(
      `${target}: the worst pattern took ${worst.ratio.toFixed(2)} × the reference: ${worst.pattern}`,
    );
});

/**
 * Milliseconds of processor time for compiling and matching once, including what a second match would reuse. Real time
 * would include the other workers of `npm test`.
 */
function timeOf(pattern: string, ignoreCase: boolean, path: string): number {
  const start = process.threadCpuUsage();
  const glob = compileGlob(pattern, { ignoreCase });
  if (glob.ok) glob.matches(path);
  const { user, system } = process.threadCpuUsage(start);
  return (user + system) / 1000;
}

/** Returns the path with some letters changed, the same ones each time. */
function mixedUp(path: string): string {
  let seed = 7;
  return Array.from(path, (letter) => ((seed = (seed * 48271) % 2147483647) % 3 === 0 ? "b" : letter)).join(
    "",
  );
}

let referenceMs = 0;
function reference(): number {
  const pattern = `*a${"?".repeat(1000)}`;
  const path = mixedUp("ab".repeat(longestPath / 2));
  referenceMs ||= Math.min(...[1, 2, 3].map(() => timeOf(pattern, false, path)));
  return referenceMs;
}

const part = fc.oneof(
  fc.constantFrom(
    "*",
    "**",
    "**/",
    "/",
    "?",
    "a",
    "b",
    "{a,b}",
    "{*a,*b}",
    "{a,{b,**/}}",
    "[ab]",
    "[!a]",
    "*a",
    "?*",
  ),
  fc.constantFrom(
    "+(a|a)",
    "@(a|b)",
    "!(a)",
    "(a+)+",
    "{,a}",
    "{a,}",
    "\\*",
    "[a-z]",
    "[[:alpha:]]",
    "{a..z}",
    "**/*/",
  ),
  fc.constantFrom(
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    "!",
    "^",
    "$",
    "|",
    "\\",
    ".",
    "..",
    "é",
    "\u0301",
    "\ud800",
  ),
);
/** A few parts, each repeated, as in pattern bombs. */
const pattern = fc
  .array(
    fc.record({
      part: fc.array(part, { minLength: 1, maxLength: 3 }),
      times: fc.oneof(fc.nat(3), fc.nat(400)),
    }),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((parts) => parts.map(({ part, times }) => part.join("").repeat(times + 1)).join(""));

fuzz({
  target,
  property: "no accepted pattern takes longer than its bound, compiling included, and none throws",
  arbitrary: fc.record({
    pattern,
    ignoreCase: fc.boolean(),
    unit: fc.constantFrom("a", "ab", "a/", "ab/b", "aaab", "é"),
    mixed: fc.boolean(),
    length: fc.constantFrom(20, 500, 4096),
  }),
  runs: 60,
  check: ({ pattern, ignoreCase, unit, mixed, length }) => {
    const unmixed = unit.repeat(length).slice(0, length);
    const path = mixed ? mixedUp(unmixed) : unmixed;
    const limit = reference() * maxTimesReference;
    let taken = timeOf(pattern, ignoreCase, path);
    // A busy machine is not the pattern's fault.
    for (let again = 0; again < 3 && taken > limit; again++)
      taken = Math.min(taken, timeOf(pattern, ignoreCase, path));
    expect(taken, `milliseconds, of ${limit} allowed`).toBeLessThanOrEqual(limit);
    const ratio = taken / reference();
    if (ratio > worst.ratio) Object.assign(worst, { ratio, pattern: JSON.stringify(pattern.slice(0, 80)) });
    const glob = compileGlob(pattern, { ignoreCase });
    if (!glob.ok) expect(glob.message).toMatch(/^The pattern .+[.]$/s);
  },
});

const plain = fc.constantFrom(
  "a",
  "b",
  ".",
  "*",
  "**",
  "?",
  "/",
  "[ab]",
  "[!b]",
  "/**/*",
  "{a,b}",
  "{a,b/c}",
  "x",
  "**/",
  "c",
);
const isCanonical = (text: string): boolean =>
  !text.includes("//") && !text.startsWith("/") && !/(^|\/)\.{1,2}(\/|$)/.test(text);

fuzz({
  target,
  property: "says what picomatch says of canonical paths",
  arbitrary: fc.record({
    pattern: fc
      .array(plain, { minLength: 1, maxLength: 10 })
      .map((parts) => parts.join(""))
      .filter(isCanonical),
    path: fc
      .array(
        fc.stringMatching(/^[abcx.]{1,4}$/).filter((name) => name !== "." && name !== ".."),
        { minLength: 1, maxLength: 5 },
      )
      .map((names) => names.join("/")),
  }),
  runs: 1000,
  check: ({ pattern, path }) => {
    const glob = compileGlob(pattern);
    if (!glob.ok) return;
    const options = {
      dot: true,
      noextglob: true,
      nonegate: true,
      strictSlashes: true,
      posix: true,
      fastpaths: false,
    };
    expect(glob.matches(path)).toBe(picomatch(pattern, options)(path));
  },
});
