import { describe, expect, test } from "vitest";
import { type DiskError, type DiskRule, whyNoFailingDisk } from "../../../test/fault/support/failing-disk.ts";
import { canonicalJson } from "../base/json.ts";
import { messageOf } from "../base/errors.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import type { StoreMemory } from "../memory-contract/store-port.ts";
import { beginningMs } from "./testing/test-journal.ts";
import { testStore } from "./testing/test-store.ts";
import { throughDisk, told } from "./testing/through-disk.ts";
import { Engines } from "./vectors/engines.ts";
import type { EngineName } from "../memory-contract/store-settings.ts";

/*
 * A real store host whose disk fails at each call that changes something, from the first on, the second, …:
 * while a journal is projected, its index is saved and its files are closed. Acknowledged records are in the
 * journal; a caller gets a correct answer or an error; and when there is space again, the same kernel answers
 * as before.
 */

const why = await whyNoFailingDisk();
const hasFaiss = await new Engines().isAvailable("faiss");
interface Case {
  readonly error: DiskError;
  /** The part of a path by which the failing paths are chosen. */
  readonly path: string;
  readonly operations?: string;
  readonly engine: EngineName;
}

const graph: EngineName = hasFaiss ? "faiss" : "usearch";
const cases: readonly Case[] = [
  { error: "ENOSPC", path: "temporal.duckdb", engine: "exact" },
  { error: "EIO", path: "temporal.duckdb", engine: "exact" },
  { error: "ENOSPC", path: "temporal.duckdb", operations: "sync", engine: "exact" },
  { error: "ENOSPC", path: "text.sqlite", engine: "exact" },
  { error: "EIO", path: "text.sqlite", engine: "exact" },
  { error: "ENOSPC", path: "memory/knowledge", engine: "exact" },
  { error: "ENOSPC", path: "memory/knowledge", engine: graph },
  { error: "ENOSPC", path: "/memory/", engine: graph },
  { error: "EDQUOT", path: "/memory/", engine: "exact" },
];

describe.skipIf(why !== null)("while the disk fails under the store host", () => {
  test.each(cases)(
    "$error at $path, $engine: nothing acknowledged is lost, every caller gets an answer or an error, and it recovers",
    async ({ engine, ...rule }) => {
      const disk = await throughDisk(await temporaryFolder());
      const { store, journal } = await testStore();
      const { settings } = journal.memory;
      const memory = (): StoreMemory => ({ ...journal.memory, settings: { ...settings, vectors: engine } });
      let items = 0;
      let events = 0;
      const grow = (count: number): void => {
        for (let n = 0; n < count; n++) {
          items += 1;
          journal.append({
            operation: "store",
            kind: "knowledge",
            id: `item-${items}`,
            data: canonicalJson({ variant: "Fact", data: {}, text: `thing number ${items}` }),
          });
        }
        events += count;
        journal.appendEvents(count, (seq) => ({ data: { words: `event ${seq}` } }));
      };
      const nowMs = beginningMs;
      const answers = async (): Promise<object> => ({
        events: (await store.request("temporal.count", memory(), { query: {}, nowMs })).count,
        worded: (
          await store.request("temporal.query", memory(), {
            query: { text: { match: "event" }, limit: 1 },
            nowMs,
          })
        ).total,
        like: (
          await store.request("knowledge.query", memory(), {
            query: { similar_to: `thing number ${items}`, top_k: 1 },
            nowMs,
          })
        ).items.map(({ id }) => id),
      });
      const right = (): object => ({ events, worded: events, like: [`item-${items}`] });
      // Enough items for a graph to be built.
      grow(300);
      expect(await answers()).toEqual(right());

      const refusals: string[] = [];
      let rounds = 0;
      for (let from = 1, struck = true; struck; from = Math.ceil(from * 1.7)) {
        grow(20);
        const failing: DiskRule = { ...rule, from };
        await disk.fail(failing);
        for (const ask of [answers, () => store.request("close", memory(), {}), answers]) {
          const outcome = await ask().catch((error: unknown) => error);
          if (!(outcome instanceof Error)) {
            if (ask === answers) expect(outcome).toEqual(right());
            continue;
          }
          expect(outcome, messageOf(outcome)).toMatchObject({ code: "StorageError" });
          refusals.push(messageOf(outcome));
        }
        struck = (await disk.struck()).length > 0;
        await disk.mend();
        expect(await answers(), `from call ${from}: ${refusals.at(-1)}`).toEqual(right());
        rounds += 1;
      }
      expect(rounds).toBeGreaterThan(1);
      for (const refusal of refusals) expect(refusal).toMatch(told);
    },
  );
});
