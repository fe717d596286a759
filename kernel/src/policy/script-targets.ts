import { foldFast } from "./name-patterns.ts";

/** Returns whether a path below a package, in that package's folder, is one that its scripts run. */
export type ScriptTargets = (path: string) => boolean;

const none: ScriptTargets = () => false;

/**
 * Reads what the scripts and `bin` of a `package.json` name. A word of a script names a file by its path, with or without
 * an ending; where a script may have changed its folder, the path's end is enough. A text that is no package names
 * nothing: no tool runs it either.
 */
export function scriptTargets(packageText: string): ScriptTargets {
  let document: unknown;
  try {
    document = JSON.parse(packageText.replace(/^\ufeff/, ""));
  } catch (error) {
    if (error instanceof SyntaxError) return none;
    throw error;
  }
  if (typeof document !== "object" || document === null) return none;
  const { scripts, bin } = document as { scripts?: unknown; bin?: unknown };
  const texts = [scripts, bin].flatMap((value) =>
    typeof value === "object" && value !== null ? Object.values(value) : [value],
  );
  const words = new Set<string>();
  for (const text of texts)
    if (typeof text === "string")
      for (const word of text.split(/[\s;&|<>()'"`=,]+/)) {
        const name = fold(word.replaceAll("\\", "/").replace(/^(?:\.{0,2}\/)+/, ""));
        if (name !== "") words.add(name);
      }
  if (words.size === 0) return none;
  return (path) => {
    const whole = fold(path);
    const bare = whole.replace(/\.[^./]*$/, "");
    const candidates = [whole, bare, ...(bare.endsWith("/index") ? [bare.slice(0, -"/index".length)] : [])];
    return candidates.some((candidate) => words.has(candidate) || endsWithOne(candidate, words));
  };
}

/** A single word without an ending ("test") is a command more often than a file somewhere below. */
function endsWithOne(path: string, words: ReadonlySet<string>): boolean {
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
    const end = path.slice(at + 1);
    if (/[./]/.test(end) && words.has(end)) return true;
  }
  return false;
}

function fold(path: string): string {
  return path.split("/").map(foldFast).join("/");
}
