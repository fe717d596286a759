import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { laresErrorFrom } from "../errors.ts";
import { frame, FrameReader, type Message } from "./frames.ts";
import type { Environment } from "./kernel-place.ts";

/** An answer that takes longer never comes: the kernel hangs or has ended. */
const answerTimeoutMs = 60_000;
/** Characters of the kernel's most recent stderr that are kept for error messages. */
const maxErrorOutput = 4000;
/** The time in which a front must exit before it is killed. */
const leaveTimeoutMs = 5000;

interface Pending {
  readonly method: string;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** `lares serve --stdio` in a separate process, and the client's end of it. */
export class KernelConnection implements AsyncDisposable {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #pending = new Map<number, Pending>();
  readonly #reader = new FrameReader();
  readonly #exited: Promise<void>;
  #hasExited = false;
  #lastId = 0;
  #errorOutput = "";

  constructor(executable: string, environment: Environment) {
    this.#process = spawn(process.execPath, [executable, "serve", "--stdio"], { env: environment });
    this.#process.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#process.stderr.on("data", (chunk: Buffer) => {
      this.#errorOutput = (this.#errorOutput + chunk.toString("utf8")).slice(-maxErrorOutput);
    });
    // The exit of a front is reported by its exit event, not by the broken pipe.
    this.#process.stdin.on("error", () => undefined);
    this.#exited = new Promise((resolve) => {
      this.#process.once("error", (error) => {
        this.#fail(`lares could not be started: ${error.message}`);
        resolve();
      });
      this.#process.once("exit", (code, signal) => {
        this.#hasExited = true;
        this.#fail(`lares ended with ${signal ?? `exit code ${code}`}.${this.errorOutput}`);
        resolve();
      });
    });
  }

  /** Its stderr output for a message; empty if there was none. */
  get errorOutput(): string {
    return this.#errorOutput === "" ? "" : `\n${this.#errorOutput.trimEnd()}`;
  }

  async open(folder: string): Promise<void> {
    await this.request("initialize", {
      processId: process.pid,
      rootUri: pathToFileURL(folder).href,
      capabilities: {},
      initializationOptions: { lares: { trusted: true, approvals: "client" } },
    });
    this.#send({ method: "initialized", params: {} });
  }

  /** Returns the result; rejects with a `LaresError` if the kernel refuses. */
  async request<Result>(method: string, params: object = {}): Promise<Result> {
    if (this.#hasExited) throw new Error(`${method}: lares has ended.${this.errorOutput}`);
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(
      () => reject(new Error(`${method}: no answer within ${answerTimeoutMs} ms.${this.errorOutput}`)),
      answerTimeoutMs,
    );
    this.#pending.set(id, { method, resolve, reject });
    try {
      this.#send({ id, method, params });
      return (await promise) as Result;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  #send(message: Message): void {
    this.#process.stdin.write(frame(message));
  }

  #receive(chunk: Buffer): void {
    let messages: Message[];
    try {
      messages = this.#reader.push(chunk);
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
      this.#process.kill();
      return;
    }
    for (const message of messages) this.#take(message);
  }

  #take({ id, method, result, error }: Message): void {
    if (method !== undefined) {
      // There is no person to answer a dialog; null is the answer of a closed one.
      if (id !== undefined) this.#send({ id, result: null });
      return;
    }
    const pending = typeof id === "number" ? this.#pending.get(id) : undefined;
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(laresErrorFrom(error));
  }

  #fail(reason: string): void {
    for (const { method, reject } of this.#pending.values()) reject(new Error(`${method}: ${reason}`));
    this.#pending.clear();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), leaveTimeoutMs);
    if (!this.#hasExited && this.#process.pid !== undefined) {
      this.#send({ id: ++this.#lastId, method: "shutdown" });
      this.#send({ method: "exit" });
    }
    await this.#exited;
    clearTimeout(timer);
  }
}
