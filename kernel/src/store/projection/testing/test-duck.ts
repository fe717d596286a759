import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../platform/testing/temporary-folder.ts";
import type { DuckFile } from "../duck-file.ts";
import { type Duck, openDuck } from "../duck.ts";

export interface TestDuck {
  readonly folder: string;
  readonly duck: Duck;
  /** An empty `memory.duckdb` in `folder`. */
  readonly file: DuckFile;
}

/**
 * Opens the process's DuckDB with one empty file in a folder for this test; closes and removes it when the test ends.
 */
export async function testDuck(): Promise<TestDuck> {
  const folder = await temporaryFolder();
  const duck = await openDuck({ folder });
  onTestFinished(() => duck[Symbol.asyncDispose]());
  return { folder, duck, file: await duck.attach(join(folder, "memory.duckdb")) };
}
