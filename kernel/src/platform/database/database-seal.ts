import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { LaresError, systemCode } from "../../base/errors.ts";

/*
 * SQLite detects damage to its structure, but accepts a row with a flipped bit or from an older copy. So closing
 * stores the digest of the whole file beside it, and opening compares it. An open database has no digest: after a
 * crash, only SQLite's own check applies.
 */

const pieceBytes = 1024 * 1024;

const sealOf = (path: string): string => `${path}.sum`;

/** Stores the digest of a closed database; removes it if the disk refuses, so that no partial one remains. */
export function sealDatabase(path: string): void {
  const seal = sealOf(path);
  try {
    rmSync(seal, { force: true });
    writeFileSync(seal, `${digestOf(path)}\n`, { mode: 0o600, flag: "wx" });
  } catch {
    rmSync(seal, { force: true });
  }
}

/** Throws StorageError if the database is not the one that was closed; otherwise removes the digest. */
export function breakSeal(path: string): void {
  let seal: string;
  try {
    seal = readFileSync(sealOf(path), "utf8").trim();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw error;
  }
  if (seal !== digestOf(path)) {
    throw new LaresError(
      "StorageError",
      `The database "${path}" is damaged: it has changed since it was last closed. Put it back from a backup, together with "${sealOf(path)}"; or remove "${sealOf(path)}" to continue with it as it is; or move both away to start with an empty one.`,
    );
  }
  rmSync(sealOf(path));
}

function digestOf(path: string): string {
  const digest = createHash("sha256");
  const file = openSync(path, "r");
  try {
    const piece = Buffer.allocUnsafe(pieceBytes);
    for (let count = readSync(file, piece); count > 0; count = readSync(file, piece))
      digest.update(piece.subarray(0, count));
  } finally {
    closeSync(file);
  }
  return digest.digest("hex");
}
