import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Message, FrameReader, frame } from "./frames.ts";
import { lspFault } from "./lsp/check.ts";
import { PATIENCE_MS, until } from "./until.ts";

/** Enough to see what is wrong. */
const maxLspFaults = 10;

const EXECUTABLE = fileURLToPath(new URL("../../kernel/bin/lares.js", import.meta.url));

/** A JSON-RPC error answer, as an exception. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: Record<string, unknown> | undefined;

  constructor(method: string, error: { code: number; message: string; data?: Record<string, unknown> }) {
    super(`${method}: ${error.code} ${error.message}`);
    this.code = error.code;
    this.data = error.data;
  }
}

type Pending = { method: string; resolve(message: Message): void; reject(error: Error): void };
export type Exit = { code: number | null; signal: NodeJS.Signals | null };

/** Returned by `Client.answer` for a request that the client refuses. */
class Refusal {
  readonly code: number;
  readonly message: string;

  constructor(code: number, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** An editor's answer to an unknown request. */
export const METHOD_NOT_FOUND = new Refusal(-32601, "method not found");

/** One `lares serve --stdio` process and the client's end of its pipe. Keeps every received message in order. */
export class Client implements AsyncDisposable {
  readonly process: ChildProcessWithoutNullStreams;
  readonly exited: Promise<Exit>;
  /** Notifications and requests from the kernel, oldest first. */
  readonly received: Message[] = [];
  /** Answers to no request of ours, such as `id: null` for an unreadable frame. */
  readonly strays: Message[] = [];
  stderr = "";
  /** Set when stdout contained something that is not an LSP frame. */
  fault: Error | undefined;
  /** Received messages that violate the LSP; disposing of the client throws then. */
  readonly lspFaults: string[] = [];
  /** Answers the kernel's own requests; null by default, like a person who closes the dialog. */
  answer: (request: Message) => unknown = () => null;

  readonly #pending = new Map<number | string, Pending>();
  readonly #reader = new FrameReader();
  #lastId = 0;
  #hasExited = false;

  constructor(options: {
    home: string;
    cwd: string;
    args?: readonly string[];
    environment?: NodeJS.ProcessEnv;
    /** Another executable than the checkout's. */
    executable?: string;
    /** Another Node than this one. */
    node?: string;
    /** Options for the front's channel. */
    channel?: readonly string[];
  }) {
    const executable = options.executable ?? EXECUTABLE;
    const channel = options.channel ?? ["--stdio"];
    const node = options.node ?? process.execPath;
    this.process = spawn(node, [executable, "serve", ...channel, ...(options.args ?? [])], {
      cwd: options.cwd,
      env: { ...process.env, LARES_HOME: options.home, ...options.environment },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.process.stdin.on("error", () => undefined); // the front may end first; the exit code shows that
    this.process.stderr.on("data", (chunk: Buffer) => (this.stderr += chunk.toString("utf8")));
    this.process.stdout.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.exited = new Promise((resolve) => {
      this.process.on("exit", (code, signal) => {
        this.#hasExited = true;
        for (const pending of this.#pending.values()) pending.reject(new Error("the front ended"));
        this.#pending.clear();
        resolve({ code, signal });
      });
    });
  }

  /** Sends the request and returns the whole response message, including error answers. */
  raw(method: string, params?: unknown): Promise<Message> {
    const id = ++this.#lastId;
    return this.answerTo(id, method, () => this.write(frame({ jsonrpc: "2.0", id, method, params })));
  }

  /** Waits for the response with this id, for messages that `send` writes by hand. */
  answerTo(id: number | string, what: string, send: () => void): Promise<Message> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(
          new Error(`no answer to ${what} within ${PATIENCE_MS} ms; stderr: ${this.stderr.slice(-2000)}`),
        );
      }, PATIENCE_MS);
      this.#pending.set(id, {
        method: what,
        resolve: (message) => (clearTimeout(timer), resolve(message)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      });
      send();
    });
  }

  /** Sends the request and returns its result; an error answer throws RpcError. */
  async request<Result>(method: string, params: unknown = {}): Promise<Result> {
    const message = await this.raw(method, params);
    if (message["error"] !== undefined) {
      throw new RpcError(method, message["error"] as { code: number; message: string });
    }
    return message["result"] as Result;
  }

  notify(method: string, params?: unknown): void {
    this.write(frame({ jsonrpc: "2.0", method, params }));
  }

  /** Answers a request of the kernel that `answer` left open by returning undefined. */
  reply({ id }: Message, answer: { result: unknown } | { error: { code: number; message: string } }): void {
    this.write(frame({ jsonrpc: "2.0", id, ...answer }));
  }

  write(bytes: Buffer | string): void {
    this.process.stdin.write(bytes);
  }

  /** Returns the params of every notification of this method so far. */
  notifications<Params>(method: string): Params[] {
    return this.received.filter((message) => message.method === method).map((m) => m["params"] as Params);
  }

  /** Resolves to the first notification, past or future, that `matches`. */
  notification<Params>(method: string, matches: (params: Params) => boolean = () => true): Promise<Params> {
    return until(`notification ${method}`, () => this.notifications<Params>(method).find(matches));
  }

  async shutdown(): Promise<Exit> {
    if (!this.#hasExited) {
      await this.raw("shutdown");
      this.notify("exit");
    }
    return this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasExited) this.process.kill("SIGKILL");
    await this.exited;
    if (this.lspFaults.length > 0)
      throw new Error(`the kernel sent what is not LSP 3.17:\n${this.lspFaults.join("\n")}`);
  }

  #receive(chunk: Buffer): void {
    let messages: Message[];
    try {
      messages = this.#reader.push(chunk);
    } catch (error) {
      this.fault ??= error as Error;
      return;
    }
    for (const message of messages) this.#dispatch(message);
  }

  #dispatch(message: Message): void {
    const asked = typeof message.id === "number" || typeof message.id === "string" ? message.id : "";
    const fault = lspFault(message, this.#pending.get(asked)?.method);
    if (fault !== null && this.lspFaults.length < maxLspFaults) this.lspFaults.push(fault);
    if (message.method !== undefined) {
      this.received.push(message);
      if (message.id === undefined || message.id === null) return;
      const result = this.answer(message);
      if (result instanceof Refusal) this.reply(message, { error: result });
      else if (result !== undefined) this.reply(message, { result });
      return;
    }
    const pending =
      message.id === null || message.id === undefined ? undefined : this.#pending.get(message.id);
    if (pending === undefined) {
      this.strays.push(message);
      return;
    }
    this.#pending.delete(message.id as number | string);
    pending.resolve(message);
  }
}
