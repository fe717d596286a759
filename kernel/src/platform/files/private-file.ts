import { link, open, rm } from "node:fs/promises";
import process from "node:process";
import { storageError, systemCode } from "../../base/errors.ts";
import { syncFolder, temporaryPathFor } from "./atomic-file.ts";
import { dirname } from "./paths.ts";
import { openPlainFile } from "./plain-file.ts";
import { makePrivateFolder } from "./state-folder.ts";
import { storageFailure } from "./storage-failure.ts";

/** Returns the bytes of a file that only its owner may use; null if it does not exist. StorageError otherwise. */
export async function readPrivateFile(path: string, maxBytes: number): Promise<Uint8Array | null> {
  try {
    await using file = await openPlainFile(path, "read");
    const { mode, size } = await file.stat();
    // Windows has no modes.
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw storageError(
        `"${path}" can be used by others (mode ${(mode & 0o777).toString(8).padStart(4, "0")}), so it is not used. Run: chmod 600 "${path}"`,
      );
    if (size > maxBytes) throw storageError(`"${path}" has ${size} bytes; at most ${maxBytes} are expected.`);
    return await file.readFile();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw storageFailure(`"${path}" cannot be read`, error);
  }
}

/**
 * Creates the file with mode 0600, whole and durable, unless it exists: of several processes that call this at once,
 * exactly one creates it. Returns whether this one did. Makes its folder where that is missing.
 */
export async function createPrivateFile(path: string, bytes: Uint8Array): Promise<boolean> {
  const folder = dirname(path);
  await makePrivateFolder(folder);
  const temporary = temporaryPathFor(path);
  try {
    {
      await using file = await open(temporary, "wx", 0o600);
      await file.writeFile(bytes);
      await file.sync();
    }
    // Unlike a rename, a link fails where the name is taken.
    await link(temporary, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw storageFailure(`"${path}" cannot be written`, error);
  } finally {
    await rm(temporary, { force: true });
    await syncFolder(folder);
  }
}
