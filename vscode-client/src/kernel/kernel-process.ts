import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { Launch } from "./launch.ts";

/** The maximum length of the last output line that is reported as the reason for the end. */
export const maxReasonLength = 300;
/** How long a process that closed its pipes may take to exit. */
const exitMs = 500;

/** The two ends of its pipes. */
export interface Streams {
  readonly reader: NodeJS.ReadableStream;
  readonly writer: NodeJS.WritableStream;
}

/** A process of `lares`, started by the constructor. */
export class KernelProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #begun: Promise<unknown>;
  /** The process has exited, and all its output was read. */
  readonly #closed: Promise<unknown>;
  #lastLine = "";

  /** `say` is called with each line that the process writes to stderr. */
  constructor({ command, args, env }: Extract<Launch, { kind: "start" }>, say: (line: string) => void) {
    this.#child = spawn(command, args, { env, stdio: "pipe", windowsHide: true });
    this.#begun = once(this.#child, "spawn");
    // Callers of `streams` get the error; until then nobody handles the rejection.
    this.#begun.catch(() => undefined);
    this.#closed = once(this.#child, "close").catch(() => undefined);
    createInterface({ input: this.#child.stderr, crlfDelay: Infinity }).on("line", (line) => {
      say(line);
      if (line.trim() !== "") this.#lastLine = line.trim().slice(0, maxReasonLength);
    });
    // A write to a process that is gone fails; its end is reported elsewhere.
    this.#child.stdin.on("error", () => undefined);
  }

  /** The last line on stderr; empty if there was none. */
  get lastLine(): string {
    return this.#lastLine;
  }

  /**
   * Rejects if the process cannot be started or has ended: its pipes are drained then, and nothing would report their
   * end.
   */
  async streams(): Promise<Streams> {
    await this.#begun;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      throw new Error(await this.reason());
    return { reader: this.#child.stdout, writer: this.#child.stdin };
  }

  /** Returns why it ended: a signal, or its last message. */
  async reason(): Promise<string> {
    const child = this.#child;
    await Promise.race([this.#closed, delay(exitMs)]);
    if (child.signalCode !== null) return `Its process was ended by ${child.signalCode}.`;
    const how = child.exitCode === null ? "It closed its side" : `Exit code ${child.exitCode}`;
    return this.#lastLine === "" ? `${how}.` : `${how}. ${this.#lastLine}`;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
