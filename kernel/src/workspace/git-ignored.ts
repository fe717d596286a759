import { fileOrFolderExists } from "../platform/files/document-files.ts";
import { ignoreFileName, readIgnoreFile } from "../platform/files/ignore-file.ts";
import { basename, dirname, join } from "../platform/files/paths.ts";
import { IgnoreRules, ruleForAll } from "./ignore-rules.ts";

/** Folders above an extension's that are searched for its repository. */
const maxFoldersAbove = 32;

interface GitIgnored {
  /** Paths relative to the folder, as they were asked about. */
  readonly paths: ReadonlySet<string>;
  /** A sentence about a `.gitignore` that cannot be read; the paths beneath it count as ignored. */
  readonly fault: string | null;
}

/**
 * Returns the paths, relative to `folder`, that git leaves out by the `.gitignore` files of the folder and of the
 * repository around it. Where git leaves out the folder as a whole, as with installed packages, only its own files count.
 * A `.gitignore` that cannot be read leaves out everything beneath it.
 */
export async function gitIgnored(folder: string, paths: readonly string[]): Promise<GitIgnored> {
  const ignored = new Set<string>();
  const faults: string[] = [];
  if (paths.length === 0) return { paths: ignored, fault: null };
  const around = await rulesAround(folder, faults);
  // Unreadable rules may exclude a folder on the way here, which rules below cannot include again.
  if (faults.length > 0) return { paths: new Set(paths), fault: faults[0] ?? null };
  const known = new Map<string, Promise<IgnoreRules>>();
  const rulesOf = (inner: string): Promise<IgnoreRules> => {
    const before = known.get(inner);
    if (before !== undefined) return before;
    const above = inner === "" ? Promise.resolve(around) : rulesOf(parentOf(inner));
    const made = above.then((rules) => rulesIn(join(folder, inner), rules, faults));
    known.set(inner, made);
    return made;
  };
  for (const path of paths) {
    const names = path.split("/");
    for (let depth = 0; depth < names.length; depth++) {
      const rules = await rulesOf(names.slice(0, depth).join("/"));
      if (!rules.mayExclude(names[depth] ?? "")) continue;
      ignored.add(path);
      break;
    }
  }
  return { paths: ignored, fault: faults[0] ?? null };
}

const parentOf = (inner: string): string =>
  inner.includes("/") ? inner.slice(0, inner.lastIndexOf("/")) : "";

async function rulesAround(folder: string, faults: string[]): Promise<IgnoreRules | null> {
  const above: string[] = [];
  for (let at = folder; above.length < maxFoldersAbove; at = dirname(at)) {
    if (at !== folder) above.unshift(at);
    if (await fileOrFolderExists(join(at, ".git"))) break;
    // There is no repository, so the files above have no effect.
    if (dirname(at) === at) return null;
  }
  let rules: IgnoreRules | null = null;
  for (const [index, at] of above.entries()) {
    rules = await rulesIn(at, rules, faults);
    const next = above[index + 1] ?? folder;
    if (faults.length > 0) return rules;
    if (rules.verdict(`${basename(next)}/`) === true) return null;
  }
  return rules;
}

async function rulesIn(folder: string, above: IgnoreRules | null, faults: string[]): Promise<IgnoreRules> {
  const { text, fault } = await readIgnoreFile(folder);
  if (fault !== null) faults.push(`${join(folder, ignoreFileName)} ${fault}`);
  return new IgnoreRules(above, basename(folder), fault === null ? text : ruleForAll, { hidden: true });
}
