import { type Clock, isoTime } from "../base/clock.ts";
import { invalidParams, notFound } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { maxIdLength } from "../memory-contract/records.ts";
import type { KnowledgeMemory } from "./knowledge.ts";
import type { Retention } from "./retention.ts";
import type { AskStore } from "./store-view.ts";

interface CorrectionParts {
  readonly ask: AskStore;
  readonly knowledge: Pick<KnowledgeMemory, "add">;
  readonly retention: Pick<Retention, "forget">;
  readonly clock: Pick<Clock, "now">;
}

/**
 * Replaces what a mind remembers by what a person says: the item is forgotten, and one with the new text takes its place,
 * with the same type, importance and subject. Its text is the person's, whatever the old one was made of. A correction that
 * a crash interrupted can be repeated. NotFound; InvalidParams for what no mind has saved.
 */
export async function correctKnowledge(
  { ask, knowledge, retention, clock }: CorrectionParts,
  id: string,
  text: string,
): Promise<{ readonly id: string; readonly seq: number }> {
  const { item } = id.length > maxIdLength ? { item: null } : await ask("knowledge.item", { id });
  if (item === null) throw notFound("item", id.slice(0, maxIdLength));
  const { variant, data, importance } = item;
  if (!isJsonObject(data) || typeof data["conversation"] !== "string" || typeof data["call"] !== "string")
    throw invalidParams(
      "Only what a mind saved in a conversation can be corrected; this is data of the agent's program. Have it forgotten instead.",
      { path: "id" },
    );
  const { sources: _sources, tainted: _tainted, ...facts } = data;
  const known = await ask("knowledge.query", {
    query: { where: [{ field: "corrects", op: "eq", value: id }], top_k: 1 },
    nowMs: clock.now(),
  });
  const [first] = known.items;
  const isWritten = first !== undefined && first.text === text;
  const corrected = isWritten
    ? first
    : await knowledge.add({
        variant,
        text,
        importance,
        source: data["conversation"],
        data: { ...facts, origin: "person", corrects: id, corrected: isoTime(clock.now()) },
      });
  const { seq } = await retention.forget(id, "corrected by a person");
  return { id: corrected.id, seq };
}
