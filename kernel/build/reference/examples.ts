/** The recorded examples of both wires, which `test/protocol/reference-*.test.ts` keep true. */
import { readFile } from "node:fs/promises";

/** One exchange in the form of `schemas/`, with stable ids, hashes, times, sizes and paths. */
export interface Exchange {
  readonly params: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** The content of `schemas/examples/*.json`, by method. */
export interface Examples {
  readonly requests: Record<string, Exchange[]>;
  /** The params that were sent, of several kinds of one notification each. */
  readonly notifications: Record<string, unknown[]>;
}

/** Returns the location of the examples for a reference text. */
export function examplesFile(name: "protocol" | "guest-abi"): URL {
  return new URL(`../../../schemas/examples/${name}.json`, import.meta.url);
}

export async function readExamples(name: "protocol" | "guest-abi"): Promise<Examples> {
  return JSON.parse(await readFile(examplesFile(name), "utf8")) as Examples;
}
