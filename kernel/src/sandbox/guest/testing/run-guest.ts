import { Worker } from "node:worker_threads";
import { mkdtemp, mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Bundler, type BundleResult } from "../../bundle/bundle.ts";
import type { BundledProgram } from "../../bundle/bundled-program.ts";
import { guestPreamble } from "../preamble.ts";
import { mapStack } from "../stack.ts";

export const sdkFolder = fileURLToPath(new URL("../../../../../extensions/sdk", import.meta.url));

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: { code: number; message: string; data: { code?: string; stack?: string } };
}

type ThreadMessage =
  { kind: "stdout" | "stderr"; chunk: Uint8Array } | { kind: "exited"; exitCode?: number; trap?: string };

/** A guest and the kernel's end of its pipe, for tests. */
export class TestGuest implements AsyncDisposable {
  readonly exited: Promise<{ exitCode?: number; trap?: string }>;
  /** What the guest called and notified, in order. */
  readonly calls: Message[] = [];
  /** The guest's stderr so far, with positions mapped to the sources. */
  get stderr(): string {
    return mapStack(this.#stderr, this.#program.sourceMap);
  }
  /** Answers the guest's calls. The `code` of an error that it throws becomes `data.code`. */
  onCall: (method: string, params: Record<string, unknown>) => unknown = () => null;
  readonly #program: BundledProgram;
  readonly #worker: Worker;
  readonly #answers = new Map<number, (message: Message) => void>();
  #waiting: { until: () => boolean; done: () => void }[] = [];
  #stderr = "";
  #rest = "";
  #lastId = 0;

  constructor(program: BundledProgram) {
    this.#program = program;
    this.#worker = new Worker(new URL("./guest-thread.ts", import.meta.url), {
      workerData: { preamble: guestPreamble(program) },
    });
    const decoder = new TextDecoder();
    this.exited = new Promise((resolve, reject) => {
      this.#worker.on("error", reject);
      this.#worker.on("message", (message: ThreadMessage) => {
        if (message.kind === "exited") resolve(message);
        else if (message.kind === "stderr") this.#stderr += new TextDecoder().decode(message.chunk);
        else this.#read(decoder.decode(message.chunk, { stream: true }));
        this.#check();
      });
    });
  }

  /** Returns the guest's whole answer. */
  ask(method: string, params: unknown = {}): Promise<Message> {
    const id = ++this.#lastId;
    const answer = new Promise<Message>((resolve) => this.#answers.set(id, resolve));
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return answer;
  }

  /** Returns the result. Rejects with the guest's error, its stack mapped. */
  async request(method: string, params: unknown = {}): Promise<unknown> {
    const { result, error } = await this.ask(method, params);
    if (error === undefined) return result;
    throw Object.assign(new Error(error.message), {
      code: error.code,
      word: error.data.code,
      mapped: mapStack(error.data.stack ?? "", this.#program.sourceMap),
    });
  }

  async initialize(config: unknown = {}): Promise<unknown> {
    return await this.request("initialize", {
      abi: 1,
      extension: { id: "dev.test", version: "1.0.0" },
      config,
      permissions: { write_custom_fields: { namespace: "test" } },
      locations: ["photos"],
      models: [],
      limits: {},
    });
  }

  write(text: string): void {
    this.#worker.postMessage(new TextEncoder().encode(text));
  }

  async until(condition: () => boolean): Promise<void> {
    if (condition()) return;
    await new Promise<void>((done) => this.#waiting.push({ until: condition, done }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }

  #check(): void {
    const ready = this.#waiting.filter(({ until }) => until());
    this.#waiting = this.#waiting.filter((waiting) => !ready.includes(waiting));
    for (const { done } of ready) done();
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#receive(JSON.parse(line) as Message);
  }

  #receive(message: Message): void {
    const { id, method, params = {} } = message;
    if (method === undefined) {
      if (id !== undefined) this.#answers.get(id)?.(message);
      return;
    }
    this.calls.push(message);
    if (id === undefined) return;
    void (async () => this.onCall(method, params))().then(
      (result) => this.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: result ?? null })}\n`),
      (error: { code?: string; message: string }) => {
        const wire = { code: -33000, message: error.message, data: { code: error.code } };
        this.write(`${JSON.stringify({ jsonrpc: "2.0", id, error: wire })}\n`);
      },
    );
  }
}

/** Creates a temporary extension with the given files. */
export async function extensionOf(
  files: Record<string, string>,
): Promise<{ folder: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), "lares-extension-"));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

export async function bundleFiles(files: Record<string, string>, main = "agent.ts"): Promise<BundleResult> {
  await using extension = await extensionOf(files);
  return await new Bundler(sdkFolder).bundle(extension.folder, main);
}

/** Bundles the files and starts a guest with them. */
export async function startFiles(files: Record<string, string>): Promise<TestGuest> {
  const result = await bundleFiles(files);
  if (!result.ok)
    throw new Error(
      result.errors.map((error) => `${error.file}:${error.line}:${error.column} ${error.message}`).join("\n"),
    );
  return new TestGuest(result.program);
}

/** Starts an agent whose only tool, `run`, has the given code as its body, with `args` and `ctx` as parameters. */
export function startTool(code: string): Promise<TestGuest> {
  return startFiles({
    "agent.ts": `import { defineAgent } from "@lares/sdk";\nexport default defineAgent({ tools: { async run(args: any, ctx) {\n${code}\n} } });\n`,
  });
}

/** Calls the tool `run`. Returns its value; rejects with its error. */
export async function runTool(guest: TestGuest, args: unknown = {}): Promise<unknown> {
  const result = (await guest.request("tool", {
    name: "run",
    arguments: args,
    call_id: "1",
    caller: "user",
  })) as { status: "success"; value: unknown } | { status: "error"; message: string };
  if (result.status === "success") return result.value;
  throw new Error(result.message);
}
