import fc from "fast-check";
import { expect, test } from "vitest";
import type { JournalRecord } from "../projection/port.ts";
import type { Redacted } from "../../memory-contract/records.ts";
import { testDuck } from "../projection/testing/test-duck.ts";
import { f32 } from "./testing/test-knowledge.ts";
import { apply, emptied, record, said } from "./testing/test-tables.ts";

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
          // A redaction names all records of its item, as required.
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
