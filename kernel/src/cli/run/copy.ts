import { cp, lstat, mkdir, mkdtemp, readdir, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";

/** A temporary copy of a bundled example with its own state folder; disposing removes all of it. */
interface ExampleCopy extends AsyncDisposable {
  /** The workspace to open. */
  readonly folder: string;
  /** `LARES_HOME` for the copy: its memories and decisions are removed together with it. */
  readonly home: string;
  /** The folder that contains everything. */
  readonly root: string;
}

/** True if the folder lies beneath the examples that come with Lares. Both are real paths. */
export function isExample(folder: string, examplesFolder: string | null): boolean {
  return examplesFolder !== null && folder.startsWith(examplesFolder + sep);
}

/**
 * Copies the example to a temporary folder. Its surroundings that it may name by a relative path (other examples, the
 * extensions, the schemas) are added as links, so that the copy's documents mean the same.
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

/** Entries that a copy's documents never refer to and that should not be reachable from it. */
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

/** Removes only what this module created, and never through a link. */
async function remove(root: string): Promise<void> {
  if (!basename(root).startsWith("lares-") || (await lstat(root)).isSymbolicLink()) return;
  await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
