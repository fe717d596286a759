import { constants } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { LaresError } from "../../base/errors.ts";
import { dirname, join } from "./paths.ts";
import { storageFailure } from "./storage-failure.ts";

/**
 * Files of the state folder are plain files. What stands in the place of one is not followed (a link) and not
 * waited for (a named pipe, whose opening would take for ever).
 */
const carefully = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const flagsOf = {
  read: constants.O_RDONLY,
  /** Made where it is missing. */
  append: constants.O_RDWR | constants.O_CREAT | constants.O_APPEND,
} as const;

/** Node's own errors (ENOENT, …), and UnusableFile where it is no plain file. */
export async function openPlainFile(path: string, mode: keyof typeof flagsOf): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, flagsOf[mode] | carefully, 0o600);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    // A link, a folder, a pipe or socket that nobody reads.
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

/** The whole text; null where there is no such file. StorageError where it is longer or cannot be read. */
export async function readPlainText(path: string, maxBytes: number): Promise<string | null> {
  try {
    await using file = await openPlainFile(path, "read");
    const { size } = await file.stat();
    if (size > maxBytes)
      throw new UnusableFile(`"${path}" has ${size} bytes; at most ${maxBytes} are expected.`);
    return await file.readFile("utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw storageFailure(`"${path}" cannot be read`, error);
  }
}

/** Gives what stands at `path`, whatever it is, another name beside it, and says which. */
export async function setAside(path: string, nowMs: number): Promise<string> {
  const aside = `${path}.set-aside-${nowMs}`;
  await rename(path, aside);
  return aside;
}

/** Gives what stands at `path`, whatever it is, another name in the same folder. */
export function renameBeside(path: string, name: string): Promise<void> {
  return rename(path, join(dirname(path), name));
}

/** What is there cannot be what was written, whoever reads it, however often. */
export class UnusableFile extends LaresError {
  constructor(message: string) {
    super("StorageError", message);
  }
}

function notPlain(path: string): UnusableFile {
  return new UnusableFile(`"${path}" is no plain file, so it is not used. Move it away.`);
}
