import { readdirSync } from "node:fs";
import type { Package } from "./closure.ts";

/** Whose packages lie in the .vsix, under which licence; each has its licence's text beside it. */
export function notices(options: {
  readonly beside: readonly Package[];
  readonly nodeVersion: string;
}): string {
  const lines = options.beside.map(({ name, version, license, place, folder }) => {
    const text = licenceFile(folder);
    return `${name} ${version} (${license})${text === undefined ? "" : `: kernel/lib/${place}/${text}`}`;
  });
  return [
    "This package contains, as its authors published it:",
    "",
    `Node.js ${options.nodeVersion} (MIT and others): kernel/node/LICENSE`,
    ...lines,
    "",
    "What the extension bundles: dist/THIRD-PARTY-LICENSES.txt",
    "What the kernel bundles: kernel/lib/node_modules/lares/dist/THIRD-PARTY-LICENSES.txt",
    "",
  ].join("\n");
}

function licenceFile(folder: string): string | undefined {
  return readdirSync(folder).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
}
