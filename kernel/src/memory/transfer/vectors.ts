import { damaged, maxVectorPageBytes } from "./format.ts";

/** A vector as `vectors.page` of the store host returns it: little-endian f32 in base64. */
export interface VectorItem {
  readonly id: string;
  readonly base64F32: string;
}

const countBytes = 4;
const idLengthBytes = 2;
/** UTF-8; ids have at most 128 characters. */
const maxIdBytes = 512;
const f32Bytes = 4;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

interface Usable {
  readonly id: Buffer;
  readonly vector: Buffer;
}

/**
 * Yields pages of at most `maxVectorPageBytes`. Omits vectors that do not fit these dimensions; the importer
 * computes them again from the items.
 */
export async function* encodeVectorPages(
  pages: AsyncIterable<readonly VectorItem[]>,
  dimensions: number,
): AsyncGenerator<Buffer, void, undefined> {
  let usable: Usable[] = [];
  let bytes = countBytes;
  for await (const items of pages) {
    for (const item of items) {
      const next = usableOf(item, dimensions);
      if (next === null) continue;
      const nextBytes = idLengthBytes + next.id.length + next.vector.length;
      if (bytes + nextBytes > maxVectorPageBytes) {
        yield encodePage(usable);
        usable = [];
        bytes = countBytes;
      }
      usable.push(next);
      bytes += nextBytes;
    }
  }
  if (usable.length > 0) yield encodePage(usable);
}

function usableOf({ id, base64F32 }: VectorItem, dimensions: number): Usable | null {
  const idBytes = Buffer.from(id);
  const vector = Buffer.from(base64F32, "base64");
  if (idBytes.length === 0 || idBytes.length > maxIdBytes || vector.length !== dimensions * f32Bytes)
    return null;
  return firstUnusable(vector) === -1 ? { id: idBytes, vector } : null;
}

/** The count, then the ids with their lengths, then the vectors. */
function encodePage(usable: readonly Usable[]): Buffer {
  const count = Buffer.alloc(countBytes);
  count.writeUInt32LE(usable.length);
  const ids = usable.flatMap(({ id }) => {
    const length = Buffer.alloc(idLengthBytes);
    length.writeUInt16LE(id.length);
    return [length, id];
  });
  return Buffer.concat([count, ...ids, ...usable.map(({ vector }) => vector)]);
}

/** `offset` is the page's place in its file, for error messages. */
export function decodeVectorPage(page: Buffer, dimensions: number, offset: number): VectorItem[] {
  const wrong = (reason: string): Error => damaged(offset, `its page of vectors ${reason}`);
  const vectorBytes = dimensions * f32Bytes;
  const count = page.length < countBytes ? 0 : page.readUInt32LE(0);
  // Checked before a list is allocated.
  if (count === 0 || count * (idLengthBytes + 1 + vectorBytes) > page.length - countBytes)
    throw wrong("has a wrong count of them");
  const ids: string[] = [];
  let at = countBytes;
  for (let index = 0; index < count; index++) {
    const length = at + idLengthBytes > page.length ? 0 : page.readUInt16LE(at);
    at += idLengthBytes;
    if (length === 0 || length > maxIdBytes || at + length > page.length) throw wrong("has an empty id");
    try {
      ids.push(utf8.decode(page.subarray(at, at + length)));
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      throw wrong("has an id that is not valid UTF-8");
    }
    at += length;
  }
  if (page.length !== at + count * vectorBytes) throw wrong("has a wrong count of them");
  if (firstUnusable(page.subarray(at)) !== -1) throw wrong("has a number that is not finite");
  return ids.map((id, index) => ({
    id,
    base64F32: page.toString("base64", at + index * vectorBytes, at + (index + 1) * vectorBytes),
  }));
}

/** Returns the index of the first number that is not finite; -1 if there is none. */
function firstUnusable(f32: Buffer): number {
  for (let at = 0; at < f32.length; at += f32Bytes) {
    // An exponent with all eight bits set means infinity or NaN.
    if ((f32.readUInt32LE(at) & 0x7f80_0000) === 0x7f80_0000) return at;
  }
  return -1;
}
