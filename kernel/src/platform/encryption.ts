import { createCipheriv, createDecipheriv } from "node:crypto";
import { randomHex } from "./random.ts";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
export const encryptionKeyBytes = 32;

/** Encrypts with AES-256-GCM under a new random nonce; returns nonce, ciphertext and tag as one record. */
export function encrypt(key: Uint8Array, plain: Uint8Array, associated: Uint8Array): Uint8Array {
  const nonce = Buffer.from(randomHex(nonceBytes), "hex");
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes }).setAAD(associated);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Returns the plain bytes; null where key, record or associated data are not those of `encrypt`. */
export function decrypt(key: Uint8Array, record: Uint8Array, associated: Uint8Array): Uint8Array | null {
  if (record.byteLength < nonceBytes + tagBytes) return null;
  const end = record.byteLength - tagBytes;
  const decipher = createDecipheriv(algorithm, key, record.subarray(0, nonceBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(associated)
    .setAuthTag(record.subarray(end));
  const plain = decipher.update(record.subarray(nonceBytes, end));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    // The only thing that `final` throws for here: the tag does not match.
    return null;
  }
}
