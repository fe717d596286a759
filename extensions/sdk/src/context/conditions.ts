import { LaresError } from "../errors.ts";
import type { Embedding, Position, When } from "../types/memory.ts";
import type { CallParams } from "./kernel.ts";

type Where = NonNullable<CallParams<"memory/temporal/query">["where"]>[number];

export function withCondition<Fields extends { readonly where?: readonly Where[] | undefined }>(
  question: Fields,
  condition: Where,
): Fields {
  return { ...question, where: [...(question.where ?? []), condition] };
}

export function nearby(field: string, position: Position, km: number): Where {
  return { field, op: "near", value: position, km };
}

/** Ages ("7d") and ISO dates are sent unchanged; the kernel parses them. */
export function timeOf(when: When): string {
  if (typeof when === "string") return when;
  const date = new Date(when);
  if (Number.isNaN(date.getTime()))
    throw new LaresError("InvalidParams", `${String(when)} is not a valid time.`);
  return date.toISOString();
}

/** Converts to JSON's form, which would make a typed array an object and a number that is not finite null. */
export function numbersOf(embedding: Embedding): number[] {
  const numbers = Array.from(embedding);
  const bad = numbers.findIndex((value) => !Number.isFinite(value));
  if (bad === -1) return numbers;
  throw new LaresError(
    "InvalidParams",
    `Number ${bad} of the embedding is ${String(numbers[bad])}; all of them must be finite.`,
    { index: bad },
  );
}
