/** A language model's answers in a session as a person has it: a front, a kernel, its egress host, an agent that asks. */
import { noModels } from "../support/no-models.ts";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commandLineOf, familyOf } from "../fault/support/processes.ts";
import { Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { frame } from "../support/frames.ts";
import { until } from "../support/until.ts";
import { cpuTimeMs } from "./bed.ts";
import { pause } from "./figure.ts";

const agent = "dev.bench.asker";
const program = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({
  tools: { ask: async ({ prompt, category }, ctx) => (await ctx.ai.generate({ prompt, category })).text.length },
});
`;

/** Processor time in milliseconds; the parts are 0 where no such process runs. */
interface StreamCost {
  readonly egressMs: number;
  readonly kernelMs: number;
  readonly frontMs: number;
  readonly seconds: number;
}

/** The first tokens of a kernel that was just started. */
export interface FirstTokens {
  /** Milliseconds in the kernel from each question to its first token. */
  readonly times: readonly number[];
  /** Processor time for the first one in milliseconds; the egress host's from its start on. */
  readonly kernelMs: number;
  readonly egressMs: number;
}

export class ModelSession implements AsyncDisposable {
  readonly #bench: Bench;
  readonly #executable: string | undefined;

  private constructor(bench: Bench, executable: string | undefined) {
    this.#bench = bench;
    this.#executable = executable;
  }

  /** `host`: an OpenAI-compatible provider's; the route "editor" leads to the client's own model. */
  static async open(host: string, executable?: string): Promise<ModelSession> {
    const bench = await Bench.create({
      extensions: [
        {
          id: agent,
          program,
          manifest: {
            tools: [{ name: "ask", description: "Asks", handler: "ask", parameters: { type: "object" } }],
            permissions: { use_models: [{ category: "chat" }, { category: "editor" }] },
          },
        },
      ],
    });
    const config = join(bench.base, "config", "lares");
    await mkdir(config, { recursive: true });
    const providers = {
      lab: { api: "openai-compatible", base_url: `http://${host}/v1` },
      editor: { api: "editor" },
    };
    const models = {
      providers,
      routes: { default: "lab/m", editor: "editor/m" },
      budgets: { per_day_tokens: 100_000_000 },
    };
    await writeFile(join(config, "lares.yaml"), JSON.stringify({ version: 1, models }));
    return new ModelSession(bench, executable);
  }

  /** Asks so many questions one after the other. Budgets are counted, as they are for everybody. */
  async firstTokensOfNewKernel(count = 1): Promise<FirstTokens> {
    const client = await this.#connect();
    const { pid } = await this.#bench.ready(client);
    const times: number[] = [];
    const before = cpuTimeMs(pid);
    let [kernelMs, egressMs] = [0, 0];
    for (let asked = 0; asked < count; asked++) {
      const { first_token_ms: ms, error } = await client.request<{
        readonly first_token_ms?: number;
        readonly error?: { readonly message: string };
      }>("lares/models/test", { model: "lab/m" });
      if (ms === undefined) throw new Error(error?.message);
      times.push(ms);
      if (asked > 0) continue;
      kernelMs = cpuTimeMs(pid) - before;
      egressMs = egressHostsOf(pid).reduce((sum, host) => sum + cpuTimeMs(host), 0);
    }
    await client.shutdown();
    await until("the kernel to end", () => familyOf(pid).length === 0);
    return { times, kernelMs, egressMs };
  }

  /** What an answer of the provider costs, in which `prompt` asks for so many characters. */
  async costOfProvider(prompt: string, characters: number): Promise<StreamCost> {
    const client = await this.#connect();
    await this.#bench.ready(client);
    return await this.#cost(client, { prompt, category: "chat" }, characters);
  }

  /** What an answer of the editor's own model costs, with so many deltas, as many of them a second. */
  async costOfEditor(deltas: number, perSecond: number): Promise<StreamCost> {
    const client = await this.#connect({ experimental: { lares: { languageModels: true } } });
    client.answer = (request) => {
      if (request.method === "lares/models/offered") return { models: [{ id: "m" }] };
      if (request.method !== "lares/models/generate") return null;
      const { partialResultToken: token } = request["params"] as { readonly partialResultToken: string };
      void play(client, token, deltas, perSecond).then(() =>
        client.reply(request, { result: { finish: "stop" } }),
      );
      return undefined;
    };
    await this.#bench.ready(client);
    return await this.#cost(client, { prompt: "hello", category: "editor" }, deltas * word.length);
  }

  async #cost(client: Client, question: object, characters: number): Promise<StreamCost> {
    const { pid: kernel } = await this.#bench.status(client);
    // The first request includes loading and compiling, which no delta causes.
    await tool(client, agent, "ask", question);
    const front = client.process.pid ?? 0;
    const [egress] = egressHostsOf(kernel);
    const used = (): readonly number[] => [
      egress === undefined ? 0 : cpuTimeMs(egress),
      cpuTimeMs(kernel),
      cpuTimeMs(front),
    ];
    const [before, began] = [used(), performance.now()];
    const length = await tool<number>(client, agent, "ask", question);
    const seconds = (performance.now() - began) / 1000;
    if (length !== characters) throw new Error(`${length} of ${characters} characters came.`);
    const [egressMs = 0, kernelMs = 0, frontMs = 0] = used().map((ms, at) => ms - (before[at] ?? 0));
    await client.shutdown();
    return { egressMs, kernelMs, frontMs, seconds };
  }

  #connect(capabilities: object = {}): Promise<Client> {
    const environment = {
      XDG_CONFIG_HOME: join(this.#bench.base, "config"),
      ...noModels,
    };
    const executable = this.#executable === undefined ? {} : { executable: this.#executable };
    return this.#bench.connect({ trusted: true, environment, capabilities, ...executable });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#bench[Symbol.asyncDispose]();
  }
}

function egressHostsOf(kernel: number): readonly number[] {
  return familyOf(kernel).filter((pid) => commandLineOf(pid).includes("egress/host/host-process"));
}

const word = "word ";

/** Says so many words as an editor does, each in a message of its own. */
async function play(client: Client, token: string, deltas: number, perSecond: number): Promise<void> {
  const one = frame({ jsonrpc: "2.0", method: "$/progress", params: { token, value: { text: word } } });
  const began = performance.now();
  for (let sent = 0; sent < deltas;) {
    const due = Math.min(deltas, Math.floor(((performance.now() - began) / 1000) * perSecond));
    if (due > sent) client.write(Buffer.concat(Array.from({ length: due - sent }, () => one)));
    sent = Math.max(sent, due);
    await pause(1);
  }
}
