import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Metafile } from "esbuild";

const checkoutModules = fileURLToPath(new URL("../../node_modules/", import.meta.url));

/**
 * Returns the licences of packages in the folder `modules` whose code becomes part of what is published, as those
 * licences require.
 */
export function licencesOf(packages: readonly string[], modules = checkoutModules): string {
  const sections = packages.map((name) => {
    const folder = join(modules, name);
    const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      version: string;
      license?: string;
    };
    const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
    if (file === undefined)
      throw new Error(`The package ${name} has no licence text, so it cannot be published.`);
    return `${name} ${version} (${license ?? "see below"})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
  });
  return sections.join(`\n${"-".repeat(80)}\n\n`);
}

/** Returns the sorted names of the packages with code in a bundle. */
export function packagesIn({ outputs }: Metafile): string[] {
  const names = Object.values(outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}
