import { isoTime } from "../base/clock.ts";
import {
  type DataFile,
  joinPath,
  listFiles,
  makeFolder,
  openDataFile,
  removeFile,
  renameFile,
} from "../platform/data-files.ts";

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
  #current: DataFile;
  /** The day the current file belongs to. */
  #day: string;

  private constructor(folder: string, current: DataFile, day: string) {
    this.#folder = folder;
    this.#current = current;
    this.#day = day;
  }

  static async open(folder: string, nowMs: number): Promise<TraceFiles> {
    await makeFolder(folder);
    const current = await openDataFile(joinPath(folder, currentName), "a");
    await endLine(current);
    return new TraceFiles(folder, current, (await firstDay(current)) ?? dayOf(nowMs));
  }

  get size(): number {
    return this.#current.size;
  }

  get day(): string {
    return this.#day;
  }

  async append(bytes: Uint8Array): Promise<void> {
    const { size } = this.#current;
    try {
      await this.#current.append(bytes);
    } catch (error) {
      // Half an entry would swallow the next one.
      await this.#current.truncate(size);
      throw error;
    }
  }

  /** The current file becomes its day's: the last one where the day is over, else the next part. */
  async rotate(nowMs: number): Promise<void> {
    const path = joinPath(this.#folder, currentName);
    if (this.#current.size > 0) {
      const ofDay = (await this.rotated()).filter((file) => file.day === this.#day);
      const nextPart = Math.max(0, ...ofDay.map((file) => file.part ?? 0)) + 1;
      const isLast = dayOf(nowMs) !== this.#day && ofDay.every((file) => file.part !== null);
      const name = isLast ? `${this.#day}.log` : `${this.#day}.${nextPart}.log`;
      await this.#current[Symbol.asyncDispose]();
      try {
        await renameFile(path, joinPath(this.#folder, name));
      } finally {
        this.#current = await openDataFile(path, "a");
      }
    }
    this.#day = dayOf(nowMs);
  }

  /** Removes what is older than `keepDays` days. */
  async expire(nowMs: number, keepDays: number): Promise<void> {
    const oldest = dayOf(Math.max(0, nowMs - keepDays * dayMs));
    for (const { name, day } of await this.rotated()) {
      if (day < oldest) await removeFile(joinPath(this.#folder, name));
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.#current[Symbol.asyncDispose]();
  }
}

/** What a crash left without an end must not swallow the next entry. */
async function endLine(file: DataFile): Promise<void> {
  if (file.size === 0) return;
  const last = new Uint8Array(1);
  await file.readInto(last, file.size - 1);
  if (last[0] !== lineFeed) await file.append(new Uint8Array([lineFeed]));
}

async function firstDay(file: DataFile): Promise<string | null> {
  const start = new Uint8Array(64);
  await file.readInto(start, 0);
  return /^\{"timestamp":"(\d{4}-\d{2}-\d{2})T/.exec(Buffer.from(start).toString("latin1"))?.[1] ?? null;
}
