import type { DatabaseSync } from "node:sqlite";
import { CodeSearch, codesOf } from "./vector-codes.ts";

/** The largest magnitude of a byte in both directions. */
const mostSteps = 127;

/** Returns a vector with a byte for each number: its direction is kept, its length is not. */
export function bytesOfVector(vector: Float32Array): Uint8Array {
  const bytes = new Int8Array(vector.length);
  let most = 0;
  for (const value of vector) most = Math.max(most, Math.abs(value));
  if (most > 0)
    for (let at = 0; at < vector.length; at++) bytes[at] = Math.round(((vector[at] ?? 0) / most) * mostSteps);
  return new Uint8Array(bytes.buffer);
}

/** A vector that was found: the numbers that its row and itself were stored under, and its cosine with the wanted one. */
export type Found = readonly [row: number, number: number, similarity: number];

/** The best of what was looked at so far. */
class Best {
  readonly #count: number;
  #found: Found[] = [];
  /** Anything below it is not among the best. */
  #least: number;

  constructor(count: number, least: number) {
    this.#count = count;
    this.#least = least;
  }

  add(row: number, number: number, similarity: number): void {
    if (similarity < this.#least) return;
    this.#found.push([row, number, similarity]);
    // Sorted now and then: most of the vectors that follow are below the worst of the best.
    if (this.#found.length < 4 * this.#count) return;
    this.#found = this.found;
    this.#least = this.#found.at(-1)?.[2] ?? this.#least;
  }

  /** The most similar first. */
  get found(): Found[] {
    return this.#found
      .toSorted((one, other) => other[2] - one[2] || other[1] - one[1] || other[0] - one[0])
      .slice(0, this.#count);
  }
}

interface LikelySearch {
  readonly codes: CodeSearch;
  readonly best: Best;
}

interface NearestSearch {
  readonly query: Int8Array;
  /** The query's length as a vector. */
  readonly length: number;
  readonly best: Best;
}

type AggregateOptions = Parameters<DatabaseSync["aggregate"]>[1];

/**
 * Adds functions of SQL, so that vectors are compared where they are read. Each row has several vectors of `bytesOfVector`
 * one after the other, and in `numbers` a Float64 for each. Rows whose vectors have other dimensions than the query's are
 * left out.
 *
 * - `vector_codes(vectors, count)` returns the vectors' codes.
 * - The aggregate `likely(row, numbers, codes, through, query, count)` looks at the codes alone, and returns a JSON object:
 *   for each row with some of the `count` vectors that seem most similar, with numbers not above `through`, their places in
 *   the row.
 * - The aggregate `nearest(row, numbers, vectors, places, query, count, least)` compares the vectors at these places, and
 *   returns a JSON array of `Found`, the most similar first: at most `count`, with similarities of at least `least`.
 */
export function addNearest(database: DatabaseSync): void {
  database.function("vector_codes", { deterministic: true }, (vectors, count) =>
    vectors instanceof Uint8Array ? codesOf(signed(vectors), Number(count)) : null,
  );
  database.aggregate("likely", {
    deterministic: true,
    start: (): LikelySearch | null => null,
    step: (before: LikelySearch | null, row, numbers, codes, through, query, count): LikelySearch | null => {
      if (!(numbers instanceof Uint8Array && codes instanceof Uint8Array && query instanceof Uint8Array))
        return before;
      const search = before ?? {
        codes: new CodeSearch(signed(query)),
        best: new Best(Number(count), -Infinity),
      };
      const [of, last, all] = [Number(row), Number(through), numbersIn(numbers)];
      search.codes.each(codes, all.length, (index, similarity) => {
        if (all[index]! <= last) search.best.add(of, index, similarity);
      });
      return search;
    },
    result: (search: LikelySearch | null) => {
      const places = new Map<number, number[]>();
      for (const [row, index] of search?.best.found ?? []) {
        const known = places.get(row);
        if (known === undefined) places.set(row, [index]);
        else known.push(index);
      }
      return JSON.stringify(Object.fromEntries(places));
    },
  } as AggregateOptions);
  database.aggregate("nearest", {
    deterministic: true,
    start: (): NearestSearch | null => null,
    step: (
      before: NearestSearch | null,
      row,
      numbers,
      vectors,
      places,
      query,
      count,
      least,
    ): NearestSearch | null => {
      if (!(numbers instanceof Uint8Array && vectors instanceof Uint8Array && query instanceof Uint8Array))
        return before;
      const search = before ?? {
        query: signed(query),
        length: lengthOf(signed(query)),
        best: new Best(Number(count), Number(least)),
      };
      compare(
        search,
        Number(row),
        numbersIn(numbers),
        signed(vectors),
        JSON.parse(String(places)) as number[],
      );
      return search;
    },
    result: (search: NearestSearch | null) => JSON.stringify(search?.best.found ?? []),
  } as AggregateOptions);
}

const signed = (bytes: Uint8Array): Int8Array => new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
/** A copy: bytes from a database may begin anywhere. */
const numbersIn = (bytes: Uint8Array): Float64Array => new Float64Array(bytes.slice().buffer);

const lengthOf = (vector: Int8Array): number =>
  Math.sqrt(vector.reduce((squares, value) => squares + value * value, 0));

function compare(
  { query, length, best }: NearestSearch,
  row: number,
  numbers: Float64Array,
  vectors: Int8Array,
  places: readonly number[],
): void {
  const dimensions = query.length;
  if (vectors.length !== numbers.length * dimensions) return;
  for (const index of places) {
    const from = index * dimensions;
    let product = 0;
    let ownSquares = 0;
    for (let at = 0; at < dimensions; at++) {
      const own = vectors[from + at]!;
      product = (product + Math.imul(own, query[at]!)) | 0;
      ownSquares = (ownSquares + Math.imul(own, own)) | 0;
    }
    best.add(row, numbers[index]!, product === 0 ? 0 : product / (length * Math.sqrt(ownSquares)));
  }
}
