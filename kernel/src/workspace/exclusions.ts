import { LaresError } from "../base/errors.ts";
import { compileGlob } from "../base/glob.ts";
import type { EntryKind } from "../base/vocabulary/entry.ts";
import type { OpenFolder } from "../platform/files/folder-reader.ts";
import { ignoreFileName } from "../platform/files/ignore-file.ts";
import { restrainingGlob } from "../policy/globs.ts";
import { foldPath } from "../policy/paths.ts";
import { type IgnoreOptions, IgnoreRules, ruleForAll } from "./ignore-rules.ts";
import { workspaceLimits } from "./limits.ts";
import { Places } from "./places.ts";
import type { EntryNode } from "./tree.ts";

interface ExclusionOptions {
  readonly hidden: boolean;
  readonly ignore: readonly string[];
  /** Workspace paths that are never listed. */
  readonly never: readonly string[];
}

/**
 * Decides what the index excludes: hidden names, .gitignore, the configured globs, the kernel's own folders. The
 * configuration applies to any spelling of a name. A .gitignore applies as it does in git; for a path that is not
 * listed, it applies to any spelling, too.
 */
export class Exclusions {
  readonly #places: Places;
  readonly #options: ExclusionOptions;
  readonly #globs: readonly ((path: string) => boolean)[];
  /** Folded. */
  readonly #never: ReadonlySet<string>;
  readonly #rules = new Map<EntryNode, IgnoreRules>();

  /** Throws InvalidDocument for an invalid glob. */
  constructor(places: Places, options: ExclusionOptions) {
    this.#places = places;
    this.#options = options;
    this.#never = new Set(options.never.map(foldPath));
    this.#globs = options.ignore.map((pattern) => {
      const glob = compileGlob(pattern, { matchBase: true });
      if (!glob.ok) throw new LaresError("InvalidDocument", `The index cannot ignore this: ${glob.message}`);
      return restrainingGlob(pattern, { matchBase: true }).matches;
    });
  }

  excludes(folder: EntryNode, name: string, kind: EntryKind): boolean {
    if (this.#rulesOf(folder).excludes(name, kind)) return true;
    if (this.#globs.length === 0 && this.#never.size === 0) return false;
    return this.#isConfigured(Places.pathIn(folder, name));
  }

  /**
   * Returns true if a path with these names, one beneath the other, may be excluded, whatever its kind. Folders that
   * the index does not have yet are read for their own rules.
   */
  mayExclude(folder: EntryNode, names: readonly string[]): boolean {
    let rules = this.#rulesOf(folder);
    let path = Places.pathIn(folder, "").slice(0, -1);
    for (const [index, name] of names.entries()) {
      if (rules.mayExclude(name)) return true;
      path = path === "" ? name : `${path}/${name}`;
      if (this.#isConfigured(path)) return true;
      if (index === names.length - 1) break;
      const text = readRules(this.#places.open(folder, names.slice(0, index + 1)));
      rules = new IgnoreRules(rules, name, text, this.#ruleOptions(folder));
    }
    return false;
  }

  /** Returns true if any name here without a leading dot may be excluded. The folder's rules must be loaded. */
  mayExcludeIn(folder: EntryNode): boolean {
    if (this.#globs.length > 0 || this.#rulesOf(folder).hasRules) return true;
    const inFolder = foldPath(Places.pathIn(folder, ""));
    return [...this.#never].some((path) => path.startsWith(inFolder));
  }

  /** Returns true if a hint about this name can be ignored without a look. */
  isNeverOfInterest(name: string): boolean {
    return !this.#options.hidden && name.startsWith(".") && name !== ignoreFileName;
  }

  /** Loads the rules above this folder. Loading opens folders, which must not happen while this folder is open. */
  warm(folder: EntryNode): void {
    if (folder.isEntry && folder.parent !== null) this.#rulesOf(folder.parent);
  }

  /** Reloads an open folder's own rules; call `warm` first. */
  readRules(folder: EntryNode, open: OpenFolder, names: readonly string[]): void {
    this.setRules(folder, names.includes(ignoreFileName) ? readRules(open) : null);
  }

  /** Sets the text of a folder's own rules; null if it has none. Call `warm` first. */
  setRules(folder: EntryNode, text: string | null): void {
    this.#rules.set(folder, this.#compile(folder, text));
  }

  forget(folder: EntryNode): void {
    this.#rules.delete(folder);
  }

  #rulesOf(folder: EntryNode): IgnoreRules {
    const known = this.#rules.get(folder);
    if (known !== undefined) return known;
    const text = readRules(this.#places.open(folder));
    const rules = this.#compile(folder, text);
    this.#rules.set(folder, rules);
    return rules;
  }

  #compile(folder: EntryNode, text: string | null): IgnoreRules {
    const above = folder.isEntry && folder.parent !== null ? this.#rulesOf(folder.parent) : null;
    return new IgnoreRules(above, folder.name, text, this.#ruleOptions(folder));
  }

  #isConfigured(path: string): boolean {
    return (
      (this.#never.size > 0 && this.#never.has(foldPath(path))) ||
      this.#globs.some((matches) => matches(path))
    );
  }

  #ruleOptions(folder: EntryNode): IgnoreOptions {
    const foldsCase = this.#places.locate(folder)?.place.reader.foldsCase === true;
    return { hidden: this.#options.hidden, foldsCase };
  }
}

/** Rules that cannot be read may name anything, so everything is excluded. */
function readRules(folder: OpenFolder | null): string | null {
  const bytes = folder?.readBytes(ignoreFileName, workspaceLimits.ignoreFileBytes) ?? null;
  if (bytes === "unreadable") return ruleForAll;
  return bytes === null ? null : new TextDecoder().decode(bytes);
}
