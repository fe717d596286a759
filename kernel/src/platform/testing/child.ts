import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import process from "node:process";
import { failpointVariable } from "../failpoint.ts";
import type { FailpointName } from "../failpoints.ts";

/**
 * Gives the child `say(line)`. It does not use process.stdout, which buffers lines in the process when the pipe is
 * full: lines from before a SIGKILL have arrived.
 */
const prelude = `
  import { writeSync } from "node:fs";
  const say = (line) => {
    for (let left = Buffer.from(line + "\\n"); left.length > 0; ) {
      try {
        left = left.subarray(writeSync(1, left));
      } catch (error) {
        if (error.code !== "EAGAIN") throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
  };`;

/** A Node.js process that runs TypeScript given as text, for tests in which a process dies. It has `say(line)`. */
export class TestChild {
  /** Each line of its standard output so far. */
  readonly lines: string[] = [];
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  #errors = "";
  #wake: () => void = () => undefined;

  /** `modules` are imported as `name` from an absolute URL: `{ "{ openInbox }": new URL(…) }`. */
  constructor(
    source: string,
    options: {
      modules: Readonly<Record<string, URL>>;
      failpoint?: FailpointName | `${FailpointName}@${number}`;
    },
  ) {
    const imports = Object.entries(options.modules).map(
      ([names, url]) => `import ${names} from ${JSON.stringify(url.href)};`,
    );
    this.#process = spawn(
      process.execPath,
      ["--input-type=module-typescript", "-e", `${prelude}\n${imports.join("\n")}\n${source}`],
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, NODE_OPTIONS: "", [failpointVariable]: options.failpoint ?? "" },
      },
    );
    const { stdout, stderr } = this.#process;
    if (stdout === null || stderr === null) throw new Error("The child has no pipes.");
    createInterface(stdout).on("line", (line) => {
      this.lines.push(line);
      this.#wake();
    });
    stderr.on("data", (bytes: Buffer) => (this.#errors += bytes.toString()));
    this.#ended = once(this.#process, "close").then(() => this.#wake());
  }

  /** Resolves when that many lines have arrived; rejects if the child ends before. */
  async waitForLines(count: number): Promise<void> {
    while (this.lines.length < count) {
      if (this.#process.exitCode !== null) throw new Error(`The child ended early: ${this.#errors}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Sends SIGKILL; resolves when the process has ended and its output is read. */
  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  /** Returns how it ended: a signal's name, or "exit 0". Throws with its stderr for any other exit code. */
  async ended(): Promise<string> {
    await this.#ended;
    const { signalCode, exitCode } = this.#process;
    if (signalCode !== null) return signalCode;
    if (exitCode !== 0) throw new Error(`The child failed with ${exitCode}: ${this.#errors}`);
    return "exit 0";
  }
}
