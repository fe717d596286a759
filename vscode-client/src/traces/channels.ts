import { commands, Disposable, window, type LogOutputChannel } from "vscode";
import { agentArgument } from "../deciding/arguments.ts";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { label } from "../model/text.ts";
import type { TraceEntry } from "../protocol.ts";
import { traceLine } from "./line.ts";
import { BoundedQueue } from "./queue.ts";

const flushMs = 100;
/** Entries written per flush, over all channels. */
export const maxPerFlush = 500;
/** Entries of one agent that wait for a flush. */
export const maxQueued = 1000;
/** The number of channels; traces of further agents are in the trace view and in the kernel's file. */
export const maxChannels = 100;
/** The number of older entries with which a new channel begins. */
const historyEntries = 100;

interface Channel {
  readonly output: LogOutputChannel;
  readonly queue: BoundedQueue<TraceEntry>;
}

/** One log channel per agent, created with its first trace. */
export class TraceChannels implements Disposable {
  readonly #context: Pick<ClientContext, "kernel" | "models">;
  readonly #channels = new Map<string, Channel>();
  readonly #listening: Disposable;
  #subscription: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDisposed = false;

  constructor(context: Pick<ClientContext, "kernel" | "models">) {
    this.#context = context;
    const { kernel, models } = context;
    this.#listening = Disposable.from(
      kernel.on("lares/traces/entry", ({ subscription, entry }) => {
        if (subscription === this.#subscription) this.#take(entry);
      }),
      kernel.onDidChangeState(({ kind }) => {
        if (kind === "running") void this.#follow();
      }),
      models.agents.onDidChange(() => this.#forgetRemoved()),
    );
    if (kernel.state.kind === "running") void this.#follow();
  }

  /** Shows an agent's channel; a new one begins with the latest entries. */
  async show(agent: string): Promise<void> {
    const known = this.#channels.get(agent);
    const channel = known ?? this.#open(agent);
    if (channel === undefined) {
      void window.showInformationMessage(
        `Lares: ${maxChannels} agents have a channel already; the traces of this one are in the trace view.`,
      );
      return;
    }
    channel.output.show(true);
    if (known !== undefined) return;
    const latest = await this.#context.kernel.request("lares/traces/query", { agent, limit: historyEntries });
    for (const entry of latest.toReversed()) write(channel.output, entry, true);
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    this.#listening.dispose();
    for (const { output } of this.#channels.values()) output.dispose();
    this.#channels.clear();
    if (this.#subscription !== undefined) void this.#unfollow(this.#subscription);
  }

  /** A subscription may be older than the current kernel; only entries of the newest one are accepted. */
  async #follow(): Promise<void> {
    const old = this.#subscription;
    try {
      const { subscription } = await this.#context.kernel.request("lares/traces/follow", { level: "debug" });
      this.#subscription = subscription;
      if (this.#isDisposed) await this.#unfollow(subscription);
      if (old !== undefined) await this.#unfollow(old);
    } catch {
      // The kernel is shutting down; this is called again when it runs.
      this.#subscription = undefined;
    }
  }

  async #unfollow(subscription: string): Promise<void> {
    try {
      await this.#context.kernel.request("lares/traces/unfollow", { subscription });
    } catch {
      // The subscription ended together with its kernel.
    }
  }

  #take(entry: TraceEntry): void {
    const channel = this.#channels.get(entry.agent) ?? this.#open(entry.agent);
    if (channel === undefined) return;
    channel.queue.push(entry);
    this.#timer ??= setTimeout(() => this.#flush(), flushMs);
  }

  #open(agent: string): Channel | undefined {
    if (this.#channels.size >= maxChannels) return undefined;
    // Named after the id, which is unique; two channels with the same name would share a log file.
    const output = window.createOutputChannel(`Lares: ${label(agent)}`, { log: true });
    const channel = { output, queue: new BoundedQueue<TraceEntry>(maxQueued) };
    this.#channels.set(agent, channel);
    return channel;
  }

  /** Every channel with entries gets its share, so that a loud agent does not starve the others. */
  #flush(): void {
    this.#timer = undefined;
    const busy = [...this.#channels.values()].filter(({ queue }) => queue.length > 0);
    const share = Math.max(1, Math.floor(maxPerFlush / Math.max(1, busy.length)));
    let hasMore = false;
    for (const { output, queue } of busy) {
      const { dropped, items } = queue.take(share);
      if (dropped > 0)
        output.info(
          `… ${dropped.toLocaleString("en")} earlier ${dropped === 1 ? "entry is" : "entries are"} in the kernel's trace file`,
        );
      for (const entry of items) write(output, entry);
      hasMore ||= queue.length > 0;
    }
    if (hasMore) this.#timer = setTimeout(() => this.#flush(), flushMs);
  }

  #forgetRemoved(): void {
    // Without a kernel, the list of agents is unknown.
    if (this.#context.kernel.state.kind !== "running") return;
    for (const [agent, { output }] of this.#channels) {
      if (this.#context.models.agents.get(agent) !== undefined) continue;
      output.dispose();
      this.#channels.delete(agent);
    }
  }
}

function write(output: LogOutputChannel, entry: TraceEntry, when = false): void {
  output[entry.level](traceLine(entry, when));
}

export const traceChannels: Feature = (context) => {
  const channels = new TraceChannels(context);
  return Disposable.from(
    channels,
    commands.registerCommand("lares.agentShowTraces", (given?: unknown) =>
      reporting("The traces cannot be shown", async () => {
        const agent = agentArgument(given) ?? (await pickAgent(context));
        if (agent !== undefined) await channels.show(agent);
      }),
    ),
  );
};

async function pickAgent({ models }: ClientContext): Promise<string | undefined> {
  const items = models.agents.all.map(({ id, name }) => ({ id, label: label(name), description: label(id) }));
  if (items.length === 0) {
    void window.showInformationMessage("Lares: no agent runs here.");
    return undefined;
  }
  const options = { title: "Show Traces", placeHolder: "Which agent?", matchOnDescription: true };
  return (await window.showQuickPick(items, options))?.id;
}
