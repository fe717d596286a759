import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { build, type Metafile, type Plugin } from "esbuild";

/** How sources name the entry file of a thread or a child process; see `platform/files/sibling-module.ts`. */
const siblingNames = /siblingModule\(\s*import\.meta\.url,\s*"([^"]+)"/g;
const placesModule = "lares:places";

/**
 * Bundles the kernel's sources into `dist`: `main.js` and the entry files of threads and child processes at their
 * sources' places, everything else in `chunks/`. Packages other than `external` are included, because finding and
 * reading hundreds of small files takes more than twice as long.
 */
export async function bundleModules(options: {
  readonly sources: string;
  readonly dist: string;
  readonly external: readonly string[];
}): Promise<Metafile> {
  const { sources, dist, external } = options;
  const { metafile } = await build({
    absWorkingDir: sources,
    entryPoints: entriesOf(sources),
    outbase: sources,
    outdir: dist,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "es2024",
    // As Node.js resolves: by default esbuild adds a condition for bundlers.
    conditions: [],
    external: [...external],
    plugins: [places(sources)],
    // CommonJS packages need `require`.
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
    legalComments: "none",
    logLevel: "warning",
    tsconfigRaw: {},
  });
  for (const [path, { inputs }] of Object.entries(metafile.outputs))
    if (Object.keys(inputs).some((input) => input.includes(placesModule)) && !path.includes("chunks/"))
      throw new Error(`${path} would look for the kernel's files one folder too high.`);
  return metafile;
}

/**
 * Fails if the entry of a thread or process is named in a way that is not found here, because it would be missing
 * only at run time.
 */
function entriesOf(sources: string): string[] {
  const modules = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !path.split(sep).includes("testing"),
  );
  const siblings = modules.flatMap((path) => {
    const text = readFileSync(join(sources, path), "utf8");
    const named = [...text.matchAll(siblingNames)].map(([, name]) => `${String(name)}.ts`);
    const calls = [...text.matchAll(/(?<!function )\bsiblingModule\(/g)].length;
    if (calls !== named.length) throw new Error(`${path} must name a sibling module with a string literal.`);
    return named.map((name) => join(sources, path, "..", name));
  });
  return [join(sources, "main.ts"), ...new Set(siblings)];
}

/** Replaces `import.meta.url`, so that it stays correct wherever the code is placed. */
function places(sources: string): Plugin {
  return {
    name: "places",
    setup({ onLoad, onResolve }) {
      onResolve({ filter: new RegExp(`^${placesModule}$`) }, ({ path }) => ({ path, namespace: "places" }));
      onLoad({ filter: /.*/, namespace: "places" }, () => ({
        contents: `const home = new URL("../", import.meta.url);
          export const placeOf = (path) => new URL(path, home).href;`,
      }));
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const text = readFileSync(path, "utf8");
        if (!path.startsWith(sources) || !text.includes("import.meta.url")) return undefined;
        const place = relative(sources, path).replaceAll(sep, "/").replace(/\.ts$/, ".js");
        const placed = text.replaceAll("import.meta.url", `placeOf(${JSON.stringify(place)})`);
        return { contents: `import { placeOf } from "${placesModule}"; ${placed}`, loader: "ts" };
      });
    },
  };
}
