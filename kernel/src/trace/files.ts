import { isoTime } from "../base/clock.ts";
import {
  type DataFile,
  fileSize,
  isNotPlainFile,
  joinPath,
  listFiles,
  makeFolder,
  moveAside,
  openDataFile,
  readSmallFile,
  removeFile,
  renameFile,
  replaceDataFile,
} from "../platform/files/data-files.ts";
import { failpoint } from "../platform/failpoint.ts";
import { readLinesBackwards } from "./read-backwards.ts";

export const currentName = "current.log";
const rotatedName = /^(\d{4}-\d{2}-\d{2})(?:\.(\d{1,6}))?\.log$/;
const lineFeed = 0x0a;
const dayMs = 86_400_000;
/** Files are rotated long before. */
const maxRewrittenBytes = 256 * 1024 * 1024;

/** Returns the UTC day of a time, such as "2026-11-20". */
export function dayOf(epochMs: number): string {
  return isoTime(epochMs).slice(0, 10);
}

/** A finished file of one day. `part` numbers the files that grew too large on that day; null for its last one. */
export interface RotatedFile {
  readonly name: string;
  readonly day: string;
  readonly part: number | null;
}

/** The folder of traces: `current.log`, and the files that it was rotated to. Callers must not use it concurrently. */
export class TraceFiles implements AsyncDisposable {
  readonly #folder: string;
  /** Null if it could not be opened again after a rotation; the next use retries. */
  #current: DataFile | null;
  /** True if a failed write may have left bytes after the end of the file, which must be truncated. */
  #hasRemains = false;
  /** The day that the current file belongs to. */
  #day: string;
  /** The new path of something that was in place of the current file but is not a file. */
  readonly aside: string | null;

  private constructor(folder: string, current: DataFile, day: string, aside: string | null) {
    this.aside = aside;
    this.#folder = folder;
    this.#current = current;
    this.#day = day;
  }

  static async open(folder: string, nowMs: number): Promise<TraceFiles> {
    await makeFolder(folder);
    const path = joinPath(folder, currentName);
    const aside = (await isNotPlainFile(path)) ? await moveAside(path, nowMs) : null;
    const current = await openDataFile(path, "a");
    await endLine(current);
    const files = new TraceFiles(folder, current, (await lastDay(current)) ?? dayOf(nowMs), aside);
    const [newest] = await files.rotated();
    // A line written just before midnight can reach the disk after the day's last file was closed.
    if (newest?.part === null && newest.day >= files.#day) files.#day = dayOf(Date.parse(newest.day) + dayMs);
    return files;
  }

  get size(): number {
    return this.#current?.size ?? 0;
  }

  get day(): string {
    return this.#day;
  }

  async append(bytes: Uint8Array): Promise<void> {
    const current = await this.#open();
    // The rest of a partial entry would make the next one unreadable.
    if (this.#hasRemains) await current.truncate(current.size);
    this.#hasRemains = true;
    failpoint("traces.append.begun");
    await current.append(bytes);
    failpoint("traces.append.done");
    this.#hasRemains = false;
  }

  /** Renames the current file to its day: as the last one if the day is over, otherwise as the next part. */
  async rotate(nowMs: number): Promise<void> {
    const path = joinPath(this.#folder, currentName);
    const current = await this.#open();
    if (current.size > 0) {
      const ofDay = (await this.rotated()).filter((file) => file.day === this.#day);
      const nextPart = Math.max(0, ...ofDay.map((file) => file.part ?? 0)) + 1;
      const isLast = dayOf(nowMs) !== this.#day && ofDay.every((file) => file.part !== null);
      const name = isLast ? `${this.#day}.log` : `${this.#day}.${nextPart}.log`;
      if (this.#hasRemains) await current.truncate(current.size);
      this.#hasRemains = false;
      this.#current = null;
      await current[Symbol.asyncDispose]();
      failpoint("traces.rotate.closed");
      await renameFile(path, joinPath(this.#folder, name));
      failpoint("traces.rotate.renamed");
      await this.#open();
      failpoint("traces.rotate.opened");
    }
    this.#day = dayOf(nowMs);
  }

  async #open(): Promise<DataFile> {
    return (this.#current ??= await openDataFile(joinPath(this.#folder, currentName), "a"));
  }

  /** Removes files older than `keepDays` days, and the oldest beyond `maxFiles`. */
  async expire(nowMs: number, keepDays: number, maxFiles: number): Promise<void> {
    const oldest = dayOf(Math.max(0, nowMs - keepDays * dayMs));
    for (const [newer, { name, day }] of (await this.rotated()).entries()) {
      if (day >= oldest && newer < maxFiles) continue;
      await removeFile(joinPath(this.#folder, name));
      failpoint("traces.expire.removed");
    }
  }

  /** Returns the rotated files, newest first. */
  async rotated(): Promise<RotatedFile[]> {
    const files = (await listFiles(this.#folder)).flatMap((name) => {
      const match = rotatedName.exec(name);
      return match === null
        ? []
        : [{ name, day: match[1] ?? "", part: match[2] === undefined ? null : Number(match[2]) }];
    });
    return files.toSorted((a, b) =>
      a.day === b.day ? (b.part ?? Infinity) - (a.part ?? Infinity) : a.day < b.day ? 1 : -1,
    );
  }

  /** Replaces the lines of all files that `changed` does not return as they are. Returns the number of changed lines. */
  async rewrite(isWanted: (bytes: Buffer) => boolean, changed: (line: string) => string): Promise<number> {
    let count = 0;
    for (const name of [...(await this.rotated()).map((file) => file.name), currentName]) {
      const path = joinPath(this.#folder, name);
      const bytes = await readSmallFile(path, maxRewrittenBytes);
      if (bytes === null || !isWanted(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)))
        continue;
      const lines = new TextDecoder().decode(bytes).split("\n");
      const now = lines.map((line) => (line === "" ? line : changed(line)));
      const differing = now.filter((line, index) => line !== lines[index]).length;
      if (differing === 0) continue;
      count += differing;
      if (name === currentName) {
        const current = this.#current;
        this.#current = null;
        await current?.[Symbol.asyncDispose]();
      }
      await replaceDataFile(path, now.join("\n"));
      if (name === currentName) {
        // A part of an entry that a failed write has left is a line of its own now.
        this.#hasRemains = false;
        await endLine(await this.#open());
      }
    }
    return count;
  }

  /** Opens a file for reading. The handle stays valid when the current file is rotated. */
  openForReading(name: string): Promise<DataFile> {
    return openDataFile(joinPath(this.#folder, name), "r");
  }

  /** The same, but returns null if the file was removed after it was listed. */
  async openIfThere(name: string): Promise<DataFile | null> {
    try {
      return await this.openForReading(name);
    } catch (error) {
      if ((await fileSize(joinPath(this.#folder, name))) !== null) throw error;
      return null;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#current?.[Symbol.asyncDispose]();
  }
}

/** Ends an unfinished last line, so that it does not merge with the next entry. */
async function endLine(file: DataFile): Promise<void> {
  if (file.size === 0) return;
  const last = new Uint8Array(1);
  await file.readInto(last, file.size - 1);
  if (last[0] !== lineFeed) await file.append(new Uint8Array([lineFeed]));
}

/** Returns the newest entry's day; the oldest may be from just before the midnight at which the file began. */
async function lastDay(file: DataFile): Promise<string | null> {
  for await (const line of readLinesBackwards(file)) {
    const day = /^\{"timestamp":"(\d{4}-\d{2}-\d{2})T/.exec(line)?.[1];
    if (day !== undefined) return day;
  }
  return null;
}
