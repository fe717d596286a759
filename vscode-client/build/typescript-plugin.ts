import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

/** The name in `contributes.typescriptServerPlugins`. */
export const pluginName = "lares-typescript-plugin";

/**
 * Makes the plugin for TypeScript's server, with the SDK's declarations, in the client's `node_modules`: VS Code looks
 * for one there and nowhere else.
 */
export async function buildTypescriptPlugin(client: string, version: string): Promise<void> {
  const source = join(client, "src", "typescript-plugin");
  const declarations = join(client, "..", "extensions", "sdk", "dist", "types");
  if (!existsSync(declarations))
    throw new Error("There is no extensions/sdk/dist/types; run: npm run build:sdk");
  const folder = join(client, "node_modules", pluginName);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build({
    absWorkingDir: client,
    entryPoints: [join(source, "plugin.ts")],
    outfile: join(folder, "index.js"),
    bundle: true,
    minify: true,
    format: "iife",
    globalName: "plugin",
    // The server wants a factory by itself as the module. It has "/" in paths on Windows, too.
    footer: {
      js: 'module.exports = ({ typescript }) => plugin.createPlugin(typescript, __dirname.replaceAll("\\\\", "/"));',
    },
    platform: "node",
    target: "node20",
    logLevel: "warning",
    tsconfigRaw: {},
  });
  cpSync(declarations, join(folder, "sdk"), { recursive: true });
  cpSync(join(source, "globals"), join(folder, "globals"), { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: pluginName, version, license: "MIT", main: "index.js" }, null, 2),
  );
}
