import { crc32, deflateRawSync, inflateRawSync } from "node:zlib";
import { wordHashes } from "./hash-features.ts";
import type { TextStatistics } from "./port.ts";

/**
 * Number of counters. Words with equal hashes share a counter, so rare words may seem more frequent than they
 * are, never the reverse.
 */
const buckets = 65_536;
const magic = 0x4c444631; // "LDF1"
const headBytes = 12;
const wholeBytes = 4 + buckets * 4;
const maxCount = 2 ** 32 - 1;

/** Counts in how many texts of a memory each word occurs. */
export class DocumentFrequencies implements TextStatistics {
  #counts = new Uint32Array(buckets);
  #documents = 0;

  get documents(): number {
    return this.#documents;
  }

  add(text: string): void {
    if (this.#documents === maxCount) return;
    this.#documents += 1;
    for (const bucket of bucketsOf(text)) this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  remove(text: string): void {
    if (this.#documents === 0) return;
    this.#documents -= 1;
    for (const bucket of bucketsOf(text)) {
      this.#counts[bucket] = Math.max(0, (this.#counts[bucket] ?? 0) - 1);
    }
  }

  /** Returns how well a word distinguishes texts: 1 if it occurs in none, near 0 if it occurs in all. */
  rarity(wordHash: number): number {
    const within = Math.min(this.#documents, this.#counts[wordHash % buckets] ?? 0);
    const idf = Math.log(1 + (this.#documents - within + 0.5) / (within + 0.5));
    return idf / Math.log(2 + 2 * this.#documents);
  }

  /**
   * "LDF1", CRC-32 and length of the unpacked rest; then the packed rest: documents and counts, 32 bits each,
   * little-endian.
   */
  bytes(): Uint8Array {
    const whole = Buffer.alloc(wholeBytes);
    whole.writeUInt32LE(this.#documents, 0);
    for (const [bucket, count] of this.#counts.entries()) whole.writeUInt32LE(count, 4 + bucket * 4);
    const packed = deflateRawSync(whole);
    const head = Buffer.alloc(headBytes);
    head.writeUInt32BE(magic, 0);
    head.writeUInt32LE(crc32(whole), 4);
    head.writeUInt32LE(wholeBytes, 8);
    return Buffer.concat([head, packed]);
  }

  load(bytes: Uint8Array): boolean {
    const whole = unpacked(bytes);
    this.#documents = whole?.readUInt32LE(0) ?? 0;
    this.#counts = Uint32Array.from(
      { length: buckets },
      (_, bucket) => whole?.readUInt32LE(4 + bucket * 4) ?? 0,
    );
    return whole !== null;
  }
}

const bucketsOf = (text: string): Set<number> => new Set([...wordHashes(text)].map((hash) => hash % buckets));

function unpacked(bytes: Uint8Array): Buffer | null {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (all.length < headBytes || all.readUInt32BE(0) !== magic || all.readUInt32LE(8) !== wholeBytes)
    return null;
  let whole: Buffer;
  try {
    whole = inflateRawSync(all.subarray(headBytes), { maxOutputLength: wholeBytes });
  } catch {
    // The bytes were not packed here. zlib's own message would not help the reader.
    return null;
  }
  return whole.length === wholeBytes && crc32(whole) === all.readUInt32LE(4) ? whole : null;
}
