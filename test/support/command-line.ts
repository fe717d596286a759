import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Bench } from "./bench.ts";
import { until } from "./until.ts";

const EXECUTABLE = fileURLToPath(new URL("../../kernel/bin/lares.js", import.meta.url));

export interface Printed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `lares …` as a script would: no terminal anywhere, no colours. */
export function lares(
  bench: Bench,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<Printed> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [EXECUTABLE, ...args], {
      cwd: bench.root,
      env: { ...process.env, LARES_HOME: bench.home, NO_COLOR: "1", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** True where `script` of util-linux can give a program a terminal of its own. */
export const hasTerminals = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes(
  "util-linux",
);

const looksBetweenKeys = 100;

/** `lares …` at a terminal: what it shows, and a keyboard. */
export class TerminalRun implements Disposable {
  /** Everything that was written to the terminal so far. */
  shown = "";
  readonly ended: Promise<number | null>;
  readonly #child;

  constructor(bench: Bench, args: readonly string[]) {
    const quoted = [process.execPath, EXECUTABLE, ...args].map(
      (word) => `'${word.replaceAll("'", "'\\''")}'`,
    );
    this.#child = spawn("script", ["-qefc", `stty cols 100 rows 50; exec ${quoted.join(" ")}`, "/dev/null"], {
      cwd: bench.root,
      env: { ...process.env, LARES_HOME: bench.home, TERM: "xterm", NO_COLOR: "1", SHELL: "/bin/sh" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdin.on("error", () => undefined); // it may have ended
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => (this.shown += text));
    this.ended = new Promise((resolve) => this.#child.on("close", resolve));
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Waits until the terminal has shown what matches. */
  async shows(what: RegExp): Promise<void> {
    await until(`${what} at the terminal; it shows ${JSON.stringify(this.shown.slice(-3000))}`, () =>
      what.test(this.shown),
    );
  }

  /** Presses a key until `isDone`, leaving time in between for what it does. */
  async pressUntil(key: string, what: string, isDone: () => boolean | Promise<boolean>): Promise<void> {
    let looks = 0;
    await until(what, async () => {
      if (await isDone()) return true;
      if (looks++ % looksBetweenKeys === 0) this.type(key);
      return false;
    });
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }
}
