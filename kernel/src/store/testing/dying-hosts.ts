import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { failpointMarkVariable, failpointVariable } from "../../platform/failpoint.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";

/**
 * Makes hosts that are started from now on die at these points, one after the other, until `noMoreDying`, which
 * resolves to the points at which they died.
 */
export async function dyingAt(...points: string[]): Promise<() => string[]> {
  const mark = join(await temporaryFolder(), "mark");
  process.env[failpointVariable] = points.join(",");
  process.env[failpointMarkVariable] = mark;
  return () =>
    readFileSync(mark, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(" ")[0] ?? "");
}

export function noMoreDying(): void {
  delete process.env[failpointVariable];
  delete process.env[failpointMarkVariable];
}
