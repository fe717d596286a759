import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import type { Anchor } from "./heads.ts";
import { Journal, verifyJournal } from "./journal.ts";
import { chainStart } from "./record.ts";

interface Made {
  /** Lines of each segment, with their line feeds. */
  readonly segments: Buffer[][];
  readonly anchor: Anchor;
}

async function make(folder: string, data: readonly string[]): Promise<Made> {
  let anchor: Anchor = { ...chainStart, size: 0 };
  const journal = await Journal.open(
    {
      folder,
      anchor: undefined,
      storeAnchor: async (reached) => void (anchor = reached),
      maxBytes: () => Infinity,
      clock: new ManualClock(),
      log: silentLog,
      segmentBytes: 900,
    },
    () => undefined,
  );
  await Promise.all(
    data.map((text, index) =>
      journal.append({
        operation: "store",
        kind: "temporal",
        id: `id-${index}-é`,
        data: JSON.stringify(text),
      }),
    ),
  );
  // One at a time too, so that there is more than one segment.
  for (const text of data) {
    await journal.append({ operation: "store", kind: "knowledge", id: "k", data: JSON.stringify([text]) });
  }
  await journal[Symbol.asyncDispose]();
  const names = (await readdir(folder)).toSorted();
  const segments = await Promise.all(
    names.map(async (name) =>
      (await readFile(join(folder, name), "latin1"))
        .split(/(?<=\n)/)
        .map((line) => Buffer.from(line, "latin1")),
    ),
  );
  return { segments, anchor };
}

async function write(folder: string, segments: readonly (readonly Uint8Array[])[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  await Promise.all(
    segments.map((lines, index) =>
      writeFile(join(folder, `${String(index + 1).padStart(6, "0")}.ndjson`), Buffer.concat(lines)),
    ),
  );
}

/** Where the record with this number, counted from 0, lies. */
function locate(segments: readonly Buffer[][], record: number): [segment: number, line: number] {
  let left = record;
  for (const [index, lines] of segments.entries()) {
    if (left < lines.length) return [index, left];
    left -= lines.length;
  }
  throw new Error(`There is no record ${record}.`);
}

const damage = fc.oneof(
  fc.record({ kind: fc.constant("flip" as const), at: fc.nat(), by: fc.integer({ min: 1, max: 255 }) }),
  fc.record({ kind: fc.constant("remove" as const) }),
  fc.record({ kind: fc.constant("duplicate" as const) }),
  fc.record({ kind: fc.constant("swap" as const) }),
  fc.record({ kind: fc.constant("truncate" as const), at: fc.nat() }),
);

test("any changed byte, any record removed, repeated or moved, and any cut is found, at the record where it is", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { minLength: 1, maxLength: 8 }),
      fc.nat(),
      damage,
      async (data, where, what) => {
        const folder = await temporaryFolder();
        const { segments, anchor } = await make(join(folder, "good"), data);
        expect(await verifyJournal(join(folder, "good"), anchor)).toEqual({
          ok: true,
          records: anchor.seq,
          head: anchor.hash,
        });
        const record = where % anchor.seq;
        const [segment, line] = locate(segments, record);
        const lines = segments[segment] ?? [];
        const bytes = lines[line] ?? Buffer.alloc(0);
        let firstBad = record + 1;
        let changed = segments;
        if (what.kind === "flip") {
          const index = what.at % bytes.length;
          bytes[index] = (bytes[index] ?? 0) ^ what.by;
        } else if (what.kind === "remove") {
          lines.splice(line, 1);
        } else if (what.kind === "duplicate") {
          lines.splice(line, 0, bytes);
          // The first of the two is the right one.
          firstBad += 1;
        } else if (what.kind === "swap") {
          const next = lines[line + 1];
          if (next === undefined) return;
          lines.splice(line, 2, next, bytes);
        } else {
          lines.splice(line, lines.length, bytes.subarray(0, what.at % bytes.length));
          changed = segments.slice(0, segment + 1);
        }
        await write(join(folder, "bad"), changed);
        expect(await verifyJournal(join(folder, "bad"), anchor)).toMatchObject({
          ok: false,
          records: firstBad - 1,
          firstBad: { seq: firstBad },
        });
      },
    ),
    { numRuns: 150 },
  );
});

test("without an anchor, as after a crash, a cut last line is no damage and everything else is", async () => {
  const folder = await temporaryFolder();
  const { segments } = await make(join(folder, "good"), ["a", "b", "c"]);
  const all = segments.flat();
  const last = all.at(-1) ?? Buffer.alloc(0);
  for (let cut = 0; cut < last.length; cut += 3) {
    await write(join(folder, "cut"), [[...all.slice(0, -1), last.subarray(0, cut)]]);
    expect(await verifyJournal(join(folder, "cut"), chainStart)).toMatchObject({
      ok: true,
      records: all.length - 1,
    });
  }
});

test("every single byte of a record matters", async () => {
  const folder = await temporaryFolder();
  const { segments, anchor } = await make(join(folder, "good"), ["A\u001fb", "1e21"]);
  const bytes = segments[0]?.[0] ?? Buffer.alloc(0);
  for (let index = 0; index < bytes.length; index++) {
    // The bit that tells upper case from lower: 1e21 and 1E21, \u001f and \u001F are the same to a JSON reader.
    bytes[index] = (bytes[index] ?? 0) ^ 0x20;
    await write(join(folder, "bad"), segments);
    expect(await verifyJournal(join(folder, "bad"), anchor), `byte ${index}`).toMatchObject({
      ok: false,
      firstBad: { seq: 1 },
    });
    bytes[index] = (bytes[index] ?? 0) ^ 0x20;
  }
});
