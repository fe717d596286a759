import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const bench = fileURLToPath(new URL("../bench/run.ts", import.meta.url));
const run = promisify(execFile);

test("the benchmarks say how they are run, and measure nothing then", async () => {
  const { stdout, stderr } = await run(process.execPath, [bench, "--help"]);
  expect(stdout).toContain("--json FILE");
  expect(stdout).toMatch(/^ {2}throughput /m);
  expect(stderr).toBe("");
});
