import { spawn } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("../../../", import.meta.url));
export const checkoutExecutable = join(repository, "kernel", "bin", "lares.js");

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A temporary folder with an empty home. */
export interface Place extends AsyncDisposable {
  /** Real path. */
  readonly base: string;
  readonly home: string;
  path(...names: string[]): string;
  /** Of a machine on which nobody has set anything. */
  readonly environment: NodeJS.ProcessEnv;
}

export async function makePlace(name = "lares-package-"): Promise<Place> {
  const base = await realpath(await mkdtemp(join(tmpdir(), name)));
  const home = join(base, "home");
  await mkdir(home);
  return {
    base,
    home,
    path: (...names) => join(base, ...names),
    environment: {
      PATH: process.env["PATH"],
      TMPDIR: tmpdir(),
      HOME: home,
      USERPROFILE: home,
      NO_COLOR: "1",
      LARES_KERNEL_LINGER: "0s",
    },
    [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 }),
  };
}

/** Runs a program of Node's to its end. */
export function runNode(
  argv: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
