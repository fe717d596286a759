import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { LaresError } from "../../base/errors.ts";
import type { Environment } from "../files/state-folder.ts";

/** Only the end of npm's output is kept: it holds the reason. */
const maxSaidCharacters = 8_192;
const shownLines = 3;

interface NpmPackageOptions {
  /** Empty, and the caller's to remove. */
  readonly folder: string;
  /** As npm takes it: `name@version`, or the path of a tarball. */
  readonly spec: string;
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

/**
 * Brings a package by npm's own client, with its proxies, registries and certificates, into `node_modules` of the
 * folder. None of the package's scripts runs. Throws ToolError if npm is missing or fails, with npm's reason.
 */
export async function bringNpmPackage({
  folder,
  spec,
  environment,
  signal,
}: NpmPackageOptions): Promise<void> {
  // Its own project, so that no package.json above is taken for it.
  await writeFile(join(folder, "package.json"), '{ "private": true }\n', { mode: 0o600 });
  const isWindows = process.platform === "win32";
  // In its folder, so that no path stands in the line: on Windows npm is a script that only a shell starts.
  const child = spawn(
    isWindows ? "npm.cmd" : "npm",
    ["install", "--prefix", ".", "--ignore-scripts", "--no-save", "--no-package-lock", ...quiet, spec],
    {
      cwd: folder,
      env: environment,
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

/** npm ends with where its log is, and begins with warnings about itself; between them it says why. */
function reasonIn(said: string): string {
  const errors = said
    .split("\n")
    .flatMap((line) => /^npm error (?!A complete log)(.+)$/u.exec(line)?.[1] ?? []);
  return errors.length === 0 ? "it did not say why" : errors.slice(0, shownLines).join("; ");
}

const failure = (spec: string, reason: string): LaresError =>
  new LaresError("ToolError", `npm could not bring ${spec}: ${reason}.`, { spec });
