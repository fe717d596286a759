import { existsSync, readdirSync, readFileSync } from "node:fs";
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
    const text = textIn(folder) ?? textOfSibling(name, license, modules) ?? textHere(name);
    if (text === undefined)
      throw new Error(`The package ${name} has no licence text, so it cannot be published.`);
    return `${name} ${version} (${license ?? "see below"})\n\n${text.trim()}\n`;
  });
  return sections.join(`\n${"-".repeat(80)}\n\n`);
}

function textIn(folder: string): string | undefined {
  const file = readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  return file === undefined ? undefined : readFileSync(join(folder, file), "utf8");
}

/** Returns the text of another package of the same scope under the same licence: some publishers leave it out of one. */
function textOfSibling(name: string, license: string | undefined, modules: string): string | undefined {
  const scope = /^@[^/]+/.exec(name)?.[0];
  if (scope === undefined || license === undefined) return undefined;
  for (const sibling of readdirSync(join(modules, scope)).toSorted()) {
    const folder = join(modules, scope, sibling);
    const description = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      license?: string;
    };
    const text = description.license === license ? textIn(folder) : undefined;
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Returns the text from `licence-texts/`: of packages whose repository has one and whose npm package leaves it out. */
function textHere(name: string): string | undefined {
  const file = new URL(`licence-texts/${name.replace("/", "+")}.txt`, import.meta.url);
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/** Returns the sorted names of the packages with code in a bundle. */
export function packagesIn({ outputs }: Metafile): string[] {
  const names = Object.values(outputs)
    .flatMap(({ inputs }) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}
