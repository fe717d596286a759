import process from "node:process";
import { expect, test } from "vitest";
import { processMemoryBytes } from "./process-memory.ts";

test.skipIf(process.platform !== "linux")(
  "the memory of a running process is known, and none of a missing one",
  () => {
    expect(processMemoryBytes(process.pid)).toBeGreaterThan(10 * 1024 * 1024);
    expect(processMemoryBytes(2 ** 30)).toBe(null);
  },
);
