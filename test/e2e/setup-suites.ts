import { execFileSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import { makeVsix } from "../support/vsix.ts";
import { artefacts } from "./support/browser.ts";
import { chromiumHelp, findChromium, stampFile } from "./support/home.ts";

declare module "vitest" {
  export interface ProvidedContext {
    readonly vsix: string;
  }
}

/** Reports what is missing before anything is built, then builds the client and the .vsix once for all suites. */
export default function setup(project: TestProject): void {
  if (!existsSync(stampFile)) throw new Error("There is no VS Code to test in; run once: npm run e2e:setup");
  if (findChromium() === undefined) throw new Error(chromiumHelp);
  rmSync(artefacts, { recursive: true, force: true });
  const vsix = makeVsix();
  if (process.env["LARES_VSIX"])
    execFileSync(
      process.execPath,
      [fileURLToPath(new URL("../../vscode-client/build/bundle.ts", import.meta.url))],
      {
        stdio: "inherit",
      },
    );
  project.provide("vsix", vsix);
}
