/** The recorded examples of both wires, which `test/protocol/reference-*.test.ts` hold true. */
import { readFile } from "node:fs/promises";

/** One exchange as `schemas/` shows it. Ids, hashes, times, sizes and places are replaced by stable ones. */
export interface Exchange {
  readonly params: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** What `schemas/examples/*.json` holds, by method. */
export interface Examples {
  readonly requests: Record<string, Exchange[]>;
  readonly notifications: Record<string, unknown>;
}

/** Where the examples of `schemas/` are, by the name of the text they are in. */
export function examplesFile(name: "protocol" | "guest-abi"): URL {
  return new URL(`../../../schemas/examples/${name}.json`, import.meta.url);
}

export async function readExamples(name: "protocol" | "guest-abi"): Promise<Examples> {
  return JSON.parse(await readFile(examplesFile(name), "utf8")) as Examples;
}
