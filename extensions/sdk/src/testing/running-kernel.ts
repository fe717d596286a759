import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { LaresError } from "../errors.ts";
import type { Action } from "../types/action.ts";
import type { EntryPage } from "../types/entry.ts";
import type { KernelConnection } from "./kernel-connection.ts";
import type { KernelPlace } from "./kernel-place.ts";
import type {
  ActionQuery,
  AgentStatus,
  Approval,
  KernelStatus,
  ToolResult,
  TraceEntry,
  TraceQuery,
} from "./kernel-types.ts";

/** The default timeout of waiting for a condition, in milliseconds. */
const defaultTimeoutMs = 30_000;
const pollMs = 25;
/** How often idle must be observed in a row, because there is a moment of rest between a change and its event. */
const idleLooks = 4;
/** A written file that is not in the index after this time is excluded from it. */
const noticeMs = 5000;
/** The time in which a kernel without clients must end before it is killed. */
const endTimeoutMs = 10_000;
/** The number of traces shown with a condition that was never met. */
const tracesShown = 8;

export interface WaitOptions {
  /** Default: 30,000. */
  readonly timeoutMs?: number;
}

/** A kernel with the extension under test. Disposing it ends the kernel and removes everything temporary. */
export class RunningKernel implements AsyncDisposable {
  readonly #place: KernelPlace;
  readonly #connection: KernelConnection;
  #agentId = "";
  #pid: number | null = null;
  /** Written files that are not in the index yet: their paths and times, in milliseconds since 1970. */
  readonly #unnoticed = new Map<string, number>();

  /** Use `runInKernel`. */
  constructor(place: KernelPlace, connection: KernelConnection) {
    this.#place = place;
    this.#connection = connection;
  }

  /** Absolute path of the kernel's workspace. */
  get workspace(): string {
    return this.#place.workspace;
  }

  async start(): Promise<void> {
    await this.#connection.open(this.workspace);
    await this.waitFor(async () => (await this.status()).ready);
    this.#agentId = await this.#findAgent();
  }

  async status(): Promise<KernelStatus> {
    const status = await this.#connection.request<KernelStatus>("lares/status");
    this.#pid = status.pid;
    return status;
  }

  /** The agent under test. */
  async agent(): Promise<AgentStatus> {
    const agents = await this.#connection.request<AgentStatus[]>("lares/agents/list");
    const found = agents.find(({ id }) => id === this.#agentId);
    if (found === undefined) throw new Error(`The agent ${this.#agentId} is no longer there.`);
    return found;
  }

  /** Writes a file of the workspace, and creates the folders above it, as a person with an editor would. */
  async write(path: string, content: string | Uint8Array): Promise<void> {
    const absolute = this.#inside(path);
    await mkdir(dirname(absolute), { recursive: true });
    await writeFile(absolute, content);
    this.#unnoticed.set(relative(this.workspace, absolute).split(sep).join("/"), Date.now());
  }

  /** Reads a file of the workspace as text; null if there is none. */
  async read(path: string): Promise<string | null> {
    try {
      return await readFile(this.#inside(path), "utf8");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw error;
    }
  }

  /** Calls a tool of the agent, or "other.agent/tool". Returns its value; throws its error (`ToolError`). */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the test says what the tool answers
  async call<Value = unknown>(tool: string, args: Readonly<Record<string, unknown>> = {}): Promise<Value> {
    const slash = tool.indexOf("/");
    const agent = slash === -1 ? this.#agentId : tool.slice(0, slash);
    const result = await this.#connection.request<ToolResult>("lares/tools/call", {
      agent,
      name: tool.slice(slash + 1),
      arguments: args,
    });
    if (result.status === "success") return result.value as Value;
    if (result.status === "error")
      throw new LaresError("ToolError", result.message, { tool, recoverable: result.recoverable });
    throw new LaresError("ToolError", `${tool} waits for approval: ${result.reason}`, {
      tool,
      recoverable: true,
      action: result.action,
    });
  }

  /** Newest first. */
  traces(query: TraceQuery = {}): Promise<TraceEntry[]> {
    return this.#connection.request("lares/traces/query", query);
  }

  /** Newest first; without diffs, which `action` has. */
  actions(query: ActionQuery = {}): Promise<Action[]> {
    return this.#connection.request("lares/actions/list", query);
  }

  action(id: string): Promise<Action> {
    return this.#connection.request("lares/actions/get", { id });
  }

  /** Approves the current action. Resolves when it has ended: `Committed`, `Stale` or `Failed`. */
  async approve(id: string, approval: Approval = {}): Promise<Action> {
    const { digest } = await this.action(id);
    return this.#connection.request("lares/actions/approve", { id, digest, ...approval });
  }

  reject(id: string, reason?: string): Promise<Action> {
    return this.#connection.request("lares/actions/reject", reason === undefined ? { id } : { id, reason });
  }

  /** Undoes a committed action; rejects with `Stale` if its files have changed since. */
  undo(id: string): Promise<Action> {
    return this.#connection.request("lares/actions/undo", { id });
  }

  /** Polls until the result is neither false, null nor undefined, and returns it. */
  async waitFor<Value>(
    condition: () => Value | Promise<Value>,
    { timeoutMs = defaultTimeoutMs }: WaitOptions = {},
  ): Promise<Exclude<Value, false | null | undefined>> {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const answer = await condition();
      if (answer !== false && answer !== null && answer !== undefined)
        return answer as Exclude<Value, false | null | undefined>;
      if (performance.now() > end) throw new Error(await this.#whyNot(condition, timeoutMs));
      await pause(pollMs);
    }
  }

  /** Resolves when all written files are in the index and every agent is idle with an empty inbox. */
  async idle(options: WaitOptions = {}): Promise<void> {
    let looks = 0;
    await this.waitFor(async () => {
      const { ready, idle } = await this.status();
      looks = (await this.#hasNoticedAll()) && ready && idle ? looks + 1 : 0;
      return looks >= idleLooks;
    }, options);
  }

  async #hasNoticedAll(): Promise<boolean> {
    for (const [path, writtenMs] of this.#unnoticed) {
      if (await this.#isIndexed(path)) this.#unnoticed.delete(path);
      else if (Date.now() - writtenMs > noticeMs) this.#unnoticed.delete(path);
    }
    return this.#unnoticed.size === 0;
  }

  /** Returns true if the index has the file as it is on disk. */
  async #isIndexed(path: string): Promise<boolean> {
    const onDisk = await stat(this.#inside(path)).catch(() => null);
    if (onDisk === null) return true;
    const { items } = await this.#connection.request<EntryPage>("lares/entries/query", {
      text: path.slice(path.lastIndexOf("/") + 1),
      limit: 1000,
    });
    const entry = items.find((one) => one.path === path);
    return entry?.size === onDisk.size && Date.parse(entry.modified) >= Math.floor(onDisk.mtimeMs);
  }

  /** Returns the agent whose id the extension's manifest names. */
  async #findAgent(): Promise<string> {
    const agents = await this.#connection.request<AgentStatus[]>("lares/agents/list");
    const { manifest } = this.#place;
    const text = await readFile(manifest, "utf8");
    const found = agents.find(({ id }) =>
      new RegExp(`\\bid"?\\s*[:=]\\s*["']?${id.replaceAll(".", "\\.")}(?![\\w.-])`).test(text),
    );
    if (found !== undefined) return found.id;
    throw new Error(
      `The kernel found no extension in ${manifest}. Run lares check to see what is wrong with it.`,
    );
  }

  #inside(path: string): string {
    const absolute = resolve(this.workspace, path);
    if (isAbsolute(path) || !absolute.startsWith(this.workspace + sep))
      throw new Error(`"${path}" is not a path in the workspace; write it relative, as in notes/a.md.`);
    return absolute;
  }

  async #whyNot(condition: () => unknown, timeoutMs: number): Promise<string> {
    const traces = await this.traces({ limit: tracesShown });
    const lines = traces.toReversed().map(({ level, agent, message }) => `  ${level} ${agent}: ${message}`);
    return [`Not true within ${timeoutMs} ms: ${String(condition)}`, "The last traces:", ...lines].join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection[Symbol.asyncDispose]();
    if (this.#pid !== null) {
      // A copy is discarded, so its kernel need not shut down in order.
      if (this.#place.isCopy) signal(this.#pid, "SIGKILL");
      await ended(this.#pid);
    }
    await this.#place[Symbol.asyncDispose]();
  }
}

/** Resolves when the process has ended; kills it after a timeout. */
async function ended(pid: number): Promise<void> {
  const end = performance.now() + endTimeoutMs;
  while (signal(pid, 0) && performance.now() < end) await pause(pollMs);
  signal(pid, "SIGKILL");
}

/** Returns false if there is no such process. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}
