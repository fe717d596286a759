import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["kernel/src/**/*.test.ts", "extensions/**/*.test.ts", "test/protocol/**/*.test.ts"],
    // Real processes and a real sandbox on what may be two busy cores.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
