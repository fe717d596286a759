import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import xterm from "@xterm/headless";
import type { Bench } from "./bench.ts";
import { type Ended, runNode } from "./run-node.ts";
import { until } from "./until.ts";

const EXECUTABLE = fileURLToPath(new URL("../../kernel/bin/lares.js", import.meta.url));

/** Runs `lares …` like a script: no terminal, no colours. */
export function lares(
  bench: Pick<Bench, "root" | "home">,
  args: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  input?: string,
): Promise<Ended> {
  const env = { ...process.env, LARES_HOME: bench.home, NO_COLOR: "1", ...environment };
  return runNode([EXECUTABLE, ...args], { cwd: bench.root, env, ...(input === undefined ? {} : { input }) });
}

/** True if `script` of util-linux can give a program a terminal. */
export const hasTerminals = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes(
  "util-linux",
);

const looksBetweenKeys = 100;
let count = 0;

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly environment?: NodeJS.ProcessEnv;
  /** Another `lares` than the checkout's. */
  readonly executable?: string;
  /** Another program, found as a shell finds it. */
  readonly program?: string;
  /** A command of the shell that runs in the same terminal afterwards. */
  readonly after?: string;
}

/** Where a program runs, and where Lares keeps its state. */
export type TerminalPlace = Pick<Bench, "base" | "root" | "home">;

/** `lares …`, or another program, at a terminal, with its screen and a keyboard. */
export class TerminalRun implements Disposable {
  /** Everything that was written to the terminal so far. */
  shown = "";
  readonly ended: Promise<number | null>;
  readonly #child;
  readonly #emulator: InstanceType<typeof xterm.Terminal>;
  readonly #about: string;

  constructor(
    bench: TerminalPlace,
    args: readonly string[],
    {
      columns = 100,
      rows = 50,
      environment = {},
      executable = EXECUTABLE,
      program,
      after,
    }: TerminalOptions = {},
  ) {
    this.#emulator = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
    this.#about = join(bench.base, `terminal-${process.pid}-${count++}`);
    const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;
    const command = program === undefined ? [process.execPath, executable] : [program];
    const quoted = [...command, ...args].map(quote);
    const run = `echo $$ $(tty) > '${this.#about}'; exec ${quoted.join(" ")}`;
    const whole = after === undefined ? run : `sh -c ${quote(run)}; code=$?; ${after}; exit $code`;
    const script = `stty cols ${columns} rows ${rows}; ${whole}`;
    this.#child = spawn("script", ["-qefc", script, "/dev/null"], {
      cwd: bench.root,
      env: {
        ...process.env,
        LARES_HOME: bench.home,
        TERM: "xterm",
        NO_COLOR: "1",
        SHELL: "/bin/sh",
        LANG: "C.UTF-8",
        LC_ALL: "C.UTF-8",
        ...environment,
      },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdin.on("error", () => undefined); // it may have ended
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.shown += text;
      this.#emulator.write(text);
    });
    // The emulator processes its input a little later: the last of it has to be on the screen.
    this.ended = new Promise((resolve) =>
      this.#child.on("close", (code) => this.#emulator.write("", () => resolve(code))),
    );
  }

  /** The text on the screen now, as a person sees it. */
  get screen(): string {
    const { active } = this.#emulator.buffer;
    return Array.from(
      { length: this.#emulator.rows },
      (_none, row) => active.getLine(active.viewportY + row)?.translateToString(true) ?? "",
    ).join("\n");
  }

  /** True while a full-screen program has the terminal. */
  get isFullScreen(): boolean {
    return this.#emulator.buffer.active.type === "alternate";
  }

  /** The process id of `lares` and its terminal's device. */
  get process(): { readonly pid: number; readonly device: string } {
    const [pid = "", device = ""] = readFileSync(this.#about, "utf8").trim().split(" ");
    return { pid: Number(pid), device };
  }

  get isStopped(): boolean {
    return /\) T/.test(readFileSync(`/proc/${this.process.pid}/stat`, "utf8"));
  }

  /** Continues it after it was stopped, as a shell does with `fg`. */
  resume(): void {
    // `script` stops with it, and continues it when it is continued itself.
    this.#child.kill("SIGCONT");
    process.kill(this.process.pid, "SIGCONT");
  }

  resize(columns: number, rows: number): void {
    this.#emulator.resize(columns, rows);
    spawnSync("stty", ["-F", this.process.device, "cols", String(columns), "rows", String(rows)]);
  }

  /** The terminal's settings, as `stty` names them: echo, canonical mode and the like. */
  get settings(): string {
    if (!existsSync(this.#about)) return "";
    return spawnSync("stty", ["-F", this.process.device, "-a"], { encoding: "utf8" }).stdout;
  }

  type(keys: string): void {
    this.#child.stdin.write(keys);
  }

  /** Waits until the terminal's output matches. */
  async shows(what: RegExp): Promise<void> {
    await until(`${what} at the terminal; it shows ${JSON.stringify(this.shown.slice(-3000))}`, () =>
      what.test(this.shown),
    );
  }

  /** Waits until the screen shows a match. */
  async sees(what: RegExp): Promise<void> {
    await this.#withScreen(until(`${what} on the screen`, () => what.test(this.screen)));
  }

  /** Presses a key until `isDone`, with time in between for its effect. */
  async pressUntil(
    key: string | (() => string),
    what: string,
    isDone: () => boolean | Promise<boolean>,
  ): Promise<void> {
    let looks = 0;
    await this.#withScreen(
      until(what, async () => {
        if (await isDone()) return true;
        if (looks++ % looksBetweenKeys === 0) this.type(typeof key === "string" ? key : key());
        return false;
      }),
    );
  }

  async #withScreen(waited: Promise<unknown>): Promise<void> {
    try {
      await waited;
    } catch (error) {
      throw new Error(`${String(error)}\n${this.screen}`, { cause: error });
    }
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }
}
