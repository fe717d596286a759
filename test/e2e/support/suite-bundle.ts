import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const suite = fileURLToPath(new URL("../suite/", import.meta.url));
const folder = fileURLToPath(new URL("../build-output/suite/", import.meta.url));

/** Bundles the suite for the extension host, which wants CommonJS. Answers the module whose `run` VS Code calls. */
export async function bundleSuite(): Promise<string> {
  await build({
    entryPoints: readdirSync(suite)
      .filter((name) => name === "index.ts" || name.endsWith(".suite.ts"))
      .map((name) => join(suite, name)),
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
