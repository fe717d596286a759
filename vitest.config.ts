import { readdirSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig, type Plugin } from "vitest/config";
import { fixedSeed } from "./test/support/seed.ts";

interface Suite {
  readonly include: readonly string[];
  /** Applies to each test and to each of its hooks. */
  readonly timeoutMs: number;
  /** Files that run at a time; 2 by default. */
  readonly workers?: number;
  /** Runs many files in one worker, one after the other: a test must restore what it changes. */
  readonly sharedWorkers?: true;
}

const slowMs = 600_000;
/** Where tests stand beside what they test. */
const sources = "kernel,extensions,examples,vscode-client";
/** Properties that have found something: what they found is tried again on every run. */
const fuzzCorpora = readdirSync("test/fuzz/corpus").map((target) => `test/fuzz/${target}.test.ts`);

/** By the name in `LARES_TEST`; without it, `npm test`. */
const suites = {
  /** Processes that die, disks that fail, peers and guests that are hostile: `npm run test:fault`. */
  fault: {
    include: ["kernel/src/**/{,*.}{faults,crash}.test.ts", "test/fault/**/*.test.ts"],
    timeoutMs: slowMs,
  },
  /** Tests that mostly wait for real processes, timers or large data: `npm run test:slow`. */
  slow: {
    include: ["test/slow/**/*.test.ts", `{test/protocol,${sources}}/**/*.slow.test.ts`],
    timeoutMs: slowMs,
  },
  /** Real editors, set up as `examples/editors/` says, and servers that editors use: `npm run test:editors`. */
  editors: { include: ["test/editors/**/*.test.ts", "test/schemas/**/*.test.ts"], timeoutMs: slowMs },
  /** Generated values, longer than a unit test's: `npm run test:fuzz`. */
  fuzz: { include: ["test/fuzz/**/*.test.ts"], timeoutMs: slowMs },
  /** Public test suites, if they were fetched: `npm run suites:fetch`, `npm run test:suites`. */
  suites: { include: ["test/suites/**/*.test.ts"], timeoutMs: slowMs },
  /** What `npm pack` makes, which is built first: `npm run test:package`. */
  package: { include: ["test/package/**/*.test.ts"], timeoutMs: slowMs },
  /** What is in the .vsix, which is made first: `npm run test:vsix`. */
  vsix: { include: ["test/vsix/**/*.test.ts"], timeoutMs: slowMs },
  /** A real VS Code, in its extension host and through its screen: `npm run test:e2e`. */
  e2e: {
    include: ["test/e2e/*.test.ts", "test/e2e/ui/**/*.test.ts"],
    timeoutMs: 120_000,
    // Two browsers, two servers and two kernels at a time would test the machine.
    workers: 1,
  },
  unit: {
    include: [
      "kernel/{src,build}/**/*.test.ts",
      "extensions/**/*.test.ts",
      "examples/**/*.test.ts",
      "vscode-client/build/**/*.test.ts",
      "vscode-client/src/**/*.test.{ts,tsx}",
      "test/protocol/**/*.test.ts",
      "test/support/**/*.test.ts",
      ...fuzzCorpora,
    ],
    // Many tests only wait for a child process.
    workers: 4,
    // Starting a worker and importing the same rooms again for each file costs more than most files' tests.
    sharedWorkers: true,
    timeoutMs: 180_000,
  },
} as const satisfies Record<string, Suite>;

const name = (process.env["LARES_TEST"] || "unit") as keyof typeof suites;
if (!Object.hasOwn(suites, name))
  throw new Error(`LARES_TEST=${name}: there is ${Object.keys(suites).join(", ")}.`);
const suite: Suite = suites[name];

// Only the fuzz suite draws new values in every run. No other suite may pass or fail by chance.
process.env["LARES_SEED"] ||= String(name === "fuzz" ? Math.floor(Math.random() * 2 ** 31) : fixedSeed);
if (name === "fuzz") process.stdout.write(`LARES_SEED=${process.env["LARES_SEED"]}\n`);

// Each kernel, front and worker thread that a test starts strips and compiles the same sources: a second of CPU each.
// Node reads the folder by the sources' content, so nothing in it can be out of date; `npm ci` empties it.
if (name === "unit" || name === "slow")
  process.env["NODE_COMPILE_CACHE"] ||= fileURLToPath(
    new URL("node_modules/.cache/compiled-tests", import.meta.url),
  );

/** The `slow` suite installs it here. Everyone else installs it beside the kernel, or not at all. */
const modelRuntime = fileURLToPath(new URL("test/models/node_modules/onnxruntime-node", import.meta.url));
const seededModule = fileURLToPath(new URL("test/support/seeded-fast-check.ts", import.meta.url));
/** Resolves "fast-check" to the module that sets its seed. A setup file would load fast-check for every test file. */
const seededFastCheck: Plugin = {
  name: "seeded-fast-check",
  enforce: "pre",
  resolveId: (source, importer) =>
    source === "fast-check" && importer !== seededModule ? seededModule : null,
};

const globalSetups = {
  editors: "test/schemas/setup.ts",
  slow: "test/slow/setup.ts",
  package: "test/package/setup.ts",
  vsix: "test/vsix/setup.ts",
  e2e: "test/e2e/setup-suites.ts",
} as const;

export default defineConfig({
  plugins: [seededFastCheck],
  // As in tsconfig.json: in this checkout `@lares/sdk` is its sources.
  ssr: { resolve: { conditions: ["lares-source", "module", "node", "development|production"] } },
  // The editor's own module exists inside an editor only.
  resolve: {
    alias: {
      vscode: fileURLToPath(new URL("vscode-client/src/testing/vscode.ts", import.meta.url)),
      ...(name === "slow" ? { "onnxruntime-node": modelRuntime } : {}),
    },
  },
  test: {
    globalSetup: Object.hasOwn(globalSetups, name) ? [globalSetups[name as keyof typeof globalSetups]] : [],
    include: [...suite.include],
    exclude: [
      ...configDefaults.exclude,
      "**/dist/**",
      ...(name === "fault" ? [] : suites.fault.include),
      ...(name === "slow" ? [] : suites.slow.include),
    ],
    isolate: suite.sharedWorkers !== true,
    // Real processes and a real sandbox on what may be two busy cores.
    testTimeout: suite.timeoutMs,
    hookTimeout: suite.timeoutMs,
    disableConsoleIntercept: name === "fuzz",
    pool: "forks",
    maxWorkers: suite.workers ?? 2,
  },
});
