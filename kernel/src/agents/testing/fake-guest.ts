import type { Foreign } from "../../base/vocabulary/foreign.ts";
import { unlimitedCpu } from "../../base/cpu-budget.ts";
import { Emitter } from "../../base/emitter.ts";
import { LaresError, requestCancelled } from "../../base/errors.ts";
import type {
  AgentDefinition,
  Delivery,
  DeliveryQueue,
  GuestEnd,
  GuestHandlers,
  AgentSession,
} from "../ports.ts";

/** The answer of a fake guest: a value, an error to reject with, or a promise that the test controls. */
export type Behaviour = (method: string, params: Record<string, unknown>, guest: FakeGuest) => unknown;

export class FakeGuest implements AgentSession {
  readonly usage = new Emitter<{ cpuTimeMs: number; memoryBytes: number }>();
  readonly ended: Promise<GuestEnd>;
  readonly asked: { method: string; params: Record<string, unknown> }[] = [];
  readonly handlers: GuestHandlers;
  readonly #behaviour: Behaviour;
  readonly #gone = new AbortController();
  readonly gone = this.#gone.signal;
  readonly #open = new Set<(error: unknown) => void>();
  #end: (end: GuestEnd) => void = () => undefined;
  isGone = false;
  /** How often its time limit was restarted. */
  budgets = 0;

  constructor(handlers: GuestHandlers, behaviour: Behaviour) {
    this.handlers = handlers;
    this.#behaviour = behaviour;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    void this.ended.then(() => this.#gone.abort(requestCancelled("It is gone.")));
  }

  request(method: string, params: unknown): Promise<unknown> {
    const record = params as Record<string, unknown>;
    this.asked.push({ method, params: record });
    if (this.isGone) return Promise.reject(gone());
    return new Promise((resolve, reject) => {
      this.#open.add(reject);
      Promise.resolve()
        .then(() => this.#behaviour(method, record, this))
        .then(resolve, reject)
        .finally(() => this.#open.delete(reject));
    });
  }

  /** The guest ends unexpectedly: open requests fail, as when a process dies. */
  die(reason: string, isSandboxFault = false): void {
    if (this.isGone) return;
    this.isGone = true;
    for (const reject of this.#open) reject(gone());
    this.#end({ reason, isSandboxFault });
  }

  readonly cpu = unlimitedCpu;

  restartBudget(): void {
    this.budgets += 1;
  }

  async kill(): Promise<void> {
    this.die("ended by the kernel");
  }
}

function gone(): LaresError {
  return new LaresError("AgentError", "The guest ended.", { state: "Unloaded", reason: "ended" });
}

/** The durable queue's contract, in memory. */
export class FakeQueue implements DeliveryQueue {
  readonly items: (Delivery & { dueAt: number })[] = [];
  readonly acknowledged: number[] = [];
  readonly buried: { seq: number; reason: string }[] = [];
  /** Thrown in order by the next reads. */
  readFaults: Error[] = [];
  readonly #now: () => number;
  #seq = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The total number of jobs; they are numbered from 1. */
  get pushed(): number {
    return this.#seq;
  }

  push(handler: string, name = "EntryCreated", foreign?: Foreign): number {
    this.#seq += 1;
    const event = {
      id: `event-${this.#seq}`,
      name,
      timestamp: "2026-11-20T12:00:00.000Z",
      ...(name.startsWith("Entry") ? { entry: { path: "notes/a.md", kind: "file" } } : {}),
    };
    this.items.push({
      seq: this.#seq,
      attempts: 0,
      dueAt: 0,
      payload: { handler, event, ...(foreign === undefined ? {} : { foreign }) },
    });
    return this.#seq;
  }

  async next(_agent: string, isInHand: (seq: number) => boolean): Promise<Delivery | null> {
    const fault = this.readFaults.shift();
    if (fault !== undefined) throw fault;
    const first = this.items.find(({ seq }) => !isInHand(seq));
    return first !== undefined && first.dueAt <= this.#now() ? first : null;
  }

  nextDueAt(): number | null {
    return this.items[0]?.dueAt ?? null;
  }

  depth(): number {
    return this.items.length;
  }

  from(): { count: number; bytes: number } {
    return { count: 0, bytes: 0 };
  }

  acknowledge(_agent: string, seq: number): void {
    this.acknowledged.push(seq);
    this.#remove(seq);
  }

  async retryLater(_agent: string, seq: number, dueAt: number): Promise<void> {
    const index = this.items.findIndex((item) => item.seq === seq);
    const item = this.items[index];
    if (item !== undefined) this.items[index] = { ...item, attempts: item.attempts + 1, dueAt };
  }

  async deadLetter(_agent: string, seq: number, reason: string): Promise<void> {
    this.buried.push({ seq, reason });
    this.#remove(seq);
  }

  #remove(seq: number): void {
    this.items.splice(
      this.items.findIndex((item) => item.seq === seq),
      1,
    );
  }
}

const authority = {
  extension: "dev.test.agent",
  requested: { read_entries: true },
  effective: { read_entries: true },
  denied: [],
  locations: ["."],
  protectedPaths: [],
  forbiddenPaths: [],
  memory: false,
  namespaces: {},
} as const;

export function definitionOf(change: Partial<AgentDefinition> = {}): AgentDefinition {
  return {
    id: "dev.test.agent",
    name: "Test",
    version: "1.0.0",
    enabled: true,
    activation: "on_event",
    hooks: [{ handler: "seen", on: "EntryCreated", accepts: () => ({ passed: true }) }],
    tools: [{ name: "count", description: "", handler: "count", parameters: { type: "object" } }],
    authority: {
      ...authority,
      locations: ["."],
      denied: [],
      protectedPaths: [],
      forbiddenPaths: [],
      namespaces: {},
    },
    limits: {
      max_memory_mb: 64,
      max_storage_mb: 64,
      max_vectors: 1000,
      max_cpu_ms_per_event: 5000,
      max_wall_ms_per_event: 30000,
      max_events_per_second: 100,
    },
    config: {},
    concurrency: 2,
    memory: false,
    memoryRetentionDays: null,
    memoryPrune: null,
    traceLevel: "info",
    body: "guest",
    bundleDigest: `sha256:${"a".repeat(64)}`,
    ...change,
  };
}
