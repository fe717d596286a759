import { basename, dirname, join } from "node:path";
import { fileExists, readText } from "./read-documents.ts";
import { stat } from "node:fs/promises";
import { IgnoreRules, ignoreFileName } from "../workspace/ignore-rules.ts";

/** Folders above an extension's that are looked at for its repository. */
const maxFoldersAbove = 32;

/**
 * Returns the paths, relative to `folder`, that git leaves out by the `.gitignore` files of the folder and of the
 * repository around it. Where git leaves out the folder as a whole, as with installed packages, only its own files count.
 */
export async function gitIgnored(folder: string, paths: readonly string[]): Promise<Set<string>> {
  const ignored = new Set<string>();
  if (paths.length === 0) return ignored;
  const around = await rulesAround(folder);
  const known = new Map<string, Promise<IgnoreRules>>();
  const rulesOf = (inner: string): Promise<IgnoreRules> => {
    const before = known.get(inner);
    if (before !== undefined) return before;
    const above = inner === "" ? Promise.resolve(around) : rulesOf(parentOf(inner));
    const made = above.then((rules) => rulesIn(join(folder, inner), rules));
    known.set(inner, made);
    return made;
  };
  for (const path of paths) {
    const names = path.split("/");
    for (let depth = 0; depth < names.length; depth++) {
      const rules = await rulesOf(names.slice(0, depth).join("/"));
      const isLast = depth === names.length - 1;
      if (rules.verdict(`${names[depth]}${isLast ? "" : "/"}`) !== true) continue;
      ignored.add(path);
      break;
    }
  }
  return ignored;
}

const parentOf = (inner: string): string =>
  inner.includes("/") ? inner.slice(0, inner.lastIndexOf("/")) : "";

async function rulesAround(folder: string): Promise<IgnoreRules | null> {
  const above: string[] = [];
  for (let at = folder; above.length < maxFoldersAbove; at = dirname(at)) {
    if (at !== folder) above.unshift(at);
    if (await isRepository(at)) break;
    // Nobody's repository: what lies above says nothing.
    if (dirname(at) === at) return null;
  }
  let rules: IgnoreRules | null = null;
  for (const [index, at] of above.entries()) {
    rules = await rulesIn(at, rules);
    const next = above[index + 1] ?? folder;
    if (rules.verdict(`${basename(next)}/`) === true) return null;
  }
  return rules;
}

async function rulesIn(folder: string, above: IgnoreRules | null): Promise<IgnoreRules> {
  const text = await readText(join(folder, ignoreFileName)).catch(() => null);
  return new IgnoreRules(above, basename(folder), text, { hidden: true });
}

async function isRepository(folder: string): Promise<boolean> {
  const git = join(folder, ".git");
  if (await fileExists(git)) return true;
  return stat(git).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
