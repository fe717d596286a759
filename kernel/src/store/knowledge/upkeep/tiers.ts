import type { SqlValue } from "../../projection/port.ts";
import { type AtRest, decodeVector, encodeVector, type Tier } from "../../vectors/quantize.ts";
import { type Database, numberList } from "../rows/schema.ts";

/**
 * How vectors are stored: hot ones whole, warm ones at half precision, cold ones with one byte for each
 * number. Heat is (1 + finds) × 0.5 ^ (age / 30 days), with age since an item was stored, changed or found.
 * The index is not changed: it knows a vector by its label, which stays.
 */
const halfLifeMs = 30 * 24 * 60 * 60 * 1000;
/** So an item that was never found is hot for 30 days, and cold after 90. */
const leastHeatHot = 0.5;
const leastHeatWarm = 0.125;
/** Maximum vectors that one maintenance moves. */
const maxMoved = 20_000;
const movedAtOnce = 1_000;

/** Selects each vector with its `heat`. `nowMs` is the host's own number. */
export const heatSql = (nowMs: number): string =>
  `SELECT v.label, v.item_row, v.space, v.tier, (1 + coalesce(a.accesses, 0)) * pow(0.5,
     greatest(0, ${Math.trunc(nowMs)} - greatest(i.updated_ms, coalesce(a.last_ms, 0))) / ${halfLifeMs}.0) AS heat
   FROM knowledge_vectors v JOIN knowledge_items i ON i.item_row = v.item_row
   LEFT JOIN knowledge_accesses a ON a.item_row = v.item_row`;

const movesSql = (nowMs: number): string =>
  `SELECT * FROM (
     SELECT label, tier, CASE WHEN heat >= ${leastHeatHot} THEN 'hot'
       WHEN heat >= ${leastHeatWarm} THEN 'warm' ELSE 'cold' END AS wanted FROM (${heatSql(nowMs)})
   ) WHERE tier <> wanted ORDER BY label LIMIT ${maxMoved}`;

/**
 * Moves vectors whose heat has changed. A cold one is restored from the index (`vectorOf`), at least at half
 * precision.
 */
export async function moveTiers(
  database: Database,
  nowMs: number,
  vectorOf: (space: string, label: number) => Float32Array | null,
): Promise<void> {
  const all = await database.all<{ label: number; wanted: Tier }>(movesSql(nowMs));
  for (let at = 0; at < all.length; at += movedAtOnce) {
    const wanted = new Map(all.slice(at, at + movedAtOnce).map((move) => [move.label, move.wanted]));
    const labels = JSON.stringify([...wanted.keys()]);
    const before = await database.all<AtRest & { label: number; item_row: number; space: string }>(
      `SELECT * FROM knowledge_vectors WHERE label IN ${numberList}`,
      [labels],
    );
    const after: SqlValue[][] = [];
    for (const vector of before) {
      const { label, item_row: row, space, tier } = vector;
      const next = wanted.get(label) ?? tier;
      const whole = (tier === "cold" ? vectorOf(space, label) : null) ?? decodeVector(vector);
      after.push([label, row, space, next, encodeVector(whole, next)]);
    }
    await database.transaction(async (sql) => {
      // A vector that was removed meanwhile stays removed.
      const still = await sql.all<{ label: number }>(
        `SELECT label FROM knowledge_vectors WHERE label IN ${numberList}`,
        [labels],
      );
      const there = new Set(still.map(({ label }) => label));
      await sql.run(`DELETE FROM knowledge_vectors WHERE label IN ${numberList}`, [labels]);
      await sql.append(
        "knowledge_vectors",
        after.filter(([label]) => there.has(label as number)),
      );
    });
  }
}
