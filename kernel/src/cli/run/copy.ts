import { cp, lstat, mkdir, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";

/** A copy of a bundled example, with a state folder of its own; all of it is gone when it is disposed. */
export interface ExampleCopy extends AsyncDisposable {
  /** The workspace to open. */
  readonly folder: string;
  /** `LARES_HOME` for it: what was learned and decided in a copy goes with the copy. */
  readonly home: string;
  /** Everything of it. */
  readonly root: string;
}

/** True where the folder lies beneath the examples that come with Lares. Both are real paths. */
export function isExample(folder: string, examplesFolder: string | null): boolean {
  return examplesFolder !== null && folder.startsWith(examplesFolder + sep);
}

/**
 * Copies the example to a temporary folder. What lies beside it and what it may name by a relative path (its
 * neighbours, the extensions, the schemas) is there as links, so that the copy's documents mean the same.
 */
export async function copyExample(folder: string, examplesFolder: string): Promise<ExampleCopy> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "lares-")));
  try {
    const project = dirname(examplesFolder);
    const copy = join(root, relative(project, folder));
    await mirror(project, root, relative(project, folder).split(sep));
    await cp(folder, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    const home = join(root, "home");
    await mkdir(home, { mode: 0o700 });
    return { folder: copy, home, root, [Symbol.asyncDispose]: () => remove(root) };
  } catch (error) {
    await remove(root);
    throw error;
  }
}

/** Entries that a copy's documents cannot mean, and that are better not reachable from it. */
const notMirrored = new Set([".git", "home"]);

async function mirror(from: string, to: string, [next, ...rest]: readonly string[]): Promise<void> {
  if (next === undefined) return;
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    if (name === next || notMirrored.has(name)) continue;
    await symlink(join(from, name), join(to, name));
  }
  if (rest.length > 0) await mirror(join(from, next), join(to, next), rest);
}

/** Only what this made, and never through a link. */
async function remove(root: string): Promise<void> {
  if (!basename(root).startsWith("lares-") || (await lstat(root)).isSymbolicLink()) return;
  await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
