import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { seeded, seededBytes } from "../../../../test/support/seed.ts";
import { encodeHalf } from "../vectors/half.ts";

const random = seeded();

/** Secrets, with the bytes by which they can be found in any file. */
export class Secrets {
  readonly #marks = new Map<string, Buffer>();

  /**
   * Words as the full text stores them, which omits common beginnings; and something long and random, which DuckDB does
   * not compress.
   */
  text(name: string): string {
    const letters = seededBytes(24, random).toString("hex").replaceAll(/[0-9]/g, "z");
    const words = [letters.slice(0, 16), letters.slice(16, 32), letters.slice(32)];
    const long = seededBytes(3_000, random).toString("base64url");
    for (const [n, word] of words.entries())
      this.#marks.set(`word ${n} of ${name}`, Buffer.from(word.slice(4)));
    this.#marks.set(`the text of ${name}`, Buffer.from(long.slice(100, 140)));
    return `${words.join(" ")} ${long}`;
  }

  /** As given, and as indexes store it: at length 1, and at half precision. */
  vector(name: string, vector: Float32Array): void {
    const length = Math.hypot(...vector);
    const unit = vector.map((value) => value / length);
    const half = new Uint16Array(vector.length);
    encodeHalf(unit, half, 0);
    const forms = { given: vector, "of length 1": unit, "at half precision": half };
    for (const [form, { buffer }] of Object.entries(forms))
      this.#marks.set(`the vector of ${name}, ${form}`, Buffer.from(buffer, 0, 16));
  }

  /** Returns which of the secrets are in which files beneath a folder. */
  foundIn(folder: string): string[] {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap(({ parentPath, name }) => {
        const bytes = readFileSync(join(parentPath, name));
        return [...this.#marks]
          .filter(([, mark]) => bytes.includes(mark))
          .map(([what]) => `${what}: ${name}`);
      });
  }
}
