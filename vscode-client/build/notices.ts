import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Package } from "./closure.ts";

/**
 * Whose code is in the .vsix, under which licence. A package that lies there as a package has its own licence's text
 * beside it; `inside` are those whose code was bundled, and their texts stand here.
 */
export function notices(options: {
  readonly beside: readonly Package[];
  readonly inside: readonly Package[];
  readonly nodeVersion: string;
}): string {
  const { beside, inside, nodeVersion } = options;
  const lines = beside.map(({ name, version, license, place, folder }) => {
    const text = licenceFile(folder);
    return `${name} ${version} (${license})${text === undefined ? "" : `: kernel/lib/${place}/${text}`}`;
  });
  const texts = inside.map((one) => {
    const file = licenceFile(one.folder);
    if (file === undefined)
      throw new Error(`The package ${one.name} brings no licence text, and is to be published.`);
    return `${one.name} ${one.version} (${one.license})\n\n${readFileSync(join(one.folder, file), "utf8").trim()}\n`;
  });
  const rule = `\n${"-".repeat(80)}\n\n`;
  return [
    [
      "This package contains, as its authors published it:",
      "",
      `Node.js ${nodeVersion} (MIT and others): kernel/node/LICENSE`,
      ...lines,
      "",
      "What the kernel bundles: kernel/lib/node_modules/lares/dist/THIRD-PARTY-LICENSES.txt",
      "",
    ].join("\n"),
    ...texts,
  ].join(rule);
}

function licenceFile(folder: string): string | undefined {
  return readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
}
