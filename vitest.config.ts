import process from "node:process";
import { configDefaults, defineConfig } from "vitest/config";

/** Suites that kill processes at every failpoint, in loops: `npm run test:fault`. */
const faultSuites = ["kernel/src/**/faults.test.ts", "test/fault/**/*.test.ts"];
const runsFaults = process.env["LARES_TEST"] === "fault";

export default defineConfig({
  test: {
    include: runsFaults
      ? faultSuites
      : ["kernel/src/**/*.test.ts", "extensions/**/*.test.ts", "test/protocol/**/*.test.ts"],
    exclude: [...configDefaults.exclude, "**/dist/**", ...(runsFaults ? [] : faultSuites)],
    // Real processes and a real sandbox on what may be two busy cores.
    testTimeout: runsFaults ? 600_000 : 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
