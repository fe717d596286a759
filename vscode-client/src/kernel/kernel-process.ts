import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { Launch } from "./launch.ts";

/** Of the last line a kernel wrote before it ended, as the reason it is given. */
export const maxReasonLength = 300;
/** A process that closed its pipes has so long to be gone. */
const exitMs = 500;

/** The two ends of its pipes. */
export interface Streams {
  readonly reader: NodeJS.ReadableStream;
  readonly writer: NodeJS.WritableStream;
}

/** A process of `lares`, begun as soon as this is made. */
export class KernelProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #begun: Promise<unknown>;
  /** It is gone, and all that it wrote was read. */
  readonly #closed: Promise<unknown>;
  #lastLine = "";

  /** `say` is given each line of what it writes beside the protocol. */
  constructor({ command, args, env }: Extract<Launch, { kind: "start" }>, say: (line: string) => void) {
    this.#child = spawn(command, args, { env, stdio: "pipe", windowsHide: true });
    this.#begun = once(this.#child, "spawn");
    // Whoever asks for its streams is told that it cannot be run; nobody may do so for a while.
    this.#begun.catch(() => undefined);
    this.#closed = once(this.#child, "close").catch(() => undefined);
    createInterface({ input: this.#child.stderr, crlfDelay: Infinity }).on("line", (line) => {
      say(line);
      if (line.trim() !== "") this.#lastLine = line.trim().slice(0, maxReasonLength);
    });
    // A front that is gone while something is written to it tells so by its end.
    this.#child.stdin.on("error", () => undefined);
  }

  /** What it last wrote beside the protocol; empty where it wrote nothing. */
  get lastLine(): string {
    return this.#lastLine;
  }

  /** Rejects where it cannot be run, or has ended: its pipes were emptied then, and nobody would hear of their end. */
  async streams(): Promise<Streams> {
    await this.#begun;
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      throw new Error(await this.reason());
    return { reader: this.#child.stdout, writer: this.#child.stdin };
  }

  /** Why it ended: by a signal, or with the last thing that it said. */
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
