import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** The folders of `test/e2e` that run in an extension host. */
export type SuiteName = "suite" | "roots" | "flood";

/**
 * Bundles a folder of `test/e2e` (its `index.ts` and its suites) as CommonJS for the extension host. Returns the module
 * whose `run` VS Code calls.
 */
export async function bundleSuite(name: SuiteName): Promise<string> {
  const suite = fileURLToPath(new URL(`../${name}/`, import.meta.url));
  const folder = fileURLToPath(new URL(`../build-output/${name}/`, import.meta.url));
  await build({
    entryPoints: readdirSync(suite)
      .filter((file) => file === "index.ts" || file.endsWith(".suite.ts"))
      .map((file) => join(suite, file)),
    outdir: folder,
    outExtension: { ".js": ".cjs" },
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode", "mocha"],
    logLevel: "warning",
    tsconfigRaw: {},
  });
  return join(folder, "index.cjs");
}
