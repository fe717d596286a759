import { storageError } from "../../../base/errors.ts";
import type { Sql } from "../../projection/port.ts";
import {
  type Codebook,
  decodeVector,
  encodeVector,
  maxTrainingVectors,
  minTrainingVectors,
  readCodebook,
  type Tier,
  trainCodebook,
} from "../../vectors/quantize.ts";
import type { Database } from "../schema.ts";

/** A vector as it lies in the table. */
export interface AtRest {
  readonly space: string;
  readonly tier: Tier;
  readonly bytes: Uint8Array;
}

/** The codebook of each space, with which its cold vectors are written and read. It is made once. */
export class Codebooks {
  readonly #database: Database;
  readonly #known = new Map<string, Codebook | null>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Null where there is none yet. */
  async get(space: string): Promise<Codebook | null> {
    const known = this.#known.get(space);
    if (known !== undefined) return known;
    const [row] = await this.#database.all<{ bytes: Uint8Array }>(
      "SELECT bytes FROM knowledge_codebooks WHERE space = ?",
      [space],
    );
    const codebook = row === undefined ? null : readCodebook(row.bytes);
    this.#known.set(space, codebook);
    return codebook;
  }

  /** Null while there is too little to learn one from. */
  async getOrTrain(space: string): Promise<Codebook | null> {
    const known = await this.get(space);
    if (known !== null) return known;
    const rows = await this.#database.all<AtRest>(
      `SELECT space, tier, bytes FROM knowledge_vectors WHERE space = ? AND tier <> 'cold'
       ORDER BY hash(label) LIMIT ${maxTrainingVectors}`,
      [space],
    );
    if (rows.length < minTrainingVectors) return null;
    const vectors = rows.map(({ tier, bytes }) => decodeVector(bytes, tier, dimensionsOf(tier, bytes), null));
    const codebook = await trainCodebook(vectors, vectors[0]?.length ?? 0);
    await this.#database.append("knowledge_codebooks", [[space, codebook.bytes]]);
    this.#known.set(space, codebook);
    return codebook;
  }

  /** Those of spaces that are gone are deleted with them. */
  async forgetGone(sql: Sql): Promise<void> {
    await sql.run(
      "DELETE FROM knowledge_codebooks WHERE space NOT IN (SELECT DISTINCT space FROM knowledge_vectors)",
    );
    this.#known.clear();
  }
}

export async function decodeAtRest(
  codebooks: Codebooks,
  { space, tier, bytes }: AtRest,
): Promise<Float32Array> {
  if (tier !== "cold") return decodeVector(bytes, tier, dimensionsOf(tier, bytes), null);
  const codebook = await codebooks.get(space);
  if (codebook === null) throw storageError(`The codebook of ${space} is not there.`);
  return codebook.decode(bytes);
}

export async function encodeAtRest(
  codebooks: Codebooks,
  space: string,
  tier: Tier,
  vector: Float32Array,
): Promise<Uint8Array> {
  if (tier !== "cold") return encodeVector(vector, tier);
  const codebook = await codebooks.get(space);
  if (codebook === null) throw storageError(`The codebook of ${space} is not there.`);
  return codebook.encode(vector);
}

const dimensionsOf = (tier: Tier, bytes: Uint8Array): number => bytes.byteLength / (tier === "hot" ? 4 : 2);
