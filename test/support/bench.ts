import { lstat, mkdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client, type Exit } from "./client.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import type { Action, Agent, Status, ToolResult } from "./types.ts";
import { isAlive, until } from "./until.ts";

/** A person's grants for an extension in `lares.yaml`. */
export interface Grants {
  locations?: readonly string[];
  allow?: readonly string[];
  deny?: readonly string[];
}

/** An extension as the bench writes it: a manifest, a program and more files beside it. */
export interface ExtensionSpec {
  readonly id: string;
  readonly manifest?: Record<string, unknown>;
  /** Text of `agent.ts`, or other files by name. */
  readonly program?: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly grants?: Grants;
  readonly config?: Record<string, unknown>;
}

export interface BenchSpec {
  /** The state folder, relative to the workspace; beside it by default. */
  readonly home?: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly extensions?: readonly ExtensionSpec[];
  /** Further keys of `lares.yaml`. */
  readonly lares?: Record<string, unknown>;
}

export interface ConnectOptions {
  readonly trusted?: boolean;
  readonly approvals?: "client" | "showMessageRequest" | "none";
  /** The channels in which it can show notifications. */
  readonly notifications?: readonly string[];
  /** `ClientCapabilities`; none by default. */
  readonly capabilities?: object;
  readonly args?: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** Another executable than the checkout's. */
  readonly executable?: string;
  /** Another Node than this one. */
  readonly node?: string;
  /** Options for the front's channel; "--stdio" by default. */
  readonly channel?: readonly string[];
}

/** A workspace, its extensions and a state folder, all temporary; ends every kernel that it saw. */
export class Bench implements AsyncDisposable {
  readonly base: string;
  readonly root: string;
  readonly home: string;
  readonly #folder: TemporaryFolder;
  readonly #spec: BenchSpec;
  readonly #clients: Client[] = [];
  readonly #kernels = new Set<number>();
  #replaced = 0;
  /** Each extension as it was written last. */
  readonly #extensions = new Map<
    string,
    { readonly manifest: string; readonly program: string | undefined; readonly changes: number }
  >();

  private constructor(folder: TemporaryFolder, spec: BenchSpec) {
    this.#folder = folder;
    this.base = folder.path;
    this.root = join(this.base, "workspace");
    this.home = spec.home === undefined ? join(this.base, "home") : join(this.root, spec.home);
    this.#spec = spec;
  }

  static async create(spec: BenchSpec = {}): Promise<Bench> {
    const bench = new Bench(await TemporaryFolder.create("lares-protocol-"), spec);
    await mkdir(bench.root, { recursive: true });
    await mkdir(bench.home, { recursive: true });
    for (const [path, content] of Object.entries(spec.files ?? {})) await bench.write(path, content);
    for (const extension of spec.extensions ?? []) await bench.writeExtension(extension);
    await bench.writeLares();
    return bench;
  }

  path(relative: string): string {
    return join(this.root, relative);
  }

  uri(relative: string): string {
    return pathToFileURL(this.path(relative)).href;
  }

  /**
   * Writes a file. One that is new comes in one step: an agent that reads it on its creation would otherwise find it empty. So does
   * `lares.yaml`: a kernel that reads half of it would end the agents for a moment.
   */
  async write(relative: string, content: string | Uint8Array): Promise<void> {
    const path = this.path(relative);
    await mkdir(dirname(path), { recursive: true });
    const exists = await lstat(path).then(
      () => true,
      () => false,
    );
    if (exists && basename(path) !== "lares.yaml") return writeFile(path, content);
    await this.writeWhole(relative, content);
  }

  /** Writes a file in one step, as editors save, so that no kernel sees it empty or in part. */
  writeWhole(relative: string, content: string | Uint8Array): Promise<void> {
    return this.#replace(this.path(relative), content);
  }

  async #replace(path: string, content: string | Uint8Array): Promise<void> {
    const half = join(this.base, `${++this.#replaced}.new`);
    await writeFile(half, content);
    await rename(half, path);
  }

  extensionFolder(id: string): string {
    return join(this.base, "extensions", id);
  }

  /**
   * Writes an extension. If both its manifest and its program change, the program gets a new name, and the manifest that
   * names it is written last, in one step: a kernel never reads half of a change, which a test would then accept instead
   * of the whole.
   */
  async writeExtension(spec: ExtensionSpec): Promise<void> {
    const folder = this.extensionFolder(spec.id);
    const written = { manifest: JSON.stringify(spec.manifest), program: spec.program };
    const before = this.#extensions.get(spec.id) ?? { ...written, changes: 0 };
    const isBoth = before.manifest !== written.manifest && before.program !== written.program;
    const changes = before.changes + (isBoth ? 1 : 0);
    this.#extensions.set(spec.id, { ...written, changes });
    const program = changes === 0 ? "agent.ts" : `agent-${changes}.ts`;
    const extension = { id: spec.id, name: spec.id, version: "1.0.0", ...spec.manifest };
    const main = spec.program === undefined || changes === 0 ? {} : { main: program };
    const manifest = { extension: { ...extension, ...main } };
    const files: Record<string, string | Uint8Array> = {
      ...(spec.program === undefined ? {} : { [program]: spec.program }),
      ...spec.files,
    };
    await mkdir(folder, { recursive: true });
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), content);
    }
    // JSON is YAML.
    await this.#replace(join(folder, "extension.yaml"), JSON.stringify(manifest, null, 2));
  }

  /** Writes `lares.yaml` from the bench's description, with grants of single extensions or other keys replaced. */
  async writeLares(
    changes: { grants?: Record<string, Grants>; keys?: Record<string, unknown> } = {},
  ): Promise<void> {
    const extensions = (this.#spec.extensions ?? []).map(({ id, grants, config }) => ({
      path: `../extensions/${id}`,
      grants: { locations: ["."], ...(changes.grants?.[id] ?? grants) },
      ...(config === undefined ? {} : { config }),
    }));
    const document = {
      version: 1,
      extensions,
      kernel: { linger: "1s" },
      ...this.#spec.lares,
      ...changes.keys,
    };
    await this.write("lares.yaml", JSON.stringify(document, null, 2));
  }

  /** Starts a front process; nothing has been sent to it. */
  spawn(options: ConnectOptions = {}): Client {
    const client = new Client({
      home: this.home,
      cwd: this.base,
      ...(options.args === undefined ? {} : { args: options.args }),
      ...(options.environment === undefined ? {} : { environment: options.environment }),
      ...(options.executable === undefined ? {} : { executable: options.executable }),
      ...(options.node === undefined ? {} : { node: options.node }),
      ...(options.channel === undefined ? {} : { channel: options.channel }),
    });
    this.#clients.push(client);
    return client;
  }

  initializeParams(options: ConnectOptions = {}): Record<string, unknown> {
    return {
      processId: process.pid,
      rootUri: pathToFileURL(this.root).href,
      capabilities: options.capabilities ?? {},
      initializationOptions: {
        lares: {
          ...(options.trusted === undefined ? {} : { trusted: options.trusted }),
          ...(options.approvals === undefined ? {} : { approvals: options.approvals }),
          ...(options.notifications === undefined ? {} : { notifications: options.notifications }),
        },
      },
    };
  }

  /** Connects a client that has sent `initialize` and `initialized`. */
  async connect(options: ConnectOptions = {}): Promise<Client> {
    const client = this.spawn(options);
    await client.request("initialize", this.initializeParams(options));
    client.notify("initialized", {});
    return client;
  }

  /** Connects a trusted client and waits until its kernel is ready. */
  async open(options: ConnectOptions = {}): Promise<Client> {
    const client = await this.connect({ trusted: true, ...options });
    await this.ready(client);
    return client;
  }

  async ready(client: Client): Promise<Status> {
    return until("lares/status ready", async () => {
      const status = await this.status(client);
      return status.ready && status;
    });
  }

  async status(client: Client): Promise<Status> {
    const status = await client.request<Status>("lares/status");
    this.#kernels.add(status.pid);
    return status;
  }

  /** Accepts the current documents, once the kernel has noticed that they differ from those of `digest`. */
  async accept(client: Client, digest: string): Promise<Status> {
    const changed = await until("another digest to accept", async () => {
      const { trust } = await this.status(client);
      return trust.digest !== digest && trust.digest;
    });
    return client.request<Status>("lares/trust", { trusted: true, digest: changed });
  }

  /** Kills a kernel that this bench started, and waits until it is gone. */
  async kill(pid: number): Promise<void> {
    if (isAlive(pid)) process.kill(pid, "SIGKILL");
    await until(`process ${pid} to end`, () => !isAlive(pid));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ends = await Promise.allSettled(this.#clients.map((client) => client[Symbol.asyncDispose]()));
    for (const pid of this.#kernels) await this.kill(pid);
    await this.#folder[Symbol.asyncDispose]();
    const failed = ends.find((end) => end.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
}

/** Returns the agent with this id from `lares/agents/list`. */
export async function agent(client: Client, id: string): Promise<Agent> {
  const found = (await client.request<Agent[]>("lares/agents/list")).find((each) => each.id === id);
  if (found === undefined) throw new Error(`no agent ${id} in lares/agents/list`);
  return found;
}

/** Waits until the agent is in one of these states. */
export function inState(client: Client, id: string, ...states: string[]): Promise<Agent> {
  return until(`${id} to be ${states.join(" or ")}`, async () => {
    const agents = await client.request<Agent[]>("lares/agents/list");
    const found = agents.find((each) => each.id === id);
    return found !== undefined && states.includes(found.state) && found;
  });
}

/** Calls a tool and returns its value; any other result fails the test. */
export async function tool<Value>(
  client: Client,
  id: string,
  name: string,
  parameters: object = {},
): Promise<Value> {
  const result = await client.request<ToolResult>("lares/tools/call", {
    agent: id,
    name,
    arguments: parameters,
  });
  if (result.status !== "success") throw new Error(`${id}/${name}: ${JSON.stringify(result)}`);
  return result.value as Value;
}

/** Waits until the action has one of these states, read by its id. */
export function actionIn(client: Client, id: string, ...states: string[]): Promise<Action> {
  return until(`action ${id} to be ${states.join(" or ")}`, async () => {
    const action = await client.request<Action>("lares/actions/get", { id });
    return states.includes(action.state) && action;
  });
}

/** Ends a front in order. */
export function leave(client: Client): Promise<Exit> {
  return client.shutdown();
}
