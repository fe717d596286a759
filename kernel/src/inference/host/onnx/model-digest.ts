import { sha256File, sha256Hex } from "../../../platform/files/hash.ts";

/** Tells a person's models apart, and is still short enough to read. */
const digestCharacters = 12;

/**
 * 12 hexadecimal digits that change with anything that changes the model's vectors: each of its files. Node's own
 * errors where the model itself cannot be read.
 */
export async function modelDigest(path: string, files: readonly string[]): Promise<string> {
  const sums: string[] = [];
  for (const file of files) {
    const isModel = file === path;
    sums.push(await sha256File(file).catch((error: unknown) => (isModel ? Promise.reject(error) : "none")));
  }
  return sha256Hex(sums.join("\n")).slice(0, digestCharacters);
}
