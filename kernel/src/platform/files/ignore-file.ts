import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";

/** The file in which a folder lists what is excluded beneath it. */
export const ignoreFileName = ".gitignore";

/** A larger `.gitignore` is not read. Bytes. */
export const maxIgnoreBytes = 256 * 1024;

interface IgnoreFileText {
  /** Null if the folder has no such file, or if `fault` says why it is not read. */
  readonly text: string | null;
  /**
   * A clause about the file: "has 300000 bytes; at most 262144 are read". Its rules are unknown, so everything
   * counts as excluded.
   */
  readonly fault: string | null;
}

/** Reads the `.gitignore` of a folder. Never rejects. Links are not followed, as in the index. */
export async function readIgnoreFile(folder: string): Promise<IgnoreFileText> {
  const fault = (why: string): IgnoreFileText => ({ text: null, fault: why });
  const none: IgnoreFileText = { text: null, fault: null };
  const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);
  try {
    await using file = await open(join(folder, ignoreFileName), flags);
    const found = await file.stat();
    if (!found.isFile()) return none;
    if (found.size > maxIgnoreBytes)
      return fault(`has ${found.size} bytes; at most ${maxIgnoreBytes} are read`);
    const bytes = new Uint8Array(maxIgnoreBytes);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return { text: new TextDecoder().decode(bytes.subarray(0, bytesRead)), fault: null };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR" || code === "ENXIO") return none;
    return fault(code === "ELOOP" ? "is a link, which is not followed" : `cannot be read (${code})`);
  }
}
