import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

const REPOSITORY = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const INVALID_PARAMS = -32602;
const LIMIT_EXCEEDED = -33007;
const INTERNAL_ERROR = -32603;
/** Maximum characters of JSON in an error; a value from the peer is shown cut. */
const LONGEST_ERROR = 16_384;

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/**
 * Checks an error for a peer: it is intended (not "internal"), has a sentence, and reveals nothing of the machine.
 * `privatePaths`: folders that no message may name.
 */
export function expectProperError(error: WireError, context: string, privatePaths: readonly string[]): void {
  const text = JSON.stringify(error);
  const said = `${context} → ${text.slice(0, 2000)}`;
  expect(Number.isInteger(error.code), said).toBe(true);
  expect(error.code, said).not.toBe(INTERNAL_ERROR);
  expect(error.message.trim().length, said).toBeGreaterThan(10);
  expect(text.length, said).toBeLessThan(LONGEST_ERROR);
  expect(text, said).not.toMatch(/\\n\s+at |\.(ts|js):\d+|node:internal|node_modules/);
  for (const path of [REPOSITORY, ...privatePaths]) expect(text.includes(path), said).toBe(false);
}

/** Checks the answer to invalid params: the method, the place in the params, and what would be valid. */
export function expectInvalidParams(error: WireError | undefined, method: string, context: string): void {
  const said = `${context} → ${JSON.stringify(error)?.slice(0, 2000)}`;
  // Params that nest too deeply or requests that are too frequent are refused without being read.
  if (error?.code === LIMIT_EXCEEDED && /nests deeper|in a second/.test(error.message)) return;
  expect(error?.code, said).toBe(INVALID_PARAMS);
  expect(error?.message, said).toContain(method);
  expect(error?.message, said).toContain("params");
  expect(String((error?.data as { path?: unknown } | undefined)?.path), said).toMatch(/^params/);
}
