import { expect, test } from "vitest";
import type { Redacted } from "../../memory-contract/records.ts";
import { testDuck } from "../projection/testing/test-duck.ts";
import { RebuildNeeded } from "./tables.ts";
import { f32 } from "./testing/test-knowledge.ts";
import { apply, emptied, record } from "./testing/test-tables.ts";

test("an update changes only the fields it names, and needs a new embedding only if the text changes", async () => {
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

test("relations are stored once, dangling ones too, and are removed with the item they start from", async () => {
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
])("an invalid embedding is skipped: %s", async (_, embedding) => {
  const { file } = await testDuck();
  await emptied(file);
  await apply(file, [record(1, "store", "a", { variant: "Fact", data: {}, embedding_f32: embedding })]);
  expect(await file.all("SELECT id FROM knowledge_items")).toEqual([{ id: "a" }]);
  expect(await file.all("SELECT label FROM knowledge_vectors")).toEqual([]);
});

test("a redaction that names a change and not its item requires a rebuild, which gives correct tables", async () => {
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
