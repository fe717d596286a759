import { lstat, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isLaresError, messageOf } from "../../base/errors.ts";
import { failpoint } from "../../platform/failpoint.ts";
import { setAside } from "../../platform/files/plain-file.ts";

/*
 * A projection on the disk is believed as far as that is safe, and else made again. Native libraries may end the
 * process over a bad file, so a mark lies beside each while it is opened: whoever finds the mark does not open the
 * file again. All files of one projection begin with its name: "text.sqlite", "text.sqlite-wal".
 */

const openingSuffix = ".opening";
const asideMark = ".set-aside-";

interface KeptFile<Opened> {
  /** Absolute. */
  readonly path: string;
  /** Throws a StorageError where it cannot be used as it is. Called again when it has been removed. */
  open(): Promise<Opened>;
  /** It was there, and had to be removed: why. */
  mended(reason: string): void;
}

/** Opens what is there; where it cannot be believed, removes it and opens a new one. */
export async function openKept<Opened>(file: KeptFile<Opened>): Promise<Opened> {
  const { path } = file;
  const doubt = await doubtAbout(path);
  if (doubt !== null) {
    await discard(path);
    file.mended(doubt);
  }
  try {
    return await openMarked(file);
  } catch (error) {
    if (!isLaresError(error, "StorageError") || isOutside(error)) throw error;
    await discard(path);
    file.mended(messageOf(error));
    return await openMarked(file);
  }
}

/** Removes all files of a projection. What is no plain file gets another name: it is none of ours. */
export async function discard(path: string): Promise<void> {
  // Until everything is gone, nobody may take a part for the whole.
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

/** Bytes of all files of a projection. */
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

/** Why the file cannot even be opened; null where it can, or is missing. */
async function doubtAbout(path: string): Promise<string | null> {
  const names = await filesOf(path);
  for (const name of names) {
    // Opening a pipe would take for ever, and a link leads elsewhere.
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

/** The system would not let us: what is in the file is not to blame, and making it again would not help. */
function isOutside(error: unknown): boolean {
  return /no space|disk full|too many open files|permission denied|read-only|could not set lock|conflicting lock|is locked|out of memory/i.test(
    messageOf(error),
  );
}

/** The file is to blame, as the libraries say it. */
export function isDamage(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("errcode" in at && [sqliteCorrupt, sqliteNotADatabase].includes(Number(at.errcode) & 0xff))
      return true;
    if (
      /corrupt database file|corrupt wal|could not read enough bytes|checksum .* does not match/i.test(
        at.message,
      )
    )
      return true;
  }
  return false;
}
const sqliteCorrupt = 11;
const sqliteNotADatabase = 26;
