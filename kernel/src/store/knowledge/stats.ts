import type { StoreStats } from "../../memory-contract/store-port.ts";
import type { Sql } from "../projection/port.ts";
import { embedderOf } from "./rows/serving-fact.ts";
import type { Serving } from "./embedding/serving.ts";

/** Returns the part of `stats` about knowledge. Vectors: the serving ones, made or brought. */
export async function knowledgeStats(
  sql: Sql,
  made: Serving,
  given: Serving,
  rebuilding: StoreStats["rebuilding"],
): Promise<Pick<StoreStats, "knowledge" | "vectors" | "embedder" | "rebuilding">> {
  const shape = (made.space ?? given.space)?.index.shape;
  const [counts] = await sql.all<
    Record<"items" | "relations" | "vectors" | "hot" | "warm" | "cold" | "pending" | "failed", number>
  >(
    `SELECT (SELECT count(*) FROM knowledge_items) AS items,
       (SELECT count(*) FROM knowledge_relations) AS relations,
       v.vectors, v.hot, v.warm, v.cold, q.pending, q.failed
     FROM (SELECT count(*) AS vectors, count(*) FILTER (tier = 'hot') AS hot, count(*) FILTER (tier = 'warm') AS warm,
             count(*) FILTER (tier = 'cold') AS cold
           FROM knowledge_vectors WHERE space = ? OR starts_with(space, 'given:')) v,
          (SELECT count(*) FILTER (state = 'pending') AS pending, count(*) FILTER (state = 'failed') AS failed
           FROM knowledge_queue) q`,
    [made.name],
  );
  if (counts === undefined) throw new Error("a count without an answer");
  const { items, relations, vectors: count, hot, warm, cold, pending, failed } = counts;
  return {
    knowledge: { items, relations },
    vectors: {
      engine: shape?.engine ?? "exact",
      dimensions: shape?.dimensions ?? made.embedder?.dimensions ?? 0,
      count,
      hot,
      warm,
      cold,
      pending,
      failed,
    },
    embedder: embedderOf(made.name),
    ...(rebuilding === undefined ? {} : { rebuilding }),
  };
}
