import ignore, { type Ignore } from "ignore";
import { foldName, foldPattern, isStagingName } from "../base/names.ts";
import { foldPath } from "../policy/paths.ts";
import { workspaceLimits } from "./limits.ts";

/** The rule that excludes everything in its folder. */
export const ruleForAll = "*";

/** Names that are always excluded: version control folders, the kernel's folder and its temporary files. */
export function isAlwaysExcluded(name: string): boolean {
  if (!name.startsWith(".")) return false;
  const lower = name.toLowerCase();
  return lower === ".git" || lower === ".lares" || isStagingName(lower);
}

/** Compiled patterns. They are recompiled now and then, because the library caches every answer without a bound. */
class Patterns {
  readonly #patterns: readonly string[];
  readonly #ignoresCase: boolean;
  #compiled: Ignore;
  #answers = 0;

  constructor(patterns: readonly string[], ignoresCase: boolean) {
    this.#patterns = patterns;
    this.#ignoresCase = ignoresCase;
    this.#compiled = this.#compile();
  }

  verdict(path: string): boolean | null {
    if (++this.#answers > workspaceLimits.ignoreAnswers) {
      this.#compiled = this.#compile();
      this.#answers = 0;
    }
    const { ignored, unignored } = this.#compiled.test(path);
    return ignored ? true : unignored ? false : null;
  }

  #compile(): Ignore {
    return ignore({ ignorecase: this.#ignoresCase }).add([...this.#patterns]);
  }
}

/** One .gitignore. */
class IgnoreFile {
  readonly #patterns: readonly string[];
  readonly #exact: Patterns;
  #folded: Patterns | null = null;

  /** Case-sensitive as in git, unless the file system ignores case. */
  constructor(patterns: readonly string[], foldsCase: boolean) {
    this.#patterns = patterns;
    this.#exact = new Patterns(patterns, foldsCase);
  }

  verdict(path: string): boolean | null {
    return this.#exact.verdict(path);
  }

  foldedVerdict(path: string): boolean | null {
    this.#folded ??= new Patterns(this.#patterns.map(foldPattern), true);
    return this.#folded.verdict(foldPath(path));
  }
}

export interface IgnoreOptions {
  /** True if names that begin with a dot are listed. */
  readonly hidden: boolean;
  /** True if the file system treats names that differ in case as the same. */
  readonly foldsCase?: boolean;
}

/** The rules for one folder: its own .gitignore and those of the folders above it. */
export class IgnoreRules {
  readonly #above: IgnoreRules | null;
  readonly #name: string;
  readonly #file: IgnoreFile | null;
  readonly hidden: boolean;

  /** `name` is the folder's own; the topmost folder of a root has nothing above it. */
  constructor(above: IgnoreRules | null, name: string, text: string | null, options: IgnoreOptions) {
    this.#above = above;
    this.#name = name;
    const patterns = text === null ? [] : patternsOf(text);
    this.#file = patterns.length === 0 ? null : new IgnoreFile(patterns, options.foldsCase === true);
    this.hidden = options.hidden;
  }

  /** True if any .gitignore applies here. Does not cover names that begin with a dot. */
  get hasRules(): boolean {
    return this.#file !== null || this.#above?.hasRules === true;
  }

  /** Returns true if the child of that name is excluded. The nearest file with a matching rule decides. */
  excludes(name: string, kind: "file" | "folder"): boolean {
    if (isAlwaysExcluded(name)) return true;
    if (!this.hidden && name.startsWith(".")) return true;
    return this.verdict(kind === "folder" ? `${name}/` : name) ?? false;
  }

  /**
   * Returns true if the child of that name may be excluded, whatever its kind and in any spelling that some file system
   * treats as the same name.
   */
  mayExclude(name: string): boolean {
    if (this.excludes(name, "file") || this.excludes(name, "folder")) return true;
    const folded = foldName(name);
    if (isAlwaysExcluded(folded) || (!this.hidden && folded.startsWith("."))) return true;
    return this.foldedVerdict(name) === true || this.foldedVerdict(`${name}/`) === true;
  }

  /** As `verdict`, with names and patterns folded. */
  foldedVerdict(path: string): boolean | null {
    return this.#file?.foldedVerdict(path) ?? this.#above?.foldedVerdict(`${this.#name}/${path}`) ?? null;
  }

  /** Returns the verdict of the nearest file with a rule that matches the path, which is relative to this folder. */
  verdict(path: string): boolean | null {
    return this.#file?.verdict(path) ?? this.#above?.verdict(`${this.#name}/${path}`) ?? null;
  }
}

/**
 * Returns the lines that are rules, within the bounds of `workspaceLimits`. Exceeding a bound never shows more: a rule
 * is replaced by one that excludes more, an exception is dropped, and too many rules end in one that excludes
 * everything.
 */
export function patternsOf(text: string): string[] {
  const rules = text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .flatMap(bounded);
  return rules.length <= workspaceLimits.ignoreRules
    ? rules
    : [...rules.slice(0, workspaceLimits.ignoreRules), ruleForAll];
}

/** Returns the rule, or a shorter one that matches at least everything that it matches. */
function bounded(rule: string): string[] {
  const { ignoreRuleLength: length, ignoreRuleGlobstars: globstars } = workspaceLimits;
  const parts = rule.split("**");
  if (rule.length <= length && parts.length - 1 <= globstars) return [rule];
  if (rule.startsWith("!")) return [];
  // A cut inside brackets would change the meaning of the part before it.
  if (rule.includes("[")) return [ruleForAll];
  const start = parts.slice(0, globstars).join("**").slice(0, length);
  const isCutAfterEscape = /(?:^|[^\\])(?:\\\\)*\\$/.test(start);
  return [`${isCutAfterEscape ? start.slice(0, -1) : start}*`];
}
