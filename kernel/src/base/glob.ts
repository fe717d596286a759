import picomatch from "picomatch";
import { RE2JS } from "re2js";
import { messageOf } from "./errors.ts";

/** Bounds on the cost of a pattern; each is checked before the pattern is compiled. */
export const globLimits = { length: 1024, alternatives: 64 } as const;

type Glob =
  | { readonly ok: true; readonly matches: (path: string) => boolean }
  | { readonly ok: false; readonly message: string };

export interface GlobOptions {
  /** Compare without regard to case. */
  readonly ignoreCase?: boolean;
  /** A pattern without a slash is matched against the path's last component. */
  readonly matchBase?: boolean;
  /** Compare code points as they are. Without it, both sides are compared in Unicode's NFC. */
  readonly exact?: boolean;
}

/**
 * Compiles a glob: `*` and `?` (not across "/"), `**` as a component of its own (across), `[a-z]`, `[!a]`, `{a,b}`, and
 * `\` before a character that is meant literally. Names that begin with a dot are ordinary names; every other
 * character, parentheses included, stands for itself. `photos/**` matches the contents of the folder, not the folder.
 *
 * Matching takes time linear in the length of the path, whatever the pattern: picomatch translates it, RE2 runs it.
 * Paths must be in canonical form (no ".", "..", "//").
 */
export function compileGlob(pattern: string, options: GlobOptions = {}): Glob {
  const fault = faultOf(pattern);
  if (fault !== null) return { ok: false, message: fault };
  const formOf = (text: string): string => (options.exact === true ? text : text.normalize("NFC"));
  const source = picomatch.makeRe(escapeRegexSyntax(formOf(pattern)), translation).source;
  const flags = RE2JS.DOTALL | (options.ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0);
  let expression: RE2JS;
  try {
    expression = RE2JS.compile(withoutLookarounds(source), flags);
  } catch (error) {
    return {
      ok: false,
      message: `The pattern "${pattern}" is not a valid glob: ${messageOf(error)}.`,
    };
  }
  const onBase = options.matchBase === true && !pattern.includes("/");
  return {
    ok: true,
    matches: (path) => {
      const subject = formOf(path);
      return expression.test(onBase ? subject.slice(subject.lastIndexOf("/") + 1) : subject);
    },
  };
}

const translation = {
  dot: true,
  noextglob: true,
  nonegate: true,
  strictSlashes: true,
  posix: true,
  windows: false,
  fastpaths: false,
  keepQuotes: true,
} satisfies picomatch.PicomatchOptions;

/**
 * Removes the lookarounds from picomatch's expression, because RE2 has none. The result matches the same canonical
 * paths. An unknown lookaround is left in place, and RE2 then rejects the pattern.
 */
function withoutLookarounds(source: string): string {
  return redundantLookarounds.reduce(
    (rest, lookaround) => rest.replaceAll(lookaround, ""),
    source.replaceAll(endBeforeName, ")"),
  );
}

/** picomatch's guard before a `*` that begins a component: the component is neither "." nor "..". */
const notDots = "(?!\\.{1,2}(?:\\/|$))";
/** picomatch's second guard there: the component has at least one character. */
const notEmpty = "(?=.)";

// picomatch lets a path end before "/**/": "a/**/" also matches "a". A "*" that follows cancels this, because
// `notEmpty` fails at the end: "a/**/*" does not match "a". In a canonical path `notEmpty` fails nowhere else, so both
// can be removed together.
const endBeforeName = `|$)${notDots}${notEmpty}`;

/** Lookarounds that hold everywhere in a canonical path, because no component is ".", ".." or empty. */
const redundantLookarounds = ["(?!(?:^|\\/)\\.{1,2}(?:\\/|$))", notDots, "(?!\\.{0,1}(?:\\/|$))", notEmpty];

/** Characters that picomatch would pass on as regular expression syntax; in a path they stand for themselves. */
const regexSyntax = new Set(["(", ")", "|", "+", "^", "$", "@", "!", '"', "'"]);

function escapeRegexSyntax(pattern: string): string {
  let escaped = "";
  let inClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === "\\") {
      escaped += character + pattern.charAt(++at);
      continue;
    }
    if (character === "[") inClass = true;
    else if (character === "]") inClass = false;
    escaped += !inClass && regexSyntax.has(character) ? `\\${character}` : character;
  }
  return escaped;
}

/** Returns why the pattern cannot be compiled, as a sentence, or null if it can. */
function faultOf(pattern: string): string | null {
  if (pattern === "") return "The pattern is empty; write ** for every path.";
  if (pattern.length > globLimits.length) {
    return `The pattern has ${pattern.length} characters; at most ${globLimits.length} are allowed.`;
  }
  // For each open brace: the number of completed alternatives, and the product of those in the current one.
  const open: { completed: number; current: number }[] = [];
  let total = 1;
  let inClass = false;
  const multiply = (factor: number): void => {
    const innermost = open.at(-1);
    if (innermost === undefined) total *= factor;
    else innermost.current *= factor;
  };
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === "\\") {
      if (at === pattern.length - 1)
        return `The pattern "${pattern}" ends in a backslash; use "/" between folders.`;
      at++;
    } else if (inClass) {
      if (character === "]") inClass = false;
      else if (character === "/") return `The pattern "${pattern}" has a "/" inside [ ]; no name holds one.`;
    } else if (character === "[") {
      inClass = true;
      // "]" directly after the opening bracket (or its negation) is a member of the class.
      if (/^[!^]?\]/.test(pattern.slice(at + 1))) at += pattern.charAt(at + 1) === "]" ? 1 : 2;
    } else if (character === "{") {
      open.push({ completed: 0, current: 1 });
    } else if (character === "," && open.length > 0) {
      const innermost = open.at(-1);
      if (innermost !== undefined) {
        innermost.completed += innermost.current;
        innermost.current = 1;
      }
    } else if (character === "}") {
      const closedBrace = open.pop();
      if (closedBrace === undefined) return `The pattern "${pattern}" closes a brace that was not opened.`;
      multiply(closedBrace.completed + closedBrace.current);
    } else if (character === "." && pattern.startsWith("..", at) && open.length > 0) {
      return `The pattern "${pattern}" has a brace range; list the alternatives instead, {1,2,3}.`;
    }
  }
  if (inClass)
    return `The pattern "${pattern}" opens a "[" that is not closed; write "\\[" for the character itself.`;
  if (open.length > 0)
    return `The pattern "${pattern}" opens a "{" that is not closed; write "\\{" for the character itself.`;
  if (total > globLimits.alternatives) {
    return `The pattern "${pattern}" stands for ${total} alternatives; at most ${globLimits.alternatives} are allowed.`;
  }
  return null;
}
