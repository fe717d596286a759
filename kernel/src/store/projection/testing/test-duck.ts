import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../platform/testing/temporary-folder.ts";
import type { DuckFile } from "../duck-file.ts";
import { type Duck, openDuck } from "../duck.ts";

export interface TestDuck {
  readonly folder: string;
  readonly duck: Duck;
  /** `memory.duckdb` in `folder`, empty. */
  readonly file: DuckFile;
}

/** The process's DuckDB with one empty file, in a folder of this test's own; closed and removed when it has ended. */
export async function testDuck(): Promise<TestDuck> {
  const folder = await temporaryFolder();
  const duck = await openDuck({ folder });
  onTestFinished(() => duck[Symbol.asyncDispose]());
  return { folder, duck, file: await duck.attach(join(folder, "memory.duckdb")) };
}
