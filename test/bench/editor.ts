import { existsSync } from "node:fs";
import { findChromium, stampFile } from "../e2e/support/home.ts";

/** Figures in a real VS Code are left out where there is none. */
export function isVSCodeThere(): boolean {
  return existsSync(stampFile) && findChromium() !== undefined;
}

export const sayHow = "left out: there is no VS Code to measure; npm run e2e:setup installs one";
