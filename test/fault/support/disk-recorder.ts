import fs, { appendFileSync, copyFileSync, existsSync, fstatSync, readlinkSync, statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { isMainThread } from "node:worker_threads";

/*
 * Loaded into a kernel before anything else (`--import`), in each of its threads. Records what certainly reached the
 * disk, and in which order: files and folders that were synced, names that changed, and the ledger's commits that
 * waited for the disk, with a copy of the database at each.
 */

/** The folder for the recording and the copies of the ledger. */
export const recordingVariable = "LARES_TEST_RECORDING";

export type DiskEvent =
  | { readonly op: "sync"; readonly path: string; readonly inode: number; readonly size: number }
  | { readonly op: "folder"; readonly path: string }
  | {
      readonly op: "named";
      readonly how: string;
      readonly path: string;
      readonly inode: number;
      readonly size: number;
    }
  | { readonly op: "unnamed"; readonly path: string }
  | { readonly op: "ledger" };

const folder = process.env[recordingVariable];
// A thread does not know its process's arguments; only the kernel's process has any.
if (folder !== undefined && (!isMainThread || process.argv.includes("kernel"))) record(folder);

function record(recording: string): void {
  const say = (event: DiskEvent): void =>
    appendFileSync(join(recording, "events"), `${JSON.stringify(event)}\n`);
  watchSyncs(say);
  watchNames(say);
  watchLedger(recording, say);
  syncBuiltinESMExports();
}

function watchSyncs(say: (event: DiskEvent) => void): void {
  const open = fs.promises.open;
  const watched = new WeakSet<object>();
  fs.promises.open = async (...args) => {
    const handle = await open(...args);
    const prototype = Object.getPrototypeOf(handle) as fs.promises.FileHandle;
    if (watched.has(prototype)) return handle;
    watched.add(prototype);
    for (const name of ["sync", "datasync"] as const) {
      const original = prototype[name];
      prototype[name] = async function (this: fs.promises.FileHandle) {
        // What is written while it runs may or may not be included.
        const { size, ino } = fstatSync(this.fd);
        const path = readlinkSync(`/proc/self/fd/${this.fd}`);
        await original.call(this);
        say(statSync(path).isDirectory() ? { op: "folder", path } : { op: "sync", path, inode: ino, size });
      };
    }
    return handle;
  };
}

function watchNames(say: (event: DiskEvent) => void): void {
  const named = (how: string, path: fs.PathLike): void => {
    const real = realPath(path);
    const { ino, size } = statSync(real);
    say({ op: "named", how, path: real, inode: ino, size });
  };
  const rename = fs.promises.rename;
  fs.promises.rename = async (from, to) => {
    await rename(from, to);
    named("rename", to);
  };
  const { renameSync, linkSync, unlinkSync, rmdirSync } = fs;
  fs.rmdirSync = (path) => {
    const real = realPath(path);
    rmdirSync(path);
    say({ op: "unnamed", path: real });
  };
  fs.renameSync = (from, to) => {
    renameSync(from, to);
    named("rename", to);
  };
  fs.linkSync = (from, to) => {
    linkSync(from, to);
    named("link", to);
  };
  fs.unlinkSync = (path) => {
    unlinkSync(path);
    say({ op: "unnamed", path: realPath(path) });
  };
}

function watchLedger(recording: string, say: (event: DiskEvent) => void): void {
  const { exec } = DatabaseSync.prototype;
  let waitsForDisk = false;
  DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
    exec.call(this, sql);
    if (sql.startsWith("PRAGMA synchronous = ")) waitsForDisk = sql.endsWith("FULL");
    if (sql !== "COMMIT" || !waitsForDisk) return;
    const path = this.location();
    if (path === null || basename(path) !== "ledger.sqlite") return;
    for (const file of [path, `${path}-wal`])
      if (existsSync(file)) copyFileSync(file, join(recording, basename(file)));
    say({ op: "ledger" });
  };
}

/** Folders of the workspace are accessed through descriptors. */
function realPath(path: fs.PathLike): string {
  const text = String(path);
  return join(fs.realpathSync(dirname(text)), basename(text));
}
