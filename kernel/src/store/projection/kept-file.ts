import { lstat, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isLaresError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { setAside } from "../../platform/files/plain-file.ts";

/*
 * Opens projections on the disk as far as that is safe, and otherwise discards them, to be rebuilt. Native libraries
 * may crash on a damaged file, so a marker file lies beside each one while it is opened; a file whose marker exists is
 * not opened again. The names of all files of a projection begin with its name: "text.sqlite", "text.sqlite-wal".
 */

const openingSuffix = ".opening";
const asideMark = ".set-aside-";

interface KeptFile<Opened> {
  /** Absolute path. */
  readonly path: string;
  /** Throws a StorageError if the file cannot be used. Called again after the file has been removed. */
  open(): Promise<Opened>;
  /** Called with the reason when an existing file had to be removed. */
  rebuilt(reason: string): void;
}

/** Opens the existing file; if it cannot be used, removes it and opens a new one. */
export async function openKept<Opened>(file: KeptFile<Opened>): Promise<Opened> {
  const { path } = file;
  const reason = await reasonToDiscard(path);
  if (reason !== null) {
    await discard(path);
    file.rebuilt(reason);
  }
  try {
    return await openMarked(file);
  } catch (error) {
    if (!isLaresError(error, "StorageError") || isOutside(error)) throw error;
    await discard(path);
    file.rebuilt(messageOf(error));
    return await openMarked(file);
  }
}

/**
 * Removes all files of a projection. A path that is not a regular file was not made by the store and is renamed
 * instead.
 */
export async function discard(path: string): Promise<void> {
  // Until everything is gone, a remaining part must not be taken for the whole.
  await mark(path);
  failpoint("store.discard.begun");
  for (const name of await filesOf(path)) {
    const one = join(dirname(path), name);
    if (one === path + openingSuffix) continue;
    if (await isPlain(one)) await rm(one, { force: true });
    else await setAside(one, Date.now());
  }
  failpoint("store.discard.done");
  await rm(path + openingSuffix, { force: true });
}

/** Returns the total bytes of all files of a projection. */
export async function sizeOf(path: string): Promise<number> {
  let size = 0;
  for (const name of await filesOf(path)) {
    const found = await lstat(join(dirname(path), name)).catch(() => null);
    if (found?.isFile() === true) size += found.size;
  }
  return size;
}

async function openMarked<Opened>({ path, open }: KeptFile<Opened>): Promise<Opened> {
  await mark(path);
  failpoint("store.open.marked");
  try {
    return await open();
  } finally {
    await rm(path + openingSuffix, { force: true });
    failpoint("store.open.done");
  }
}

async function mark(path: string): Promise<void> {
  if (!(await isPlain(path + openingSuffix))) await setAside(path + openingSuffix, Date.now());
  await writeFile(path + openingSuffix, "", { mode: 0o600 });
}

/** Returns why the file must not be opened; null if it may be, or is missing. */
async function reasonToDiscard(path: string): Promise<string | null> {
  const names = await filesOf(path);
  for (const name of names) {
    // Opening a pipe would block for ever, and a link leads elsewhere.
    if (!(await isPlain(join(dirname(path), name)))) return `"${name}" is not a regular file`;
  }
  const wasOpening = names.includes(basename(path) + openingSuffix);
  return wasOpening ? "the store host ended while it opened this file" : null;
}

async function filesOf(path: string): Promise<string[]> {
  const name = basename(path);
  const isOurs = (one: string): boolean =>
    one === name || ((one.startsWith(`${name}.`) || one.startsWith(`${name}-`)) && !one.includes(asideMark));
  return (await readdir(dirname(path))).filter(isOurs);
}

async function isPlain(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isFile() !== false;
}

/** Returns true if the system refused access: the file is not at fault, and rebuilding it would not help. */
function isOutside(error: unknown): boolean {
  return /no space|disk full|too many open files|permission denied|read-only|could not set lock|conflicting lock|is locked|out of memory/i.test(
    messageOf(error),
  );
}

/** Returns true if the library's message says that the file is damaged. */
export function isDamage(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("errcode" in at && [sqliteCorrupt, sqliteNotADatabase].includes(Number(at.errcode) & 0xff))
      return true;
    if (/corrupt database file|corrupt wal|could not read enough bytes/i.test(at.message)) return true;
    // The file's contents may be part of a message, so each line is read once.
    const differing = at.message.toLowerCase().matchAll(/^(.*) does not match/gm);
    if (differing.some(([, before = ""]) => before.includes("checksum "))) return true;
  }
  return false;
}
const sqliteCorrupt = 11;
const sqliteNotADatabase = 26;
