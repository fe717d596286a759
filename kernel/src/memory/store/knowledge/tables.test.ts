import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonValue } from "../../../base/json.ts";
import type { DuckFile } from "../projection/duck-file.ts";
import type { JournalRecord, Redacted } from "../projection/port.ts";
import { testDuck } from "../projection/testing/test-duck.ts";
import { knowledgeTables, RebuildNeeded } from "./tables.ts";
import { f32 } from "./testing/test-knowledge.ts";

const record = (
  seq: number,
  operation: JournalRecord["operation"],
  id: string,
  data: unknown,
): JournalRecord => ({
  seq,
  writtenMs: 1_000 * seq,
  operation,
  kind: operation === "redact" ? "policy" : "knowledge",
  id,
  data: data as JsonValue,
});

const apply = (file: DuckFile, records: readonly JournalRecord[]): Promise<void> =>
  file.transaction((sql) => knowledgeTables.apply(sql, records));

const tables = ["items", "relations", "records", "queue"] as const;
/** Everything the tables say, but for labels, which only count up. */
async function said(file: DuckFile): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {};
  for (const table of tables)
    contents[table] = await file.all(`SELECT * FROM knowledge_${table} ORDER BY ALL`);
  contents["vectors"] = await file.all(
    "SELECT item_row, space, tier, hex(bytes) AS bytes FROM knowledge_vectors ORDER BY ALL",
  );
  return contents;
}

async function emptied(file: DuckFile): Promise<void> {
  const all = await file.all<{ name: string }>(
    "SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'knowledge_%' AND database_name <> 'temp'",
  );
  for (const { name } of all) await file.run(`DROP TABLE ${name}`);
  await file.transaction((sql) => knowledgeTables.create(sql));
}

test("an update changes only the fields it names, and asks for an embedding only where the words change", async () => {
  const { file } = await testDuck();
  await emptied(file);
  await apply(file, [record(1, "store", "a", { variant: "Fact", data: { x: 1 }, text: "one" })]);
  await file.run("DELETE FROM knowledge_queue");
  await apply(file, [record(2, "update", "a", { data: { x: 2 }, importance: 0.75 })]);
  expect(await file.all("SELECT * FROM knowledge_items")).toEqual([
    {
      item_row: 1,
      id: "a",
      variant: "Fact",
      data: '{"x":2}',
      words: "one",
      importance: 0.75,
      created_ms: 1_000,
      updated_ms: 2_000,
    },
  ]);
  expect(await file.all("SELECT * FROM knowledge_queue")).toEqual([]);
  await apply(file, [record(3, "update", "a", { text: "two" })]);
  expect(await file.all("SELECT item_row, state, said_seq FROM knowledge_queue")).toEqual([
    { item_row: 1, state: "pending", said_seq: 3 },
  ]);
});

test("relations are kept once, dangling ones too, and go with the item they come from", async () => {
  const { file } = await testDuck();
  await emptied(file);
  const to = (id: string) => ({ relate: { to: id, relation: "PartOf" } });
  await apply(file, [
    record(1, "store", "a", {
      variant: "Fact",
      data: {},
      relations: [{ to: "nowhere", relation: "PartOf" }],
    }),
    record(2, "update", "a", to("nowhere")),
    record(3, "update", "a", to("a")),
  ]);
  await apply(file, [record(4, "update", "a", to("a")), record(5, "update", "gone", to("a"))]);
  const relations = () => file.all("SELECT seq, from_id, to_id FROM knowledge_relations ORDER BY seq");
  expect(await relations()).toEqual([
    { seq: 1, from_id: "a", to_id: "nowhere" },
    { seq: 3, from_id: "a", to_id: "a" },
  ]);
  await apply(file, [record(6, "delete", "a", {})]);
  expect(await relations()).toEqual([]);
});

test.each([
  ["no object", "text"],
  ["no variant", { data: {} }],
  ["no data", { variant: "Fact" }],
  ["a variant that is a number", { variant: 1, data: {} }],
  ["redacted", null],
])("a record of no form that was ever written says nothing: %s", async (_, data) => {
  const { file } = await testDuck();
  await emptied(file);
  await apply(file, [record(1, "store", "a", data), record(2, "update", "a", { importance: 1 })]);
  expect(await file.all("SELECT id FROM knowledge_items")).toEqual([]);
});

test.each([
  ["no base64", "§§§"],
  ["half a number", "AAAA"],
  ["nothing but zeros", f32([0, 0])],
  ["not a number", f32([1, Number.NaN])],
  ["infinity", f32([1, Number.POSITIVE_INFINITY])],
  ["a number", 7],
])("what is no embedding is passed over: %s", async (_, embedding) => {
  const { file } = await testDuck();
  await emptied(file);
  await apply(file, [record(1, "store", "a", { variant: "Fact", data: {}, embedding_f32: embedding })]);
  expect(await file.all("SELECT id FROM knowledge_items")).toEqual([{ id: "a" }]);
  expect(await file.all("SELECT label FROM knowledge_vectors")).toEqual([]);
});

test("a redaction that names a change and not its item asks to be built again; built again it is whole", async () => {
  const { file } = await testDuck();
  await emptied(file);
  const records = [
    record(1, "store", "a", { variant: "Fact", data: { secret: false } }),
    record(2, "update", "a", { data: { secret: true } }),
  ];
  await apply(file, records);
  const redaction = record(3, "redact", "", { seqs: [[2, 2]], reason: "forget" } satisfies Redacted);
  await expect(apply(file, [redaction])).rejects.toThrow(RebuildNeeded);
  await emptied(file);
  await apply(file, [record(1, "store", "a", records[0]?.data), record(2, "update", "a", null), redaction]);
  expect(await file.all("SELECT data FROM knowledge_items")).toEqual([{ data: '{"secret":false}' }]);
});

const ids = ["a", "b", "c"];
const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      operation: fc.constant("store" as const),
      id: fc.constantFrom(...ids),
      data: addition(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      operation: fc.constant("update" as const),
      id: fc.constantFrom(...ids),
      data: partOf(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      operation: fc.constant("update" as const),
      id: fc.constantFrom(...ids),
      data: fc.record({ relate: relation() }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      operation: fc.constant("delete" as const),
      id: fc.constantFrom(...ids),
      data: fc.constant({}),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      operation: fc.constant("redact" as const),
      id: fc.constantFrom(...ids),
      data: fc.constant({}),
    }),
  },
);

function relation() {
  return fc.record({
    to: fc.constantFrom(...ids, "nowhere"),
    relation: fc.constantFrom("PartOf", "Updates"),
  });
}
function partOf() {
  return fc.record(
    {
      variant: fc.constantFrom("Fact", "Event"),
      data: fc.jsonValue({ maxDepth: 1 }),
      text: fc.string({ unit: "binary", maxLength: 5 }),
      importance: fc.double({ min: 0, max: 1, noNaN: true }),
      embedding_f32: fc.constantFrom(f32([1, 0]), f32([0, 2]), f32([1, 2, 3])),
    },
    { requiredKeys: [] },
  );
}
function addition() {
  return fc
    .tuple(partOf(), fc.array(relation(), { maxLength: 2 }))
    .map(([part, relations]) => ({ variant: "Fact", data: null, ...part, relations }));
}

test("batches of any size, some applied twice, and all at once after redaction: the same tables", async () => {
  const { file } = await testDuck();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(change, fc.nat(3)), { minLength: 1, maxLength: 16 }),
      async (steps) => {
        await emptied(file);
        const journal: JournalRecord[] = [];
        let from = 0;
        for (const [index, [{ operation, id, data }, cut]] of steps.entries()) {
          const seq = index + 1;
          // A redaction names all records of its item, as it is asked to.
          const seqs = journal
            .filter((each) => each.id === id && each.data !== null)
            .map((each) => [each.seq, each.seq]);
          const what = operation === "redact" ? { seqs, reason: "forget" } : data;
          journal.push(record(seq, operation, operation === "redact" ? "" : id, what));
          if (cut > 0) {
            const batch = journal.slice(from);
            for (let times = 0; times < cut; times += 1) await apply(file, batch);
            from = journal.length;
          }
        }
        await apply(file, journal.slice(from));
        const stepwise = await said(file);
        await emptied(file);
        const redacted = new Set(
          journal
            .filter((each) => each.operation === "redact")
            .flatMap((each) => (each.data as unknown as Redacted).seqs.map(([first]) => first)),
        );
        const rewritten = journal.map((each) => (redacted.has(each.seq) ? { ...each, data: null } : each));
        await apply(file, rewritten);
        expect(await said(file)).toEqual(stepwise);
      },
    ),
    { numRuns: 25 },
  );
});
