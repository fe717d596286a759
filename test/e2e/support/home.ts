import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Versions that `npm run e2e:setup` installs; a change makes the next run install again. */
export const pinned = { node: "24.21.0", "code-server": "4.139.1" } as const;

/** The installation folder: `LARES_E2E_HOME`, absolute, outside this project. */
export const e2eHome = process.env["LARES_E2E_HOME"] || join(homedir(), ".cache", "lares-e2e");

/** npm's package with Node and its headers for this machine; code-server runs on Linux and macOS. */
export const nodePackage = `node-${process.platform}-${process.arch}`;

const modules = join(e2eHome, "node_modules");
export const nodeFolder = join(modules, nodePackage);
export const nodeExecutable = join(nodeFolder, "bin", "node");
export const codeServer = join(modules, "code-server");
export const vscodeFolder = join(codeServer, "lib", "vscode");
/** Written last, so that an interrupted installation is repeated. */
export const stampFile = join(e2eHome, "installed.json");

/** Returns a browser that Playwright can drive: `LARES_CHROMIUM`, or the usual places of Chromium and Chrome. */
export function findChromium(): string | undefined {
  const candidates = [
    process.env["LARES_CHROMIUM"],
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  ];
  return candidates.find((path) => path !== undefined && existsSync(path));
}

export const chromiumHelp = [
  "The tests in the real user interface need Chromium. Install it, for example:",
  "  Debian:  sudo apt-get install -y --no-install-recommends chromium",
  "  Fedora:  sudo dnf install chromium",
  "  macOS:   brew install --cask chromium",
  "or name one by LARES_CHROMIUM=/path/to/chromium.",
].join("\n");
