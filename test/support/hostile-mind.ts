/** A kernel with a mind whose model's server answers whatever a test makes it answer, in OpenAI's Chat Completions. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Conversation, Entry, EntryOf } from "../../kernel/src/base/vocabulary/conversation.ts";
import type { ProcessKind } from "../../kernel/src/base/vocabulary/principal.ts";
import type { ToolResult } from "../../kernel/src/base/vocabulary/tool-result.ts";
import { Bench, type ExtensionSpec } from "./bench.ts";
import type { Client } from "./client.ts";
import { noModels } from "./no-models.ts";
import { until } from "./until.ts";

export const MIND = "test.mind";
const kinds = [
  "channel",
  "branch",
  "worker",
  "compaction",
  "cortex",
] as const satisfies readonly ProcessKind[];

/** A call as it stands on the wire: a tool's name has "_" for "/", and the arguments are a text. */
export interface WireCall {
  readonly name: string;
  /** An object, or the text that the model writes in its place. */
  readonly given: object | string;
  readonly id?: string;
}
export interface WireAnswer {
  readonly think?: string;
  readonly say?: string;
  readonly calls?: readonly WireCall[];
}
/** An answer; or a function that writes one, or returns it when the request has been read, at once or later. */
type Step =
  | WireAnswer
  | ((
      write: (delta: object) => boolean,
      response: ServerResponse,
    ) => WireAnswer | Promise<WireAnswer> | undefined | void);

interface WireRequest {
  readonly kind: ProcessKind;
  readonly text: string;
  /** Everything that the model read, in order. */
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools: readonly string[];
}

interface Spec {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Further keys of the mind, and of its extension's manifest. */
  readonly mind?: object;
  readonly manifest?: object;
  /** Further files of its extension. */
  readonly own?: Readonly<Record<string, string>>;
  readonly extensions?: readonly ExtensionSpec[];
  /** Further keys of the workspace's and of the person's `lares.yaml`. */
  readonly lares?: Record<string, unknown>;
  readonly person?: Record<string, unknown>;
  /** Further variables of the kernel's environment. */
  readonly environment?: Record<string, string>;
  /** Runs before the kernel starts. */
  prepare?(bench: Bench): Promise<unknown>;
}

export class HostileMind implements AsyncDisposable {
  readonly bench: Bench;
  readonly client: Client;
  readonly requests: WireRequest[];
  readonly #server: Server;
  readonly #steps: Map<ProcessKind, Step[]>;

  private constructor(
    bench: Bench,
    client: Client,
    server: Server,
    requests: WireRequest[],
    steps: Map<ProcessKind, Step[]>,
  ) {
    this.bench = bench;
    this.client = client;
    this.requests = requests;
    this.#server = server;
    this.#steps = steps;
  }

  static async open(spec: Spec = {}): Promise<HostileMind> {
    const {
      files = {},
      mind = {},
      manifest = {},
      own = {},
      extensions = [],
      lares = {},
      person = {},
      environment: more = {},
      prepare,
    } = spec;
    const requests: WireRequest[] = [];
    const steps = new Map<ProcessKind, Step[]>();
    const server = createServer((request, response) => {
      const pieces: Buffer[] = [];
      request.on("data", (piece: Buffer) => pieces.push(piece));
      request.on("end", () => {
        const asked = readRequest(Buffer.concat(pieces).toString("utf8"));
        requests.push(asked);
        answer(steps.get(asked.kind)?.shift() ?? { say: "done" }, response);
      });
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const bench = await Bench.create({
      files,
      lares,
      extensions: [
        {
          id: MIND,
          manifest: {
            name: "A mind",
            permissions: {
              use_models: [{ category: "chat" }],
              read_entries: true,
              propose_actions: ["file.write", "file.edit", "file.move", "file.delete", "folder.create"],
            },
            mind: {
              prompts: Object.fromEntries(kinds.map((kind) => [kind, `prompts/${kind}.md`])),
              tools: ["files/*"],
              direct_tools: ["files/*"],
              channel: { max_turns: 8 },
              ...mind,
            },
            ...manifest,
          },
          files: {
            ...Object.fromEntries(kinds.map((kind) => [`prompts/${kind}.md`, `THE PROCESS IS A ${kind}.`])),
            ...own,
          },
        },
        ...extensions,
      ],
    });
    try {
      const config = join(bench.base, "config", "lares");
      await mkdir(config, { recursive: true });
      const models = {
        providers: { lab: { api: "openai-compatible", base_url: `http://${host}/v1` } },
        routes: { default: "lab/m" },
      };
      await writeFile(join(config, "lares.yaml"), JSON.stringify({ version: 1, models, ...person }));
      await prepare?.(bench);
      const environment = { ...noModels, XDG_CONFIG_HOME: join(bench.base, "config"), ...more };
      const client = await bench.open({ environment });
      return new HostileMind(bench, client, server, requests, steps);
    } catch (error) {
      await bench[Symbol.asyncDispose]();
      server.close();
      throw error;
    }
  }

  /** The answers for the next processes of a kind, in order; then "done". */
  get steps(): Map<ProcessKind, Step[]> {
    return this.#steps;
  }

  /** Opens a conversation with a model that answers its channel so, and then says "done". */
  async attack(
    channel: readonly Step[],
    others: Partial<Record<ProcessKind, readonly Step[]>> = {},
    text = "begin",
    agent = MIND,
  ): Promise<string> {
    const { id } = await this.client.request<Conversation>("lares/conversations/open", { agent });
    await this.next(id, channel, others, text);
    return id;
  }

  /** Sends a message that is answered so. */
  async next(
    id: string,
    channel: readonly Step[],
    others: Partial<Record<ProcessKind, readonly Step[]>> = {},
    text = "continue",
  ): Promise<void> {
    this.#steps.clear();
    this.requests.length = 0;
    this.#steps.set("channel", [...channel]);
    for (const kind of kinds) if (others[kind] !== undefined) this.#steps.set(kind, [...others[kind]]);
    await this.client.request("lares/conversations/send", { id, text });
  }

  get(id: string): Promise<Conversation> {
    return this.client.request("lares/conversations/get", { id });
  }

  async entries(id: string, after = 0): Promise<Entry[]> {
    const all: Entry[] = [];
    for (;;) {
      const given = { id, after: all.at(-1)?.seq ?? after, limit: 1000 };
      const { items } = await this.client.request<{ items: Entry[] }>("lares/conversations/entries", given);
      all.push(...items);
      if (items.length < given.limit) return all;
    }
  }

  /** Waits until nothing works in the conversation, and all that the model was told to do is done. */
  rested(id: string, states: readonly string[] = ["WaitingForInput", "Done"]): Promise<Entry[]> {
    return until(`the conversation to rest as ${states.join(" or ")}`, async () => {
      const { processes } = await this.get(id);
      const isAtRest = processes.every(({ state }) => states.includes(state));
      return isAtRest && (this.#steps.get("channel") ?? []).length === 0 && (await this.entries(id));
    });
  }

  /** Runs an attack to its end and returns the results of its calls. */
  async results(channel: readonly Step[], others: Partial<Record<ProcessKind, readonly Step[]>> = {}) {
    const id = await this.attack(channel, others);
    await until("the first request", () => this.requests.length > 0);
    const entries = await this.rested(id);
    return { id, entries, results: resultsOf(entries) };
  }

  /** Has a new conversation make one call. Returns the result, and the sources that the conversation has then. */
  async told(call: WireCall): Promise<[result: string, sources: readonly string[]]> {
    const { id, results } = await this.results([{ calls: [call] }]);
    return [JSON.stringify(results), (await this.get(id)).tainted];
  }

  /** Calls a tool as the person, of a guest that has read nothing yet, and ends the guest. */
  async alone(agent: string, name: string, args: object = {}): Promise<unknown> {
    const { value } = await this.client.request<{ value?: unknown }>("lares/tools/call", {
      agent,
      name,
      arguments: args,
    });
    await this.reload(agent);
    return value;
  }

  /** Ends an agent's guest, and with it what that had read. */
  async reload(id: string): Promise<void> {
    await this.client.request("lares/agents/control", { id, command: "reload" });
  }

  /** Has the conversation answer one more message, and the kernel its status. */
  async livesOn(id: string): Promise<void> {
    // What came before may be large.
    const { seq } = await this.get(id);
    await this.next(id, [{ say: "It goes on." }], {}, "Do you still hear me?");
    await until("the next answer", async () =>
      answersIn(await this.entries(id, seq)).includes("It goes on."),
    );
    await this.bench.status(this.client);
  }

  /** Bytes of memory that the kernel has; 0 where the system does not say it. */
  async resident(): Promise<number> {
    const { pid } = await this.bench.status(this.client);
    if (process.platform !== "linux") return 0;
    return Number(/^VmRSS:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bench[Symbol.asyncDispose]();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export const resultsOf = (entries: readonly Entry[]): ToolResult[] =>
  entries.flatMap((entry) => (entry.kind === "tool_result" ? [entry.result] : []));
export const answersIn = (entries: readonly Entry[]): string[] =>
  entries
    .filter((entry): entry is EntryOf<"message"> => entry.kind === "message")
    .filter(({ role, partial }) => role === "assistant" && partial !== true)
    .map(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""));

interface Wire {
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

function readRequest(text: string): WireRequest {
  const { messages, tools = [] } = JSON.parse(text) as Wire;
  return {
    kind: kinds.find((kind) => text.includes(`THE PROCESS IS A ${kind}.`)) ?? "channel",
    text,
    messages: messages.map(({ role, content }) => ({
      role,
      content: Array.isArray(content)
        ? content.map((part: { text?: string }) => part.text ?? "").join("\n")
        : typeof content === "string"
          ? content
          : "",
    })),
    tools: tools.map(({ function: { name } }) => name),
  };
}

function answer(step: Step, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const write = (delta: object, finish: string | null = null): boolean =>
    response.write(
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    );
  const given = typeof step === "function" ? step(write, response) : step;
  if (given === undefined) return;
  if (given instanceof Promise) {
    void given.then((then) => writeAnswer(then, write, response));
    return;
  }
  writeAnswer(given, write, response);
}

function writeAnswer(
  { think, say, calls = [] }: WireAnswer,
  write: (delta: object, finish?: string | null) => boolean,
  response: ServerResponse,
): void {
  if (think !== undefined) write({ reasoning_content: think });
  if (say !== undefined) write({ content: say });
  for (const [index, { name, given: args, id = `c${index}` }] of calls.entries())
    write({
      tool_calls: [
        {
          index,
          id,
          type: "function",
          function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
        },
      ],
    });
  write({}, calls.length > 0 ? "tool_calls" : "stop");
  response.end("data: [DONE]\n\n");
}
