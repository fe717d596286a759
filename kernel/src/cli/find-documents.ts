import { readdir, readFile, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { laresNames, manifestNames } from "../documents/names.ts";
import { UsageError } from "./command.ts";

export const documentNames: ReadonlySet<string> = new Set([...laresNames, ...manifestNames]);
const neverEntered = new Set(["node_modules", ".git"]);

/** Bounds of one look: folders entered, and how deep. */
export const maxFolders = 100_000;
export const maxDepth = 64;
/** A `.gitignore` larger than this is not one. */
const maxIgnoreBytes = 1024 * 1024;

interface Rules {
  readonly folder: string;
  readonly matcher: Ignore;
}

/**
 * Every document beneath the paths, sorted; what Git ignores is left out, links are not followed. A document that is
 * named itself is taken even where Git ignores it.
 */
export async function findDocuments(paths: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  let folders = 0;
  const enter = async (folder: string, depth: number, above: readonly Rules[]): Promise<void> => {
    folders += 1;
    if (folders > maxFolders)
      throw new UsageError(
        `More than ${maxFolders} folders beneath ${paths.join(", ")}: name a smaller one.`,
      );
    const entries = await readdir(folder, { withFileTypes: true });
    const own = entries.some((entry) => entry.name === ".gitignore" && entry.isFile())
      ? await rulesOf(folder)
      : null;
    const rules = own === null ? above : [...above, own];
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isFile() && documentNames.has(entry.name) && !isIgnored(path, false, rules)) found.add(path);
      if (!entry.isDirectory() || neverEntered.has(entry.name) || depth >= maxDepth) continue;
      if (!isIgnored(path, true, rules)) await enter(path, depth + 1, rules);
    }
  };
  for (const path of paths) {
    const kind = await stat(path).catch(() => null);
    if (kind === null) throw new UsageError(`There is no ${path}.`);
    if (kind.isDirectory()) await enter(path, 0, []);
    else if (documentNames.has(basename(path))) found.add(path);
    else throw new UsageError(`${path} is none of ${[...documentNames].join(", ")}.`);
  }
  return [...found].toSorted();
}

async function rulesOf(folder: string): Promise<Rules | null> {
  const path = join(folder, ".gitignore");
  if ((await stat(path)).size > maxIgnoreBytes) return null;
  return { folder, matcher: ignore().add(await readFile(path, "utf8")) };
}

/** The nearest rules that say anything about the path decide. */
function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  for (const { folder, matcher } of rules.toReversed()) {
    const inside = relative(folder, path).split(sep).join("/");
    const verdict = matcher.test(isFolder ? `${inside}/` : inside);
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}
