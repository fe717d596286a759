import { maxRelations } from "../base/vocabulary/bounds.ts";
import { invalidParams } from "../base/errors.ts";
import { isoTime } from "../base/clock.ts";
import { maxDimensions } from "../base/vocabulary/bounds.ts";
import { type Foreign, isForeign } from "../base/vocabulary/foreign.ts";
import type { KnowledgeAddition, KnowledgeChange, Relation } from "../memory-contract/queries.ts";
import { checkedName, jsonOf, placeFields } from "./temporal.ts";
import { parseTimestamp } from "./timestamps.ts";

/** Fields with their canonical JSON. */
export type JsonTexts = Readonly<Record<string, string>>;

/** Serializes an addition or a change now, so that later changes by the caller have no effect. */
export function textsOf({
  variant,
  data,
  text,
  embedding,
  importance,
}: Omit<KnowledgeChange, "id">): JsonTexts {
  if (text !== undefined && (text.trim() === "" || !text.isWellFormed())) {
    throw invalidParams(
      "The text is empty or not valid Unicode. Leave it out; then the words in the data are searched.",
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

/** Where an item is in its source, and when it was said. */
export const placeTexts = ({
  timestamp,
  ...place
}: Pick<KnowledgeAddition, "source" | "position" | "timestamp">): JsonTexts => ({
  ...placeFields(place),
  ...(timestamp === undefined ? {} : { timestamp: `"${isoTime(parseTimestamp(timestamp))}"` }),
});

/** Returns the marks of a record that may hold texts that nobody vouches for. */
export const foreignTexts = (foreign: Foreign): JsonTexts =>
  isForeign(foreign) ? { foreign: jsonOf(foreign) } : {};

export function relationsOf(relations: readonly Relation[]): { to: string; relation: string }[] {
  if (relations.length > maxRelations) {
    throw invalidParams(
      `An item is added with at most ${maxRelations} relations; these are ${relations.length}.`,
    );
  }
  return relations.map(({ to, relation }) => ({ to, relation: checkedName("relation", relation) }));
}

/** Little-endian f32, base64. */
function base64OfVector(vector: readonly number[]): string {
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
