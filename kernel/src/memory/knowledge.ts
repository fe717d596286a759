import { invalidParams, isLaresError, notFound } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Journal } from "./journal/journal.ts";
import { maxIdLength, type RecordInput } from "./journal/record.ts";
import type { KnowledgeAddition, KnowledgeChange, Relation } from "./queries.ts";
import { wordsOf } from "./store/knowledge/words.ts";
import { type ProposedChange, type PrunePolicy, updatesSimilarity } from "./store/port.ts";
import type { AskStore } from "./store-view.ts";
import { checkedName, jsonOf } from "./temporal.ts";

export const maxDimensions = 4096;
export const maxRelations = 256;

/** Items of knowledge on their way into the journal. One change at a time, so that each sees what came before it. */
export class KnowledgeMemory {
  readonly #journal: Journal;
  readonly #ask: AskStore;
  readonly #log: Log;
  readonly #turns = new OneAtATime();

  constructor(journal: Journal, ask: AskStore, log: Log) {
    this.#journal = journal;
    this.#ask = ask;
    this.#log = log;
  }

  /** Runs `work` between changes of knowledge. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.run("knowledge", work);
  }

  async add(addition: KnowledgeAddition): Promise<{ readonly id: string; readonly updates?: string }> {
    const fields = textsOf(addition);
    const given = relationsOf(addition.relations ?? []);
    return await this.inTurn(async () => {
      await this.#mustExist(given.map(({ to }) => to));
      const updates = await this.#nearest(addition);
      const relations = [...given];
      const isNews =
        updates !== null && !given.some(({ to, relation }) => to === updates && relation === "Updates");
      if (isNews) relations.push({ to: updates, relation: "Updates" });
      const id = newId();
      await this.#write("store", id, {
        ...fields,
        ...(relations.length === 0 ? {} : { relations: jsonOf(relations) }),
      });
      return updates === null ? { id } : { id, updates };
    });
  }

  async update(change: KnowledgeChange): Promise<void> {
    const fields = textsOf(change);
    if (Object.keys(fields).length === 0) {
      throw invalidParams("Nothing is to be changed: give a variant, data, text, embedding or importance.");
    }
    await this.inTurn(async () => {
      await this.#mustExist([change.id]);
      if (change.embedding !== undefined) await this.#mustFit(change.embedding);
      await this.#write("update", change.id, fields);
    });
  }

  async remove(id: string): Promise<void> {
    await this.inTurn(async () => {
      await this.#mustExist([id]);
      await this.#write("delete", id, {});
    });
  }

  async relate(from: string, to: string, relation: string): Promise<void> {
    const [relate] = relationsOf([{ to, relation }]);
    await this.inTurn(async () => {
      await this.#mustExist([from, to]);
      await this.#write("update", from, { relate: jsonOf(relate ?? null) });
    });
  }

  /** Asks the store what it finds right to change, and writes it down. */
  async maintain(
    nowMs: number,
    prune: PrunePolicy | null,
  ): Promise<{ readonly deleted: number; readonly related: number }> {
    return await this.inTurn(async () => {
      const { changes } = await this.#ask("maintain", { nowMs, prune });
      let deleted = 0;
      // All of it goes out together; nothing of it is believed before it is written.
      await Promise.all(
        changes.map(async (change) => {
          await this.#propose(change);
          if (change.operation === "delete") deleted += 1;
        }),
      );
      return { deleted, related: changes.length - deleted };
    });
  }

  async #propose(change: ProposedChange): Promise<void> {
    if (change.operation === "delete") return await this.#write("delete", change.id, {});
    const [relate] = relationsOf([change]);
    await this.#write("update", change.from, { relate: jsonOf(relate ?? null) });
  }

  async #write(operation: RecordInput["operation"], id: string, fields: JsonTexts): Promise<void> {
    // The names in order, as canonical JSON has them.
    const texts = Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const data = `{${texts.map(([name, text]) => `"${name}":${text}`).join(",")}}`;
    await this.#journal.append({ operation, kind: "knowledge", id, data });
  }

  async #mustExist(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const tooLong = ids.find((id) => id.length === 0 || id.length > maxIdLength);
    if (tooLong !== undefined) throw notFound("item", tooLong.slice(0, maxIdLength));
    const known = new Set((await this.#ask("knowledge.existing", { ids: [...new Set(ids)] })).ids);
    const missing = ids.find((id) => !known.has(id));
    if (missing !== undefined) throw notFound("item", missing);
  }

  /** What is added may be known already. Where the store cannot say, it is added all the same. */
  async #nearest({ variant, data, text, embedding }: KnowledgeAddition): Promise<string | null> {
    try {
      const nearest = await this.#ask("knowledge.nearest", {
        variant,
        text: wordsOf(text ?? null, data),
        ...(embedding === undefined ? {} : { embedding }),
        minSimilarity: updatesSimilarity,
      });
      return nearest?.id ?? null;
    } catch (error) {
      if (!isLaresError(error) || error.code === "InvalidParams") throw error;
      this.#log.debug("Knowledge was added without looking for what it updates.", { reason: error.message });
      return null;
    }
  }

  /** The store refuses what cannot be compared with the embeddings that are there. */
  async #mustFit(embedding: readonly number[]): Promise<void> {
    await this.#nearest({ variant: "", data: null, embedding });
  }
}

/** Fields with their canonical JSON. */
type JsonTexts = Readonly<Record<string, string>>;

/** What of an addition or a change is written down: as it is now, whatever its caller does to it later. */
function textsOf({ variant, data, text, embedding, importance }: Omit<KnowledgeChange, "id">): JsonTexts {
  if (text !== undefined && (text.trim() === "" || !text.isWellFormed())) {
    throw invalidParams(
      "The text is empty, or no Unicode. Leave it out: the words in the data are then searched.",
    );
  }
  if (importance !== undefined && !(importance >= 0 && importance <= 1)) {
    throw invalidParams(`The importance is ${importance}; it is from 0 to 1.`);
  }
  return {
    ...(variant === undefined ? {} : { variant: jsonOf(checkedName("variant", variant)) }),
    ...(data === undefined ? {} : { data: jsonOf(data) }),
    ...(text === undefined ? {} : { text: jsonOf(text) }),
    ...(embedding === undefined ? {} : { embedding_f32: `"${base64OfVector(embedding)}"` }),
    ...(importance === undefined ? {} : { importance: jsonOf(importance) }),
  };
}

function relationsOf(relations: readonly Relation[]): { to: string; relation: string }[] {
  if (relations.length > maxRelations) {
    throw invalidParams(
      `An item is added with at most ${maxRelations} relations; these are ${relations.length}.`,
    );
  }
  return relations.map(({ to, relation }) => ({ to, relation: checkedName("relation", relation) }));
}

/** Little-endian f32, base64. */
export function base64OfVector(vector: readonly number[]): string {
  if (vector.length === 0 || vector.length > maxDimensions) {
    throw invalidParams(`An embedding has 1 to ${maxDimensions} numbers; this one has ${vector.length}.`);
  }
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  let isZero = true;
  vector.forEach((number, index) => {
    const single = Math.fround(number);
    if (typeof number !== "number" || !Number.isFinite(single)) {
      throw invalidParams(
        `Number ${index} of the embedding is ${number}; it must be finite, also as a 32-bit float.`,
      );
    }
    isZero &&= single === 0;
    bytes.writeFloatLE(single, index * 4);
  });
  if (isZero) throw invalidParams("All numbers of the embedding are 0: it has no direction.");
  return bytes.toString("base64");
}
