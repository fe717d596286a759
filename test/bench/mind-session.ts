/** Conversations as a person has them: a front, a kernel, a mind that follows a script, a client that follows. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import type { Conversation, Entry } from "../../kernel/src/base/vocabulary/conversation.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { noModels } from "../support/no-models.ts";
import { until } from "../support/until.ts";
import { hear } from "./bed.ts";

const MIND = "bench.mind";
/** Maximum number of conversations that one client follows here; the kernel allows 64. */
const maxFollowed = 50;

interface MindSessionSpec {
  /** The file of a scripted provider. */
  readonly script: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Further keys of the person's `models:`; the provider `script` is there. */
  readonly models?: { readonly providers?: object; readonly routes?: object; readonly budgets?: object };
}

/** The readings of the kernel's watch since the last ones. */
interface KernelWatch {
  readonly p99Ms: number;
  readonly worstMs: number;
  /** CPU time of a turn of the loop. */
  readonly turnP99Ms: number;
  readonly turnWorstMs: number;
  /** After a collection. */
  readonly heapBytes: number;
}

export interface DiskUse {
  /** Bytes that the kernel had the system write to the disk. */
  readonly writtenBytes: number;
  /** Calls of fsync and fdatasync; null if they cannot be counted. */
  readonly flushes: number | null;
}

/** The part of a conversation that a client has seen. */
export interface Followed {
  readonly id: string;
  readonly entries: Entry[];
}

interface Watched extends Followed {
  readonly client: Client;
  /** The process that talks to the person. */
  readonly channel: string;
  delta: ((at: number) => void) | null;
  rested: ((at: number) => void) | null;
}

export class MindSession implements AsyncDisposable {
  readonly bench: Bench;
  /** The first client; further ones come with more conversations than one client may follow. */
  readonly client: Client;
  readonly kernelPid: number;
  readonly #environment: NodeJS.ProcessEnv;
  /** The conversations that each client follows, by subscription id. Ids are unique only within a client. */
  readonly #clients = new Map<Client, Map<string, Watched>>();
  readonly #watch: string;
  readonly #followed = new Map<string, Watched>();

  private constructor(bench: Bench, environment: NodeJS.ProcessEnv, client: Client, kernelPid: number) {
    this.bench = bench;
    this.client = client;
    this.kernelPid = kernelPid;
    this.#environment = environment;
    this.#watch = join(bench.base, "watch");
    this.#add(client);
  }

  #add(client: Client): void {
    const bySubscription = new Map<string, Watched>();
    this.#clients.set(client, bySubscription);
    hear(client, "lares/conversations/delta", (params) => {
      const { subscription, process: from } = params as Record<"subscription" | "process", string>;
      const followed = bySubscription.get(subscription);
      if (followed?.channel === from) followed.delta?.(performance.now());
    });
    hear(client, "lares/conversations/entry", (params) => {
      const { entry } = params as { readonly entry: Entry };
      const followed = this.#followed.get(entry.conversation);
      followed?.entries.push(entry);
      const isRest =
        entry.kind === "process" && entry.value.kind === "channel" && entry.value.state === "WaitingForInput";
      if (isRest) followed?.rested?.(performance.now());
    });
  }

  static async open({ script, files = {}, models = {} }: MindSessionSpec): Promise<MindSession> {
    const bench = await Bench.create({
      files,
      extensions: [
        {
          id: MIND,
          manifest: {
            name: "A mind",
            permissions: { use_models: [{ category: "chat" }], read_entries: true },
            mind: { tools: ["files/*"], direct_tools: ["files/read"] },
          },
        },
      ],
    });
    try {
      const config = join(bench.base, "config", "lares");
      await mkdir(config, { recursive: true });
      await writeFile(join(config, "script.yaml"), script);
      const providers = { script: { api: "scripted", script: "script.yaml" }, ...models.providers };
      const routes = { default: "script/script", ...models.routes };
      await writeFile(
        join(config, "lares.yaml"),
        JSON.stringify({ version: 1, models: { ...models, providers, routes } }),
      );
      const environment = {
        ...noModels,
        XDG_CONFIG_HOME: join(bench.base, "config"),
        NODE_OPTIONS: `--import=${new URL("../support/kernel-watch.mjs", import.meta.url).href}`,
        LARES_KERNEL_WATCH: join(bench.base, "watch"),
      };
      const client = await bench.open({ environment });
      return new MindSession(bench, environment, client, (await bench.status(client)).pid);
    } catch (error) {
      await bench[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Begins a conversation and follows it. */
  async begin(): Promise<Followed> {
    const client = await this.#clientWithRoom();
    const { id, processes } = await client.request<Conversation>("lares/conversations/open", {
      agent: MIND,
    });
    const channel = processes.find(({ kind }) => kind === "channel")?.id ?? "";
    const followed: Watched = { client, id, channel, entries: [], delta: null, rested: null };
    this.#followed.set(id, followed);
    const { subscription } = await client.request<{ readonly subscription: string }>(
      "lares/conversations/follow",
      { id },
    );
    this.#clients.get(client)?.set(subscription, followed);
    return followed;
  }

  async #clientWithRoom(): Promise<Client> {
    for (const [client, { size }] of this.#clients) if (size < maxFollowed) return client;
    const further = await this.bench.open({ environment: this.#environment });
    this.#add(further);
    return further;
  }

  /** Stops following a conversation: a client may follow only a limited number. */
  async leave(followed: Followed): Promise<void> {
    for (const [client, bySubscription] of this.#clients)
      for (const [subscription, { id }] of bySubscription) {
        if (id !== followed.id) continue;
        await client.request("lares/conversations/unfollow", { subscription });
        bySubscription.delete(subscription);
        this.#followed.delete(id);
      }
  }

  /** Milliseconds from a message to the first piece of its answer, and to the end of the turn. */
  async say({ id }: Followed, text: string): Promise<{ readonly first: number; readonly end: number }> {
    const followed = this.#followed.get(id);
    if (followed === undefined) throw new Error(`${id} is not followed.`);
    const first = new Promise<number>((resolve) => (followed.delta = resolve));
    const rested = new Promise<number>((resolve) => (followed.rested = resolve));
    const began = performance.now();
    await followed.client.request("lares/conversations/send", { id, text });
    const end = (await rested) - began;
    return { first: (await first) - began, end };
  }

  /** Bytes of a conversation's log. */
  async logBytes({ id }: Followed): Promise<number> {
    const { stateFolder } = await this.bench.status(this.client);
    const folder = join(stateFolder, "conversations", id, "log");
    const sizes = await Promise.all(
      (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  /** Returns how the kernel's loop did since the last call, and its heap after a collection. */
  async watched(): Promise<KernelWatch> {
    const lines = async (): Promise<string[]> =>
      (await readFile(this.#watch, "utf8").catch(() => "")).split("\n").slice(0, -1);
    const before = (await lines()).length;
    process.kill(this.kernelPid, "SIGUSR2");
    const line = await until("the kernel's watch", async () => (await lines())[before] ?? false);
    return JSON.parse(line) as KernelWatch;
  }

  /** Runs `work` and returns what the kernel did to the disk meanwhile. */
  async diskUseOf(work: () => Promise<unknown>): Promise<DiskUse> {
    const written = (): number =>
      Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${this.kernelPid}/io`, "utf8"))?.[1]);
    const flushes = await FlushCount.of(this.kernelPid, join(this.bench.base, "flushes"));
    const before = written();
    await work();
    return { writtenBytes: written() - before, flushes: (await flushes?.end()) ?? null };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.bench[Symbol.asyncDispose]();
  }
}

/** Counts a process's flushes with strace, which sees those of SQLite as well. */
class FlushCount {
  readonly #strace: ChildProcess;
  readonly #path: string;

  private constructor(strace: ChildProcess, path: string) {
    this.#strace = strace;
    this.#path = path;
  }

  /** Returns null if strace is missing, or may not look into the process. */
  static async of(pid: number, path: string): Promise<FlushCount | null> {
    const strace = spawn("strace", ["-f", "-e", "trace=fsync,fdatasync", "-o", path, "-p", String(pid)], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    const attached = new Promise<boolean>((resolve) => {
      strace.once("error", () => resolve(false));
      strace.once("exit", () => resolve(false));
      let said = "";
      strace.stderr?.on("data", (bytes: Buffer) => {
        said += bytes.toString();
        if (said.includes("attached")) resolve(true);
      });
    });
    return (await attached) ? new FlushCount(strace, path) : null;
  }

  async end(): Promise<number> {
    const ended = once(this.#strace, "exit");
    this.#strace.kill("SIGINT");
    await ended;
    const lines = (await readFile(this.#path, "utf8")).split("\n");
    return lines.filter((line) => /\bf(?:data)?sync\(/.test(line)).length;
  }
}
