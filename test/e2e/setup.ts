/**
 * Installs the VS Code that the end-to-end suites drive: code-server, which is VS Code's own sources served to a
 * browser, with the Node version that it needs. Requires npm's registry, a C++ compiler, make and Python 3; no root.
 * Does nothing if it is installed.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import process from "node:process";
import {
  chromiumHelp,
  codeServer,
  e2eHome,
  findChromium,
  nodeFolder,
  nodeExecutable,
  nodePackage,
  pinned,
  stampFile,
  vscodeFolder,
} from "./support/home.ts";

const stamp = JSON.stringify(pinned);
/** Native parts of VS Code. Without them it starts, but writes no output channels and leaves orphans behind. */
const natives = {
  "@vscode/spdlog": "build/Release/spdlog.node",
  "@vscode/native-watchdog": "build/Release/watchdog.node",
};

if (!isAbsolute(e2eHome)) throw new Error(`LARES_E2E_HOME=${e2eHome}: an absolute path, please.`);
if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) {
  console.log(`VS Code for the tests is installed: ${e2eHome}`);
} else {
  needTools();
  install();
}
const chromium = findChromium();
if (chromium === undefined) {
  console.error(chromiumHelp);
  process.exitCode = 1;
} else console.log(`Browser: ${chromium}`);

function needTools(): void {
  const missing = [["c++"], ["make"], ["python3"]].filter(
    ([name = ""]) => spawnSync(name, ["--version"], { stdio: "ignore" }).error !== undefined,
  );
  if (missing.length === 0) return;
  const names = missing.flat().join(", ");
  throw new Error(
    `Not found: ${names}. Two native parts of VS Code are compiled. Debian: sudo apt-get install -y g++ make python3`,
  );
}

function install(): void {
  console.log(`Installs into ${e2eHome} (about 800 MB, a minute; LARES_E2E_HOME names another folder):`);
  console.log(`  Node ${pinned.node} (${nodePackage})      runs the server and compiles for it`);
  console.log(`  code-server ${pinned["code-server"]}           VS Code, served to a browser`);
  console.log("  what its lock files name          VS Code's modules and built-in extensions");
  rmSync(e2eHome, { recursive: true, force: true });
  mkdirSync(e2eHome, { recursive: true });
  writeFileSync(join(e2eHome, "package.json"), JSON.stringify({ private: true }));
  npm(e2eHome, "install", "--ignore-scripts", `${nodePackage}@${pinned.node}`);
  npm(e2eHome, "install", "--ignore-scripts", `code-server@${pinned["code-server"]}`);
  npm(vscodeFolder, "install", "--ignore-scripts", "--omit=dev");
  npm(vscodeFolder, "install", "--ignore-scripts", "--omit=dev", "--prefix", "extensions");
  npm(vscodeFolder, "rebuild", ...Object.keys(natives));
  for (const [name, built] of Object.entries(natives))
    if (!existsSync(join(vscodeFolder, "node_modules", name, built)))
      throw new Error(`${name} was not compiled to ${built}; npm rebuild said nothing of it.`);
  const { version } = JSON.parse(readFileSync(join(codeServer, "package.json"), "utf8")) as {
    version: string;
  };
  if (version !== pinned["code-server"]) throw new Error(`code-server ${version} was installed.`);
  writeFileSync(stampFile, stamp);
  console.log(`Installed: ${e2eHome}`);
}

/** Runs npm under the Node that is installed there, because code-server refuses others. */
function npm(cwd: string, command: string, ...rest: string[]): void {
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const bin = existsSync(nodeExecutable) ? [dirname(nodeExecutable)] : [];
  execFileSync("npm", [command, ...quiet, ...rest], {
    cwd,
    stdio: "inherit",
    env: {
      ...process.env,
      PATH: [...bin, process.env["PATH"]].join(delimiter),
      npm_config_nodedir: nodeFolder,
    },
  });
}
