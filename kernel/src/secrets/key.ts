import { storageError } from "../base/errors.ts";
import { encryptionKeyBytes } from "../platform/encryption.ts";
import { createPrivateFile, readPrivateFile } from "../platform/files/private-file.ts";
import { sha256Hex } from "../platform/files/hash.ts";
import { randomHex } from "../platform/random.ts";

/** The key of a user's secrets. */
export interface SecretKey {
  readonly bytes: Uint8Array;
  /** Tells keys apart and says nothing about the key. */
  readonly id: string;
}

const headline = "lares-secrets-key-1 ";
const maxFileBytes = 1024;

/** Reads the key file; null if there is no such file. StorageError if others can read it, or if it holds no key. */
export async function readKey(path: string): Promise<SecretKey | null> {
  const bytes = await readPrivateFile(path, maxFileBytes);
  if (bytes === null) return null;
  const text = Buffer.from(bytes).toString("latin1").trimEnd();
  const hex = text.startsWith(headline) ? text.slice(headline.length) : "";
  if (!/^[0-9a-f]{64}$/.test(hex))
    throw storageError(
      `"${path}" does not hold a key for secrets. Restore it from a backup; without it the stored secrets cannot be read. Nothing was changed.`,
    );
  return keyOf(hex);
}

/** Returns the key, and makes it first if there is none. Exactly one of several processes makes it; all get the same. */
export async function readOrMakeKey(path: string): Promise<SecretKey> {
  const found = await readKey(path);
  if (found !== null) return found;
  await createPrivateFile(path, Buffer.from(`${headline}${randomHex(encryptionKeyBytes)}\n`));
  const made = await readKey(path);
  if (made === null) throw storageError(`"${path}" disappeared while it was made. Try again.`);
  return made;
}

function keyOf(hex: string): SecretKey {
  return { bytes: Buffer.from(hex, "hex"), id: sha256Hex(`lares secrets key id ${hex}`).slice(0, 16) };
}
