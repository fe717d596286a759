import { readdir, stat } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { laresNames, manifestNames } from "../documents/names.ts";
import { ignoreFileName, readIgnoreFile } from "../platform/files/ignore-file.ts";
import { UsageError } from "./command.ts";

const documentNames: ReadonlySet<string> = new Set([...laresNames, ...manifestNames]);
const neverEntered = new Set(["node_modules", ".git"]);

/** Bounds of the search: folders entered, and their depth. */
const maxFolders = 100_000;
const maxDepth = 64;

interface Rules {
  readonly folder: string;
  readonly matcher: Ignore;
}

interface FoundDocuments {
  /** Sorted. */
  readonly documents: readonly string[];
  /**
   * Files named `.gitignore` that cannot be read, each with a clause that gives the reason. They count as empty here.
   */
  readonly unreadRules: readonly { readonly file: string; readonly fault: string }[];
}

/**
 * Finds every document beneath the paths. Ignores what Git ignores and does not follow links. A document that is named
 * itself is included even if Git ignores it.
 */
export async function findDocuments(paths: readonly string[]): Promise<FoundDocuments> {
  const found = new Set<string>();
  const unreadRules: { file: string; fault: string }[] = [];
  let folders = 0;
  const enter = async (folder: string, depth: number, above: readonly Rules[]): Promise<void> => {
    folders += 1;
    if (folders > maxFolders)
      throw new UsageError(
        `More than ${maxFolders} folders beneath ${paths.join(", ")}. Name a smaller folder.`,
      );
    const entries = await readdir(folder, { withFileTypes: true });
    const own = entries.some(({ name }) => name === ignoreFileName) ? await readIgnoreFile(folder) : null;
    if (own !== null && own.fault !== null)
      unreadRules.push({ file: join(folder, ignoreFileName), fault: own.fault });
    const text = own?.text ?? null;
    const rules = text === null ? above : [...above, { folder, matcher: ignore().add(text) }];
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isFile() && documentNames.has(entry.name) && !isIgnored(path, false, rules)) found.add(path);
      if (!entry.isDirectory() || neverEntered.has(entry.name) || depth >= maxDepth) continue;
      if (!isIgnored(path, true, rules)) await enter(path, depth + 1, rules);
    }
  };
  for (const path of paths) {
    const kind = await stat(path).catch(() => null);
    if (kind === null) throw new UsageError(`"${path}" does not exist.`);
    if (kind.isDirectory()) await enter(path, 0, []);
    else if (documentNames.has(basename(path))) found.add(path);
    else
      throw new UsageError(
        `${path} is not a document of Lares. Name a folder, or a file called ${[...documentNames].join(", ")}.`,
      );
  }
  return { documents: [...found].toSorted(), unreadRules };
}

/** The nearest rules that match the path decide. */
function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  for (const { folder, matcher } of rules.toReversed()) {
    const inside = relative(folder, path).split(sep).join("/");
    const verdict = matcher.test(isFolder ? `${inside}/` : inside);
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}
