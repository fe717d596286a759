import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from "node:fs";
import { LaresError } from "../../base/errors.ts";

/*
 * SQLite finds damage to its structure, and believes what a flipped bit or an older copy makes of a row. So the
 * digest of the whole file is left beside it when it is closed, and compared when it is opened again. While it is
 * open there is none: after a crash SQLite's own check has to do.
 */

const pieceBytes = 1024 * 1024;

const sealOf = (path: string): string => `${path}.sum`;

/** Leaves the digest of a database that was closed; none where the disk refuses, which is better than half of one. */
export function sealDatabase(path: string): void {
  const seal = sealOf(path);
  try {
    rmSync(seal, { force: true });
    writeFileSync(seal, `${digestOf(path)}\n`, { mode: 0o600, flag: "wx" });
  } catch {
    rmSync(seal, { force: true });
  }
}

/** Throws StorageError where the database is not the one that was closed; what says so is gone afterwards. */
export function breakSeal(path: string): void {
  let seal: string;
  try {
    seal = readFileSync(sealOf(path), "utf8").trim();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    throw error;
  }
  if (seal !== digestOf(path)) {
    throw new LaresError(
      "StorageError",
      `The database "${path}" is damaged: it is not what it was when it was last closed. Put it back from a backup, together with "${sealOf(path)}"; or remove "${sealOf(path)}" to go on with it as it is; or move both away to start with an empty one.`,
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
