import { isoTime } from "../base/clock.ts";
import {
  type DataFile,
  fileSize,
  isNoPlainFile,
  joinPath,
  listFiles,
  makeFolder,
  moveAside,
  openDataFile,
  removeFile,
  renameFile,
} from "../platform/data-files.ts";
import { failpoint } from "../platform/failpoint.ts";
import { readLinesBackwards } from "./read-backwards.ts";

export const currentName = "current.log";
const rotatedName = /^(\d{4}-\d{2}-\d{2})(?:\.(\d{1,6}))?\.log$/;
const lineFeed = 0x0a;
const dayMs = 86_400_000;

/** A UTC day, as "2026-11-20". */
export function dayOf(epochMs: number): string {
  return isoTime(epochMs).slice(0, 10);
}

/** A finished file of one day; `part` counts those that grew too large within it, null is the day's last. */
export interface RotatedFile {
  readonly name: string;
  readonly day: string;
  readonly part: number | null;
}

/** The folder of traces: `current.log`, and what it was rotated to. Not safe for two callers at once. */
export class TraceFiles implements AsyncDisposable {
  readonly #folder: string;
  /** Null where it could not be opened again after a rotation: the next use tries anew. */
  #current: DataFile | null;
  /** What a failed write may have left behind the file's end is still to be cut off. */
  #hasRemains = false;
  /** The day the current file belongs to. */
  #day: string;
  /** Where something that is no file, and stood in the current one's place, was moved to. */
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
    const aside = (await isNoPlainFile(path)) ? await moveAside(path, nowMs) : null;
    const current = await openDataFile(path, "a");
    await endLine(current);
    const files = new TraceFiles(folder, current, (await lastDay(current)) ?? dayOf(nowMs), aside);
    const [newest] = await files.rotated();
    // What was written just before midnight, and reached the disk after it, came behind its day's last file.
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
    // Half an entry would swallow the next one.
    if (this.#hasRemains) await current.truncate(current.size);
    this.#hasRemains = true;
    failpoint("traces.append.begun");
    await current.append(bytes);
    failpoint("traces.append.done");
    this.#hasRemains = false;
  }

  /** The current file becomes its day's: the last one where the day is over, else the next part. */
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

  /** Removes what is older than `keepDays` days, and the oldest of more than `maxFiles`. */
  async expire(nowMs: number, keepDays: number, maxFiles: number): Promise<void> {
    const oldest = dayOf(Math.max(0, nowMs - keepDays * dayMs));
    for (const [newer, { name, day }] of (await this.rotated()).entries()) {
      if (day >= oldest && newer < maxFiles) continue;
      await removeFile(joinPath(this.#folder, name));
      failpoint("traces.expire.removed");
    }
  }

  /** Newest first. */
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

  /** For reading: stays what it is when the current file is rotated away. */
  openForReading(name: string): Promise<DataFile> {
    return openDataFile(joinPath(this.#folder, name), "r");
  }

  /** The same; null where the file went since it was listed. */
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

/** What a crash left without an end must not swallow the next entry. */
async function endLine(file: DataFile): Promise<void> {
  if (file.size === 0) return;
  const last = new Uint8Array(1);
  await file.readInto(last, file.size - 1);
  if (last[0] !== lineFeed) await file.append(new Uint8Array([lineFeed]));
}

/** Of its newest entry: the oldest may have been written just before the midnight that the file began with. */
async function lastDay(file: DataFile): Promise<string | null> {
  for await (const line of readLinesBackwards(file)) {
    const day = /^\{"timestamp":"(\d{4}-\d{2}-\d{2})T/.exec(line)?.[1];
    if (day !== undefined) return day;
  }
  return null;
}
