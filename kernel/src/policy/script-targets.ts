import { foldFast } from "./name-patterns.ts";

/** Returns true if the package's scripts run a path. The path is relative to the package's folder. */
export type ScriptTargets = (path: string) => boolean;

const none: ScriptTargets = () => false;

/**
 * Reads what a `package.json` names: its scripts, `bin` and `main` with their files, folders and wildcards, and the
 * paths in every other text, because `node .` runs `main` and a test runner its `setupFiles`. A word of a script names
 * a file by its path, with or without an extension; if a script may have changed its folder, the end of the path
 * suffices. A text that is not a valid package names nothing, because no tool runs it either.
 */
export function scriptTargets(packageText: string): ScriptTargets {
  let document: unknown;
  try {
    document = JSON.parse(packageText.replace(/^\ufeff/, ""));
  } catch (error) {
    if (error instanceof SyntaxError) return none;
    throw error;
  }
  if (typeof document !== "object" || document === null || Array.isArray(document)) return none;
  const about = document as Readonly<Record<string, unknown>>;
  const named = new NamedFiles();
  for (const [key, value] of Object.entries(about)) {
    if (listsOnly.has(key)) continue;
    const isCommand = commandKeys.has(key);
    for (const text of textsIn(value)) {
      if (isCommand) named.addCommand(text);
      else named.addPaths(text);
    }
  }
  for (const folder of textsIn(memberOf(about["directories"], "bin"))) named.addCommand(`${folder}/`);
  // What npm runs for `npm start` if no script is defined for it.
  if (memberOf(about["scripts"], "start") === undefined) named.addPaths("server.js");
  return (path) => named.has(fold(path));
}

/** Returns true if something could run a file, by its extension or because it has none. */
export function isProgram(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return !name.includes(".") || programEnding.test(name);
}

const programEnding =
  /\.(?:[cm]?[jt]sx?|coffee|py[wc]?|rb|pl|pm|php|lua|tcl|r|jl|go|rs|java|kts?|scala|swift|cs|fsx?|groovy|gradle|exs?|erl|hs|clj|awk|sed|mk|wasm|vue|svelte)$/i;

const commandKeys: ReadonlySet<string> = new Set(["scripts", "bin", "main"]);
/** Lists of published files, places of packages, and texts for people. */
const listsOnly: ReadonlySet<string> = new Set(["files", "workspaces", "name", "description", "keywords"]);
/** Words with which a script changes its folder before it names a file. */
const folderWords: ReadonlySet<string> = new Set(["cd", "pushd", "--prefix", "--cwd", "-c", "--dir"]);
/** Commands that read, copy or remove the files of a folder or a wildcard, and run none of them. */
const readers: ReadonlySet<string> = new Set(
  "prettier eslint oxlint stylelint biome dprint tsc tslint standard xo markdownlint rm rimraf del-cli cp cpx cpy copyfiles".split(
    " ",
  ),
);
/** The files that run if a folder is named. */
const folderPrograms = ["index.js", "index.cjs", "index.mjs", "index.ts", "index.json", "index.node"];

/** Yields all texts in a JSON value, at any depth. */
function* textsIn(value: unknown): Generator<string> {
  const open = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string") yield next;
    else if (typeof next === "object" && next !== null) open.push(...Object.values(next));
  }
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

/** Folded paths. */
class NamedFiles {
  readonly #words = new Set<string>();
  /** Words that name a file by the end of its path. */
  readonly #wordsElsewhere = new Set<string>();
  /** Folders whose programs are named, with the extensions that these have; "" is any. */
  readonly #folders = new Map<string, Set<string>>();
  readonly #foldersElsewhere = new Map<string, Set<string>>();

  /** Adds what a script's text may name. */
  addCommand(text: string): void {
    const commands = text
      .replaceAll("\\", "/")
      .replaceAll(/\{[^{},\s]*,[^{}\s]*\}/g, "*")
      .split(/[;&|\n]+/)
      .map((command) => command.split(separators).filter((word) => word !== ""));
    const goesElsewhere = commands.flat().some((word) => folderWords.has(word.toLowerCase()));
    for (const words of commands) {
      const runs = !words.some((word) => readers.has(word));
      for (const word of words) for (const one of spellings(word)) this.#add(one, goesElsewhere, runs);
    }
  }

  /** Adds the words of any other text that are paths. */
  addPaths(text: string): void {
    for (const word of text.replaceAll("\\", "/").split(separators))
      if (/[./]/.test(word)) this.#words.add(fold(resolved(word)));
  }

  has(whole: string): boolean {
    const bare = whole.replace(/\.[^./]*$/, "");
    const candidates = [whole, bare, ...(bare.endsWith("/index") ? [bare.slice(0, -"/index".length)] : [])];
    return (
      candidates.some((candidate) => this.#words.has(candidate) || this.#endsWithOne(candidate)) ||
      (isProgram(whole) && this.#isInFolder(whole))
    );
  }

  #add(word: string, goesElsewhere: boolean, runs: boolean): void {
    const bare = word.replace(variables, "");
    const isElsewhere = goesElsewhere || bare !== word;
    const path = fold(resolved(bare));
    if (isWildcard(path)) {
      // Not a path, but a wildcard over the names of other scripts ("build:*").
      if (runs && !path.includes(":")) this.#addWildcard(path, isElsewhere);
      return;
    }
    if (path === "") {
      if (runs && /^\.{1,2}\/?$/.test(bare)) for (const name of folderPrograms) this.#words.add(name);
      return;
    }
    this.#words.add(path);
    if (isElsewhere) this.#wordsElsewhere.add(path);
    if (runs && bare.endsWith("/")) this.#addFolder(path, "", isElsewhere);
  }

  #addWildcard(path: string, isElsewhere: boolean): void {
    const names = path.split("/");
    const first = names.findIndex((name) => /[*?[]/.test(name));
    const ending = /\.(\w+)$/.exec(path)?.[1] ?? "";
    this.#addFolder(names.slice(0, first).join("/"), ending, isElsewhere);
  }

  #addFolder(folder: string, ending: string, isElsewhere: boolean): void {
    for (const folders of isElsewhere ? [this.#folders, this.#foldersElsewhere] : [this.#folders]) {
      const endings = folders.get(folder) ?? new Set();
      folders.set(folder, endings.add(ending));
    }
  }

  /**
   * A single word without an extension ("test") is more often a command than a file somewhere below, unless a script
   * changes its folder: `cd tools && node gen` runs `tools/gen.js`.
   */
  #endsWithOne(path: string): boolean {
    for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
      const end = path.slice(at + 1);
      if (this.#wordsElsewhere.has(end) || (/[./]/.test(end) && this.#words.has(end))) return true;
    }
    return false;
  }

  #isInFolder(path: string): boolean {
    const ending = path.slice(path.lastIndexOf(".") + 1);
    const holds = (folders: ReadonlyMap<string, ReadonlySet<string>>, folder: string): boolean => {
      const endings = folders.get(folder);
      return endings !== undefined && (endings.has("") || endings.has(ending));
    };
    if (holds(this.#folders, "")) return true;
    for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
      if (holds(this.#folders, path.slice(0, end))) return true;
      if (this.#foldersElsewhere.size === 0) continue;
      for (let start = 0; start < end; start = path.indexOf("/", start) + 1 || end)
        if (holds(this.#foldersElsewhere, path.slice(start, end))) return true;
    }
    return false;
  }
}

const separators = /[\s;&|<>()'"`=,]+/;
/** Everything up to the last shell variable: what follows is a path in a folder that is not known here. */
const variables = /^.*(?:\$\{?\w+\}?|%\w+%)/;

/** Returns the word, and the value of an option that is written as one word: `-r./setup.js`. */
function spellings(word: string): string[] {
  if (!word.startsWith("-")) return [word];
  const value = /^-\w(.+)$/.exec(word)?.[1] ?? word.slice(word.indexOf(":") + 1);
  return value === "" ? [word] : [word, value];
}

/** Resolves "." and ".."; a folder above the package counts as the package. "" is the package itself. */
function resolved(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "..") names.pop();
    else if (name !== "." && name !== "") names.push(name);
  }
  return names.join("/");
}

function isWildcard(path: string): boolean {
  const opening = path.indexOf("[");
  return /[*?]/.test(path) || (opening !== -1 && path.lastIndexOf("]") > opening + 1);
}

function fold(path: string): string {
  return path.split("/").map(foldFast).join("/");
}
