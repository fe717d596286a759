import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonValue } from "../../base/json.ts";
import { silentLog } from "../../base/log.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Anchor } from "../anchor.ts";
import { DiskTimer } from "../disk-timer.ts";
import { Journal, type JournalOptions } from "../journal.ts";
import { limitExceeded } from "../../base/errors.ts";
import { chainStart } from "../../memory-contract/records.ts";
import { RecordForm } from "../record.ts";

/** Between two looks, so that the disk, whose time is real, gets on with what it does. */
const diskTurnMs = 1;

const noAnchor: Anchor = { ...chainStart, size: 0, carriedOut: 0 };

export const testRecords = new RecordForm(["temporal", "knowledge", "working", "policy"]);
export type TestKind = (typeof testRecords)["kinds"][number];

/** Counts the records that it visits. */
class CountFold {
  count: number;

  constructor(count: number) {
    this.count = count;
  }

  visit(): void {
    this.count += 1;
  }

  save(): JsonValue {
    return this.count;
  }
}

/** A journal whose anchor and checkpoint are stored beside it, as the database does. */
export class TestJournal {
  anchor: Anchor = noAnchor;
  checkpoint: string | null = null;
  readonly folder: string;
  readonly clock = new ManualClock();
  readonly #options: Partial<JournalOptions<TestKind>>;

  constructor(folder: string, options: Partial<JournalOptions<TestKind>> = {}) {
    this.folder = folder;
    this.#options = options;
  }

  async open(): Promise<Journal<TestKind>> {
    return (await this.openAndFind()).journal;
  }

  openAndFind(): Promise<{ journal: Journal<TestKind>; found: CountFold }> {
    return Journal.open(
      {
        name: "test",
        form: testRecords,
        refusals: {
          tooLong: (bytes) => limitExceeded("record_bytes", bytes, "too long"),
          full: (bytes) => limitExceeded("journal_bytes", bytes, "full"),
        },
        disk: new DiskTimer(this.clock),
        folder: this.folder,
        anchor: this.anchor,
        storeAnchor: async (reached) => void (this.anchor = reached),
        maxBytes: () => Infinity,
        clock: this.clock,
        log: silentLog,
        segmentBytes: 900,
        checkpoints: {
          stored: this.checkpoint,
          store: async (text) => void (this.checkpoint = text),
          turns: new OneAtATime(),
        },
        ...this.#options,
      },
      (saved) => new CountFold(Number(saved)),
    );
  }

  /** Advances the clock and runs pending work until the condition holds. */
  async until(isReached: () => boolean): Promise<void> {
    for (let turn = 0; !isReached(); turn++) {
      if (turn > 5000) throw new Error("The condition never held.");
      this.clock.advance(100);
      await new Promise((resolve) => setTimeout(resolve, diskTurnMs));
    }
  }

  /** Opens the journal, runs the function, and closes it cleanly. */
  async within<T>(run: (journal: Journal<TestKind>) => Promise<T>): Promise<T> {
    await using journal = await this.open();
    return await run(journal);
  }
}

/** Returns the lines of each segment, with their line feeds. */
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
