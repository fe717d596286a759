import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import type { Anchor } from "./anchor.ts";
import { verifyJournal } from "./verify.ts";
import { encodeRecord, redactedLine } from "./record.ts";
import { type ChainEnd, chainStart } from "../memory-contract/records.ts";
import { readSegments, TestJournal, testRecords, writeSegments } from "./testing/journals.ts";

interface Made {
  readonly segments: Buffer[][];
  /** All lines as they were before anything was redacted. */
  readonly original: readonly Buffer[];
  readonly anchor: Anchor;
  /** Seqs without their data. */
  readonly redacted: readonly number[];
}

/** `redacted`: of the records with data, counted from 0, in two redactions with records in between. */
async function make(
  folder: string,
  data: readonly string[],
  redacted: readonly number[] = [],
): Promise<Made> {
  const kept = new TestJournal(folder);
  const original: Buffer[] = [];
  const seqs = [...new Set(redacted.map((index) => (index % (2 * data.length)) + 1))].toSorted(
    (a, b) => a - b,
  );
  await kept.within(async (journal) => {
    await Promise.all(
      data.map((text, index) =>
        journal.append([
          {
            operation: "store",
            kind: "temporal",
            id: `id-${index}-é`,
            data: JSON.stringify(text),
          },
        ]),
      ),
    );
    // One at a time too, so that there is more than one segment.
    for (const text of data) {
      await journal.append([
        { operation: "store", kind: "knowledge", id: "k", data: JSON.stringify([text]) },
      ]);
    }
    const halves = [seqs.slice(0, seqs.length / 2), seqs.slice(seqs.length / 2)];
    original.push(...(await readSegments(folder)).flat());
    for (const half of halves) {
      await journal.redact(({ seq }) => half.includes(seq), "id", "told to");
      await journal.append([{ operation: "update", kind: "working", id: "working", data: '{"revision":1}' }]);
    }
  });
  return { segments: await readSegments(folder), original, anchor: kept.anchor, redacted: seqs };
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

function endAt(segments: readonly Buffer[][], record: number): ChainEnd {
  if (record === 0) return chainStart;
  const line = segments.flat()[record - 1]?.toString("latin1") ?? "";
  return { seq: record, hash: /"hash":"([0-9a-f]{64})","data_hash"/.exec(line)?.[1] ?? "" };
}

const kinds = [
  "flip",
  "truncate",
  "remove",
  "duplicate",
  "insert",
  "replace",
  "swap",
  "rollback",
  "blank",
  "restore",
  "refill",
] as const;
const damage = fc.record({
  kind: fc.constantFrom(...kinds),
  at: fc.nat(),
  by: fc.integer({ min: 1, max: 255 }),
});

type Damage = typeof damage extends fc.Arbitrary<infer Value> ? Value : never;

/** Damages one record and says which seq has to be named; null where this cannot be done to this record. */
function damaged(
  { segments, original, redacted, anchor }: Made,
  record: number,
  what: Damage,
): number | null {
  const [segment, line] = locate(segments, record);
  const lines = segments[segment] ?? [];
  const bytes = lines[line] ?? Buffer.alloc(0);
  const head = testRecords.readHead(bytes.subarray(0, -1));
  const forged = (): Buffer =>
    Buffer.from(
      encodeRecord(
        { operation: "store", kind: "temporal", id: "forged", data: '"forged"' },
        endAt(segments, record),
        "0".repeat(32),
        0,
      ).line,
    );
  switch (what.kind) {
    case "flip": {
      const index = what.at % bytes.length;
      bytes[index] = (bytes[index] ?? 0) ^ what.by;
      return record + 1;
    }
    case "remove":
      lines.splice(line, 1);
      return record + 1;
    case "duplicate":
      lines.splice(line, 0, bytes);
      // The first of the two is the right one.
      return record + 2;
    case "insert":
    case "replace":
      lines.splice(line, what.kind === "insert" ? 0 : 1, forged());
      // In itself it is sound. The next one does not follow from it; in the last one's place the anchor tells.
      return record + (record + 1 === anchor.seq ? 1 : 2);
    case "swap": {
      const next = lines[line + 1];
      if (next === undefined) return null;
      lines.splice(line, 2, next, bytes);
      return record + 1;
    }
    case "truncate":
      lines.splice(line, lines.length, bytes.subarray(0, what.at % bytes.length));
      segments.length = segment + 1;
      return record + 1;
    case "rollback":
      lines.splice(line);
      segments.length = segment + 1;
      return record + 1;
    case "blank":
      // Its data is gone, and nothing says that it was to go.
      if (head === null || head.isRedacted) return null;
      lines.splice(line, 1, Buffer.concat([redactedLine(bytes.subarray(0, -1), head), Buffer.from("\n")]));
      return record + 1;
    case "restore":
      if (!redacted.includes(record + 1)) return null;
      lines.splice(line, 1, original[record] ?? Buffer.alloc(0));
      return record + 1;
    case "refill": {
      if (!redacted.includes(record + 1)) return null;
      const text = bytes
        .toString("latin1")
        .replace('"redacted":true', `"data":"x","salt":"${"0".repeat(32)}"`);
      lines.splice(line, 1, Buffer.from(text, "latin1"));
      return record + 1;
    }
  }
}

test("every edit, insertion, removal, move, cut, rollback, unnamed redaction and restored record is named by its seq", async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "grapheme", maxLength: 40 }), { minLength: 1, maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      fc.nat(),
      damage,
      async (data, redacted, where, what) => {
        const folder = await temporaryFolder();
        const made = await make(join(folder, "good"), data, redacted);
        const { anchor } = made;
        expect(await verifyJournal(join(folder, "good"), anchor, testRecords)).toEqual({
          ok: true,
          records: anchor.seq,
          head: anchor.hash,
        });
        const restores = what.kind === "restore" || what.kind === "refill";
        const candidates = restores ? made.redacted.map((seq) => seq - 1) : [...Array(anchor.seq).keys()];
        const record = candidates[where % candidates.length];
        const firstBad = record === undefined ? null : damaged(made, record, what);
        if (firstBad === null) return;
        seen.set(what.kind, (seen.get(what.kind) ?? 0) + 1);
        await writeSegments(join(folder, "bad"), made.segments);
        expect(await verifyJournal(join(folder, "bad"), anchor, testRecords), what.kind).toMatchObject({
          ok: false,
          firstBad: { seq: firstBad },
        });
      },
    ),
    { numRuns: 250 },
  );
  expect([...seen.keys()].toSorted()).toEqual(kinds.toSorted());
});

test("a redaction that a crash interrupted is not damage until it was completed", async () => {
  const folder = await temporaryFolder();
  const { segments, original, anchor } = await make(folder, ["a", "b", "c"], [1]);
  const [segment, line] = locate(segments, 1);
  segments[segment]?.splice(line, 1, original[1] ?? Buffer.alloc(0));
  await writeSegments(folder, segments);
  expect(await verifyJournal(folder, anchor, testRecords)).toMatchObject({
    firstBad: { seq: 2, reason: expect.stringContaining("it was redacted by seq 8, but has its data again") },
  });
  expect(await verifyJournal(folder, { ...anchor, carriedOut: 0 }, testRecords)).toMatchObject({ ok: true });
});

/** Appends a redact record as it is given, properly chained, and says what a proof finds. */
async function proofOf(data: string): Promise<unknown> {
  const folder = await temporaryFolder();
  const kept = new TestJournal(folder);
  await kept.within(async (journal) => {
    for (const text of ['"a"', '"b"']) {
      await journal.append([{ operation: "store", kind: "temporal", id: text, data: text }]);
    }
    await journal.redact(({ seq }) => seq === 1, "id", "first");
    await journal.append([{ operation: "redact", kind: "temporal", id: "id", data }]);
  });
  return (await verifyJournal(folder, kept.anchor, testRecords)).firstBad;
}

test.each([
  ["itself", '{"reason":"","seqs":[[4,4]]}'],
  ["what comes later", '{"reason":"","seqs":[[2,9]]}'],
  ["what was redacted before", '{"reason":"","seqs":[[1,2]]}'],
  ["what names redacted records", '{"reason":"","seqs":[[3,3]]}'],
  ["nothing", '{"reason":"","seqs":[]}'],
  ["ranges out of order", '{"reason":"","seqs":[[2,2],[2,2]]}'],
  ["a range that ends before it begins", '{"reason":"","seqs":[[2,1]]}'],
  ["half a record", '{"reason":"","seqs":[[1.5,2]]}'],
  ["something else than ranges", '{"reason":"","seqs":{"length":1}}'],
  ["no reason", '{"seqs":[[2,2]]}'],
  ["what is no object", "[[2,2]]"],
])("a redact record that names %s is the first bad one", async (_what, data) => {
  expect(await proofOf(data)).toMatchObject({ seq: 4 });
});

test("a redact record that has lost its own data is the first bad one", async () => {
  const folder = await temporaryFolder();
  const { segments, anchor } = await make(folder, ["a"], [0]);
  const [segment, line] = locate(segments, 3);
  const bytes = segments[segment]?.[line]?.subarray(0, -1) ?? Buffer.alloc(0);
  const head = testRecords.readHead(bytes);
  expect(head).toMatchObject({ operation: "redact", seq: 4 });
  if (head === null) return;
  segments[segment]?.splice(line, 1, Buffer.concat([redactedLine(bytes, head), Buffer.from("\n")]));
  await writeSegments(folder, segments);
  expect(await verifyJournal(folder, anchor, testRecords)).toMatchObject({ firstBad: { seq: 4 } });
});

test("without an anchor, as after a crash, only a cut last line is not damage", async () => {
  const folder = await temporaryFolder();
  const { segments } = await make(join(folder, "good"), ["a", "b", "c"]);
  const all = segments.flat();
  const last = all.at(-1) ?? Buffer.alloc(0);
  for (let cut = 0; cut < last.length; cut += 3) {
    await writeSegments(join(folder, "cut"), [[...all.slice(0, -1), last.subarray(0, cut)]]);
    expect(await verifyJournal(join(folder, "cut"), chainStart, testRecords)).toMatchObject({
      ok: true,
      records: all.length - 1,
    });
  }
});

test.each(["with its data", "redacted"])("every single byte of a record %s matters", async (form) => {
  const folder = await temporaryFolder();
  const { segments, anchor } = await make(
    join(folder, "good"),
    ["A\u001fb", "1e21"],
    form === "redacted" ? [0] : [],
  );
  const bytes = segments[0]?.[0] ?? Buffer.alloc(0);
  expect(testRecords.readHead(bytes.subarray(0, -1))?.isRedacted).toBe(form === "redacted");
  for (let index = 0; index < bytes.length; index++) {
    // The bit that tells upper case from lower: 1e21 and 1E21, \u001f and \u001F are the same to a JSON reader.
    bytes[index] = (bytes[index] ?? 0) ^ 0x20;
    await writeSegments(join(folder, "bad"), segments);
    expect(await verifyJournal(join(folder, "bad"), anchor, testRecords), `byte ${index}`).toMatchObject({
      ok: false,
      firstBad: { seq: 1 },
    });
    bytes[index] = (bytes[index] ?? 0) ^ 0x20;
  }
});
