import process from "node:process";

/** The seed of every suite but the fuzz suite, which makes their random choices the same in every run. */
export const fixedSeed = 20_261_121;

/** Returns the seed of this run: `LARES_SEED`, a whole number of 32 bits, or {@link fixedSeed} without it. */
export function seedOfThisRun(environment: NodeJS.ProcessEnv = process.env): number {
  const text = environment["LARES_SEED"];
  if (text === undefined || text === "") return fixedSeed;
  const seed = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (seed !== (seed | 0)) throw new Error(`LARES_SEED is "${text}"; it must be a whole number of 32 bits.`);
  return seed;
}

/** Returns a generator of numbers from 0 to below 1. The same seed gives the same numbers (mulberry32). */
export function seeded(seed: number = seedOfThisRun()): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns `count` bytes from such a generator: random enough that no compression shortens them. */
export function seededBytes(count: number, random: () => number): Buffer {
  return Buffer.from(Array.from({ length: count }, () => Math.floor(random() * 256)));
}
