import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLog } from "../../../base/log.ts";
import { ManualClock } from "../../../base/testing/manual-clock.ts";
import type { Anchor } from "../heads.ts";
import { Journal, type JournalOptions } from "../journal.ts";
import { chainStart } from "../record.ts";

export const noAnchor: Anchor = { ...chainStart, size: 0, carriedOut: 0 };

/** A journal whose anchor is kept beside it, as the database does. */
export class TestJournal {
  anchor: Anchor = noAnchor;
  readonly folder: string;
  readonly #options: Partial<JournalOptions>;

  constructor(folder: string, options: Partial<JournalOptions> = {}) {
    this.folder = folder;
    this.#options = options;
  }

  open(): Promise<Journal> {
    return Journal.open(
      {
        folder: this.folder,
        anchor: this.anchor,
        storeAnchor: async (reached) => void (this.anchor = reached),
        maxBytes: () => Infinity,
        clock: new ManualClock(),
        log: silentLog,
        segmentBytes: 900,
        ...this.#options,
      },
      () => undefined,
    );
  }

  /** Opens, runs, and closes cleanly. */
  async within<T>(run: (journal: Journal) => Promise<T>): Promise<T> {
    await using journal = await this.open();
    return await run(journal);
  }
}

/** The lines of each segment, with their line feeds. */
export async function readSegments(folder: string): Promise<Buffer[][]> {
  const names = (await readdir(folder)).toSorted();
  return await Promise.all(
    names.map(async (name) =>
      (await readFile(join(folder, name), "latin1"))
        .split(/(?<=\n)/)
        .map((line) => Buffer.from(line, "latin1")),
    ),
  );
}

export async function writeSegments(
  folder: string,
  segments: readonly (readonly Uint8Array[])[],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  await Promise.all(
    segments.map((lines, index) =>
      writeFile(join(folder, `${String(index + 1).padStart(6, "0")}.ndjson`), Buffer.concat(lines)),
    ),
  );
}
