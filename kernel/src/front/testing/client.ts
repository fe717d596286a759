import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { stateFolderOf } from "../../platform/files/state-folder.ts";
import { FrameReader } from "../../protocol/framing/frame-reader.ts";
import { FrameWriter } from "../../protocol/framing/frame-writer.ts";
import { kernelFrameLimits } from "../../protocol/framing/limits.ts";
import { isResponse, type RpcMessage, type WireError } from "../../protocol/messages.ts";

/** A temporary folder with a workspace and a home; when disposed, it is removed and every process in it is ended. */
export class Bench implements AsyncDisposable {
  readonly folder: string;
  readonly workspace: string;
  readonly environment: Record<string, string>;
  readonly #clients: TestClient[] = [];

  private constructor(folder: string, workspace: string, extra: Record<string, string>) {
    this.folder = folder;
    this.workspace = workspace;
    const compiled = process.env["NODE_COMPILE_CACHE"];
    this.environment = {
      PATH: process.env["PATH"] ?? "",
      LARES_HOME: join(folder, "home"),
      ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }),
      ...extra,
    };
  }

  static async open(environment: Record<string, string> = {}): Promise<Bench> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "lares-front-")));
    const workspace = await mkdtemp(join(folder, "workspace-"));
    return new Bench(folder, workspace, environment);
  }

  start(args: readonly string[] = []): TestClient {
    const entry = new URL("front-main.ts", import.meta.url).pathname;
    const client = new TestClient(
      spawn(process.execPath, [entry, ...args], { env: this.environment, stdio: "pipe" }),
    );
    this.#clients.push(client);
    return client;
  }

  initializeParams(laresOptions: object = {}): object {
    return {
      processId: process.pid,
      rootUri: null,
      workspaceFolders: [{ uri: pathToFileURL(this.workspace).href, name: "workspace" }],
      capabilities: {},
      initializationOptions: { lares: laresOptions },
    };
  }

  /** A client whose session is open. */
  async joined(laresOptions: object = {}): Promise<TestClient> {
    const client = this.start();
    await client.request("initialize", this.initializeParams(laresOptions));
    client.notify("initialized", {});
    return client;
  }

  /** Returns the process ids of the kernels started so far. */
  async kernels(): Promise<number[]> {
    const stateFolder = await stateFolderOf([this.workspace], this.environment);
    const text = await readFile(join(stateFolder, "starts"), "utf8").catch(() => "");
    return text.split("\n").filter(Boolean).map(Number);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.process.kill("SIGKILL");
    for (const pid of await this.kernels()) killIfAlive(pid);
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

export class RequestFailed extends Error {
  readonly wire: WireError;

  constructor(wire: WireError) {
    super(`${wire.code} ${wire.message}`);
    this.wire = wire;
  }
}

/** A client over real stdio. */
export class TestClient {
  readonly process: ChildProcess;
  readonly messages: RpcMessage[] = [];
  readonly exited: Promise<number | null>;
  stderr = "";
  readonly #writer: FrameWriter;
  readonly #open = new Map<number | string, PromiseWithResolvers<unknown>>();
  #watchers: (() => void)[] = [];
  #lastId = 0;

  constructor(child: ChildProcess) {
    this.process = child;
    const { stdin, stdout, stderr } = child;
    if (!stdin || !stdout || !stderr) throw new Error("The front has no pipes.");
    this.#writer = new FrameWriter(stdin);
    void new FrameReader(
      stdout,
      {
        message: (message) => this.#received(message),
        refused: (refusal) => {
          throw new Error(`The front sent a bad frame: ${refusal.message}`);
        },
        closed: () => {},
      },
      kernelFrameLimits,
    );
    stderr.on("data", (chunk: Buffer) => {
      this.stderr += chunk.toString();
      this.#wake();
    });
    this.exited = new Promise((resolve) => child.once("exit", (code) => resolve(code)));
  }

  request(method: string, params?: unknown): Promise<unknown> {
    return this.ask(method, params).answer;
  }

  /** Sends a request and returns its id before the answer arrives. */
  ask(method: string, params?: unknown): { id: number; answer: Promise<unknown> } {
    const id = ++this.#lastId;
    const open = Promise.withResolvers<unknown>();
    open.promise.catch(() => {});
    this.#open.set(id, open);
    this.send({ jsonrpc: "2.0", id, method, params });
    return { id, answer: open.promise };
  }

  notify(method: string, params: unknown): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  send(message: object): void {
    this.#writer.write(JSON.stringify(message));
  }

  sendRaw(bytes: string | Uint8Array): void {
    this.process.stdin?.write(bytes);
  }

  /** Waits until a received message or stderr matches. */
  async until<Found>(find: () => Found | undefined | false | null): Promise<Found> {
    for (;;) {
      const found = find();
      if (found !== undefined && found !== false && found !== null) return found;
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  heard(method: string): RpcMessage[] {
    return this.messages.filter((message) => "method" in message && message.method === method);
  }

  async state(): Promise<ToyState> {
    return (await this.request("toy/state")) as ToyState;
  }

  /** Returns the next kernel's state; asks again if the request was lost with the old kernel. */
  async stateOfNext(previousPid: number): Promise<ToyState> {
    for (;;) {
      try {
        const state = await this.state();
        if (state.pid !== previousPid) return state;
      } catch (error) {
        if (!(error instanceof RequestFailed && error.wire.code === -32803)) throw error;
      }
    }
  }

  #received(message: RpcMessage): void {
    this.messages.push(message);
    if (isResponse(message) && message.id !== null) {
      const open = this.#open.get(message.id);
      this.#open.delete(message.id);
      if (message.error) open?.reject(new RequestFailed(message.error));
      else open?.resolve(message.result);
    }
    this.#wake();
  }

  #wake(): void {
    for (const watcher of this.#watchers.splice(0)) watcher();
  }
}

interface ToyState {
  readonly pid: number;
  readonly roots: string[];
  readonly sessions: number;
  readonly initializeParams: {
    processId: unknown;
    initializationOptions: { lares: Record<string, unknown> };
  };
  readonly heard: string[];
  readonly documents: Record<string, string>;
  readonly followed: string[];
  /** The `after` of each follow; null if it had none. */
  readonly asked: (string | null)[];
}
