import { constants } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { LaresError, systemCode } from "../../base/errors.ts";
import { dirname, join } from "./paths.ts";
import { storageFailure } from "./storage-failure.ts";

/** Files of the state folder are regular files. A link is not followed, and opening a named pipe does not block. */
const carefully = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const flagsOf = {
  read: constants.O_RDONLY,
  /** Creates a missing file. */
  append: constants.O_RDWR | constants.O_CREAT | constants.O_APPEND,
} as const;

/** Throws Node's own errors (ENOENT, …), and UnusableFile if it is not a regular file. */
export async function openPlainFile(path: string, mode: keyof typeof flagsOf): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, flagsOf[mode] | carefully, 0o600);
  } catch (error) {
    const code = systemCode(error);
    // A link, a folder, or a pipe or socket without a reader.
    if (code === "ELOOP" || code === "EISDIR" || code === "ENXIO") throw notPlain(path);
    throw error;
  }
  try {
    if ((await file.stat()).isFile()) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  throw notPlain(path);
}

/** Returns the whole text; null if there is no such file. Throws StorageError if it is longer or cannot be read. */
export async function readPlainText(path: string, maxBytes: number): Promise<string | null> {
  try {
    await using file = await openPlainFile(path, "read");
    const { size } = await file.stat();
    if (size > maxBytes)
      throw new UnusableFile(`"${path}" has ${size} bytes; at most ${maxBytes} are expected.`);
    return await file.readFile("utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw storageFailure(`"${path}" cannot be read`, error);
  }
}

/** Renames whatever is at `path` within its folder, and returns the new path. */
export async function setAside(path: string, nowMs: number): Promise<string> {
  const aside = `${path}.set-aside-${nowMs}`;
  await rename(path, aside);
  return aside;
}

/** Renames whatever is at `path` within its folder. */
export function renameBeside(path: string, name: string): Promise<void> {
  return rename(path, join(dirname(path), name));
}

/** The file cannot be one that Lares wrote, so reading it again is useless. */
export class UnusableFile extends LaresError {
  constructor(message: string) {
    super("StorageError", message);
  }
}

function notPlain(path: string): UnusableFile {
  return new UnusableFile(`"${path}" is not a regular file, so it is not used. Move it away.`);
}
