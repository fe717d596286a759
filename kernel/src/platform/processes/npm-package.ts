import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { LaresError } from "../../base/errors.ts";
import type { Environment } from "../files/state-folder.ts";
import { withoutSecrets } from "./secret-variables.ts";

/** Only the end of npm's output is kept, because it has the reason. */
const maxSaidCharacters = 8_192;
const shownLines = 3;

interface NpmPackageOptions {
  /** Empty; the caller removes it. */
  readonly folder: string;
  /** In npm's notation: `name@version`, or the path of a tarball. */
  readonly spec: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

/**
 * Installs a package into `node_modules` of the folder with npm's own client, its proxies, registries and
 * certificates. Runs no scripts of packages. Throws ToolError, with npm's reason, if npm is missing or fails.
 */
export async function installNpmPackage({
  folder,
  spec,
  environment,
  signal,
}: NpmPackageOptions): Promise<void> {
  // The folder is a separate project, so that npm uses no package.json from above.
  await writeFile(join(folder, "package.json"), '{ "private": true }\n', { mode: 0o600 });
  const isWindows = process.platform === "win32";
  // Runs in the folder, so that the command line has no path: on Windows npm is a script that needs a shell.
  const child = spawn(
    isWindows ? "npm.cmd" : "npm",
    ["install", "--prefix", ".", "--ignore-scripts", "--no-save", "--no-package-lock", ...quiet, spec],
    {
      cwd: folder,
      env: withoutSecrets(environment),
      shell: isWindows,
      stdio: ["ignore", "ignore", "pipe"],
      windowsHide: true,
      signal,
    },
  );
  let said = "";
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (text: string) => (said = (said + text).slice(-maxSaidCharacters)));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) => reject(failure(spec, startFailure(error))));
    child.once("close", resolve);
  });
  if (code !== 0) throw failure(spec, reasonIn(said));
}

const quiet = [
  "--install-links",
  "--no-audit",
  "--no-fund",
  "--no-progress",
  "--no-update-notifier",
  "--loglevel=error",
];

function startFailure(error: Error): string {
  return "code" in error && error.code === "ENOENT"
    ? "there is no npm on the PATH; it comes with Node.js"
    : error.message;
}

/** npm's output begins with warnings about itself and ends with the path of its log; the reason is between them. */
function reasonIn(said: string): string {
  const errors = said
    .split("\n")
    .flatMap((line) => /^npm error (?!A complete log)(.+)$/u.exec(line)?.[1] ?? []);
  return errors.length === 0 ? "npm gave no reason" : errors.slice(0, shownLines).join("; ");
}

const failure = (spec: string, reason: string): LaresError =>
  new LaresError("ToolError", `npm could not install ${spec}: ${reason}.`, { spec });
