import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, type JsonValue } from "../../base/json.ts";
import { isLaresError } from "../../base/errors.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { type ChainEnd, chainStart } from "../../memory-contract/records.ts";
import { encodeRecord, type RecordInput } from "../../journal/record.ts";
import { memoryFixture, type MemoryFixture, testKey } from "../testing/memory-fixture.ts";
import { formatVersion, magic } from "./format.ts";
import { assembleContainer, splitContainer } from "./testing/forged.ts";

/*
 * Exports with correct digests and hashes, made by somebody who can compute them, whose content no kernel writes. They
 * are refused; any other can be opened, queried and continued.
 */

const preamble = Buffer.alloc(12);
magic.copy(preamble);
preamble.writeUInt32LE(formatVersion, magic.length);

function forged(records: readonly RecordInput[], redacted: ReadonlySet<number> = new Set()): Buffer {
  let end: ChainEnd = chainStart;
  const lines = records.map((record) => {
    const encoded = encodeRecord(record, end, "5a".repeat(16), 1_770_000_000_000);
    end = encoded.end;
    if (!redacted.has(end.seq)) return encoded.line;
    return `{"redacted":true${encoded.line.slice(encoded.line.indexOf(',"hash":"'))}`;
  });
  const policies = lines.filter((_, at) => records[at]?.kind === "policy").join("");
  const journal = Buffer.from(lines.join(""));
  const created = "2026-11-20T10:00:00.000Z";
  const head = { seq: end.seq, hash: end.hash, bytes: journal.length };
  const meta = canonicalJson({ from: testKey, created, head, vectors: null });
  return assembleContainer({
    preamble,
    parts: [
      { kind: "META", content: Buffer.from(meta) },
      { kind: "WITNESS", content: journal },
      ...(policies === "" ? [] : [{ kind: "POLICY", content: Buffer.from(policies) }]),
      { kind: "END", content: Buffer.alloc(32) },
    ],
  });
}

const record = (
  operation: RecordInput["operation"],
  kind: RecordInput["kind"],
  id: string,
  data: JsonValue,
): RecordInput => ({ operation, kind, id, data: canonicalJson(data) });
const anEvent = (id: string): RecordInput =>
  record("store", "temporal", id, { variant: "noted", timestamp: "2026-11-20T10:00:00.000Z", data: {} });
const anItem = (id: string): RecordInput =>
  record("store", "knowledge", id, { variant: "Fact", data: {}, text: "a shell" });
const aState = (revision: number): RecordInput =>
  record("update", "working", "working", { revision, state: { n: revision } });
const aPolicy = record("store", "policy", "policy", { retention_days: 30 });
const redact = (kind: RecordInput["kind"], id: string, ...seqs: (readonly [number, number])[]): RecordInput =>
  record("redact", kind, id, { reason: "told to", seqs });

async function importing({ start }: MemoryFixture, bytes: Buffer): Promise<unknown> {
  const path = join(await temporaryFolder(), "forged");
  await writeFile(path, bytes);
  await using memory = await start();
  const described = await memory.describe(testKey, path).catch((error: unknown) => error);
  const outcome = await memory.import(testKey, path).catch((error: unknown) => error);
  // The description before an import equals the outcome of the import.
  expect(described).toEqual(outcome);
  return outcome;
}

const first = [
  anEvent("e1"),
  anItem("i1"),
  aPolicy,
  anEvent("e2"),
  anItem("i1"),
  aState(1),
  aState(2),
] as const;

describe("a redact record", () => {
  test.each<[string, RecordInput, RegExp]>([
    [
      "naming another event's record",
      redact("temporal", "e1", [4, 4]),
      /record 4 under an id that is not its own/,
    ],
    ["naming its own and another's", redact("temporal", "e1", [1, 1], [4, 4]), /record 4 under an id/],
    [
      "of another kind than what it names",
      redact("knowledge", "e1", [1, 1]),
      /record 1 as knowledge, which is of another kind/,
    ],
    [
      "naming all, whatever it is",
      redact("temporal", "retention", [1, 7]),
      /record 2 as temporal, which is of another kind/,
    ],
    ["taking knowledge for its age", redact("knowledge", "retention", [2, 2]), /record 2 under an id/],
    ["of policy", redact("policy", "policy", [3, 3]), /does not say what it redacts/],
    ["naming policy", redact("temporal", "retention", [3, 3]), /another kind/],
    ["naming the newest state", redact("working", "retention", [7, 7]), /record 7, the newest state/],
    ["naming states under their own id", redact("working", "working", [6, 6]), /as no kernel does/],
    ["naming itself", redact("temporal", "e1", [8, 8]), /not before it/],
    ["naming what is not there", redact("temporal", "e1", [1, 2 ** 52]), /not before it/],
    ["naming nothing", redact("temporal", "e1"), /does not say what it redacts/],
    ["from the last to the first", redact("temporal", "e1", [4, 1]), /not before it/],
    ["saying it twice", redact("temporal", "e1", [1, 1], [1, 1]), /was already/],
    ["of no form", record("redact", "temporal", "e1", { seqs: "all" }), /does not say what it redacts/],
  ])("%s is refused", async (_, bad, words) => {
    const fixture = await memoryFixture();
    const outcome = await importing(fixture, forged([...first, bad]));
    expect(outcome).toMatchObject({ code: "StorageError", message: expect.stringMatching(words) });
    // Nothing of it was imported.
    await fixture.within(async (agent) => expect(agent.stats().records).toBe(0));
  });

  test.each<[string, RecordInput, readonly number[]]>([
    ["an event", redact("temporal", "e1", [1, 1]), [1]],
    ["all records of an item", redact("knowledge", "i1", [2, 2], [5, 5]), [2, 5]],
    ["events for their age", redact("temporal", "retention", [1, 1], [4, 4]), [1, 4]],
    ["a superseded state", redact("working", "retention", [6, 6]), [6]],
  ])("of %s, carried out or not yet, is taken", async (_, good, seqs) => {
    for (const redacted of [new Set<number>(), new Set(seqs)]) {
      const fixture = await memoryFixture();
      expect(await importing(fixture, forged([...first, good], redacted))).toMatchObject({ records: 8 });
      await fixture.within(async (agent) =>
        expect(await agent.verify()).toMatchObject({ ok: true, records: 8 }),
      );
      expect(fixture.lines().flatMap(({ seq, redacted }) => (redacted === true ? [seq] : []))).toEqual(seqs);
    }
  });
});

test.each<[string, RecordInput]>([
  ["of no revision", record("update", "working", "working", { state: 1 })],
  ["that is no object", record("update", "working", "working", "state")],
  ["of a revision that nothing can follow", aState(Number.MAX_SAFE_INTEGER)],
  ["of more swaps than there were", aState(4)],
  ["of the revision before it", aState(2)],
  ["stored, not updated", record("store", "working", "working", { revision: 3, state: 1 })],
  ["under another id", record("update", "working", "w", { revision: 3, state: 1 })],
])("a state %s is refused: a memory that has it could not be opened, or gone on from", async (_, bad) => {
  const outcome = await importing(await memoryFixture(), forged([...first, bad]));
  expect(outcome).toMatchObject({ code: "StorageError", message: expect.stringMatching(/record 8/) });
});

test("what a kernel wrote, forgot and cleaned up is imported and continues", async () => {
  const from = await memoryFixture();
  const path = join(await temporaryFolder(), "export");
  {
    await using memory = await from.start();
    const agent = await memory.open(testKey);
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) {
      ids.push((await agent.appendEvent({ variant: "noted", data: { n } })).id);
      ids.push((await agent.addKnowledge({ variant: "Fact", data: { n } })).id);
      await agent.swap(n, { n });
    }
    await agent.updateKnowledge({ id: ids[1]!, text: "another" });
    await agent.removeKnowledge(ids[3]!);
    for (const id of [ids[0]!, ids[1]!, ids[3]!]) await agent.forget(id, "told to");
    await agent.recordPolicy({ retention_days: 1 });
    from.clock.advance(2 * 24 * 60 * 60 * 1000);
    await agent.cleanup(1);
    await memory.export(testKey, path, { overwrite: false });
  }
  const into = await memoryFixture();
  await using memory = await into.start();
  await memory.import(testKey, path);
  const agent = await memory.open(testKey);
  expect(await agent.verify()).toMatchObject({ ok: true });
  expect(agent.read()).toEqual({ revision: 6, state: { n: 5 } });
  expect(await agent.swap(6, "on")).toEqual({ revision: 7 });
});

const anyRecord: fc.Arbitrary<RecordInput> = fc
  .record({
    operation: fc.constantFrom("store", "update", "delete", "redact"),
    kind: fc.constantFrom("temporal", "knowledge", "working", "policy"),
    id: fc.constantFrom("a", "b", "working", "policy", "retention", "\u0000", "é\ud800"),
    data: fc.oneof(
      fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>,
      fc.record({ revision: fc.nat(5), state: fc.constant(1) }),
      fc.record({
        reason: fc.constant("r"),
        seqs: fc.array(fc.tuple(fc.nat(6), fc.nat(6)), { maxLength: 3 }),
      }),
      fc.constant({ variant: "v", timestamp: "2026-11-20T10:00:00.000Z", data: {} }),
    ),
  })
  .filter(({ data }) => isJson(data))
  .map(({ operation, kind, id, data }) => record(operation, kind, id, data));

function isJson(data: JsonValue): boolean {
  try {
    canonicalJson(data);
    return true;
  } catch {
    return false;
  }
}

test("any complete chain is refused, or the memory opens, is proven, and continues across a restart", async () => {
  const outcomes = { refused: 0, taken: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyRecord, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(6)),
      async (records, gone) => {
        const fixture = await memoryFixture();
        const outcome = await importing(fixture, forged(records, new Set(gone)));
        if (outcome instanceof Error) {
          expect(isLaresError(outcome, "StorageError"), outcome.message).toBe(true);
          outcomes.refused += 1;
          return;
        }
        outcomes.taken += 1;
        for (let start = 0; start < 2; start++) {
          await fixture.within(async (agent) => {
            expect(await agent.verify()).toMatchObject({ ok: true });
            agent.policy();
            const { revision } = agent.read();
            await agent.swap(revision, { start });
            await agent.appendEvent({ variant: "noted", data: { start } });
            await agent.cleanup(0);
          });
        }
      },
    ),
    { numRuns: 150 },
  );
  expect(outcomes.taken).toBeGreaterThan(5);
  expect(outcomes.refused).toBeGreaterThan(5);
});

test("segments dropped, duplicated, or any two swapped, with correct digests: refused", async () => {
  const taken = splitContainer(forged(first));
  const [meta, witness, policy, end] = taken.parts;
  const lines = witness!.content
    .toString()
    .split(/(?<=\n)/)
    .map((line) => ({ kind: "WITNESS", content: Buffer.from(line) }));
  const parts = [meta!, ...lines, policy!, end!];
  expect(await importing(await memoryFixture(), assembleContainer({ ...taken, parts }))).toMatchObject({
    records: 7,
  });
  for (let at = 0; at < parts.length; at++) {
    const changes = [parts.toSpliced(at, 1), parts.toSpliced(at, 0, parts[at]!)];
    for (let other = at + 1; other < parts.length; other++)
      changes.push(parts.with(at, parts[other]!).with(other, parts[at]!));
    for (const changed of changes) {
      const outcome = await importing(await memoryFixture(), assembleContainer({ ...taken, parts: changed }));
      expect(outcome, `segment ${at}`).toMatchObject({ name: "LaresError" });
    }
  }
});
