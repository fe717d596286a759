import { existsSync } from "node:fs";
import { findChromium, stampFile } from "../e2e/support/home.ts";

/** Returns true if there is a VS Code; figures about it are skipped otherwise. */
export function isVSCodeThere(): boolean {
  return existsSync(stampFile) && findChromium() !== undefined;
}

export const sayHow = "left out: there is no VS Code to measure; npm run e2e:setup installs one";
