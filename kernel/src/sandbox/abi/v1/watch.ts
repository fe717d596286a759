import type { Clock } from "../../../base/clock.ts";
import type { CpuBudget } from "../../../base/cpu-budget.ts";
import type { Emitter } from "../../../base/emitter.ts";
import { LaresError } from "../../../base/errors.ts";
import { isJsonObject } from "../../../base/json.ts";
import { abiBounds as bounds } from "./bounds.ts";
import type { GuestConnection, RequestChange } from "./connection.ts";

export interface WatchedLimits {
  readonly maxCpuMs: number;
  readonly maxWallMs: number;
}

export interface Usage {
  readonly cpuTimeMs: number;
  readonly memoryBytes: number;
  readonly isComputing: boolean;
}

/** Why a guest is terminated: the name of the limit in the manifest, its value, and a sentence for people. */
export interface LimitBreach {
  readonly limit: "max_cpu_ms_per_event" | "max_wall_ms_per_event" | "shutdown";
  readonly value: number;
  readonly sentence: string;
}

interface WatchOptions {
  readonly connection: Pick<GuestConnection, "request" | "requests" | "openCalls" | "abandon">;
  readonly usage: Emitter<Usage>;
  readonly exited: Promise<unknown>;
  readonly limits: WatchedLimits;
  readonly clock: Clock;
  /** Called once; the caller must then terminate the guest. */
  readonly onLimit: (breach: LimitBreach) => void;
}

interface Handling {
  readonly method: string;
  readonly call: string | undefined;
  startedAt: number;
  cpuAtStart: number;
  /** When a tool is checked next. */
  toolTimer: Disposable | null;
}

/**
 * Enforces a guest's time limits: CPU time while a request is open, waiting without a reason, and exiting after
 * `shutdown`. A tool or a named action that only waits for its own timers is abandoned without terminating the guest, because its caller
 * waits for the answer.
 */
export function watchGuest(options: WatchOptions): GuestWatch {
  return new GuestWatch(options);
}

/** Returns what a request asks of a guest, in words for people. */
function workOf(method: string): string {
  return Object.hasOwn(works, method) ? (works[method] ?? "") : `"${method}"`;
}

const works: Readonly<Record<string, string>> = {
  initialize: "its start",
  startup: "its onStartup",
  hook: "an event",
  tool: "a tool call",
  action: "a named action",
  job: "a job",
  task: "a task of its job",
  cancelJob: "the notice that its job was cancelled",
  cancelTool: "the notice that its tool's call was cancelled",
  permissionChange: "its onPermissionChange",
  shutdown: "its onShutdown",
};

const isTool = (method: string): boolean => method === "tool" || method === "action";

export class GuestWatch implements Disposable {
  readonly #options: WatchOptions;
  readonly #subscriptions: Disposable[];
  /** Unanswered requests, oldest first; the kernel's own `ping` does not count. */
  readonly #handling = new Map<number, Handling>();
  /** The guest's own usage, plus what was charged to it. */
  #usage: Usage = { cpuTimeMs: 0, memoryBytes: 0, isComputing: false };
  /** CPU time that others used on the guest's behalf. */
  #chargedMs = 0;
  #usageAt: number;
  /** CPU time used without an open request; drains with time. */
  #backgroundMs = 0;
  #wallTimer: Disposable | null = null;
  #graceTimer: Disposable | null = null;
  #isOver = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#usageAt = options.clock.monotonic();
    this.#subscriptions = [
      options.usage.on((usage) =>
        this.#hearUsage({ ...usage, cpuTimeMs: usage.cpuTimeMs + this.#chargedMs }),
      ),
      options.connection.requests.on((change) => this.#hearRequest(change)),
    ];
    void options.exited.then(() => this[Symbol.dispose]());
  }

  /** The CPU budget left for the oldest open request. Work done on the guest's behalf is charged to it. */
  get cpu(): CpuBudget {
    const { maxCpuMs } = this.#options.limits;
    return {
      limit: "max_cpu_ms_per_event",
      allowedMs: maxCpuMs,
      leftMs: () => {
        const oldest = this.#oldest();
        const spentMs = oldest === null ? this.#backgroundMs : this.#usage.cpuTimeMs - oldest.cpuAtStart;
        return this.#isOver ? 0 : Math.max(0, maxCpuMs - spentMs);
      },
      charge: (ms) => {
        if (this.#isOver) return;
        this.#chargedMs += ms;
        this.#hearUsage({ ...this.#usage, cpuTimeMs: this.#usage.cpuTimeMs + ms });
      },
    };
  }

  /** Restarts the time limits of the open requests. */
  restartBudget(): void {
    for (const handling of this.#handling.values()) {
      handling.startedAt = this.#now();
      handling.cpuAtStart = this.#usage.cpuTimeMs;
    }
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const subscription of this.#subscriptions.splice(0)) subscription[Symbol.dispose]();
    this.#wallTimer?.[Symbol.dispose]();
    this.#graceTimer?.[Symbol.dispose]();
    for (const { toolTimer } of this.#handling.values()) toolTimer?.[Symbol.dispose]();
  }

  #hearRequest({ kind, id, method, call }: RequestChange): void {
    if (method === "ping") return;
    if (kind === "sent") {
      const handling = {
        method,
        call,
        startedAt: this.#now(),
        cpuAtStart: this.#usage.cpuTimeMs,
        toolTimer: null,
      };
      this.#handling.set(id, handling);
      if (isTool(method)) this.#watchTool(id, handling, bounds.maxIdleToolMs);
      if (method === "cancelTool") this.#watchCancelled(call);
      this.#backgroundMs = 0;
      this.#wallTimer ??= this.#timer(this.#options.limits.maxWallMs, () => this.#checkWaiting());
      return;
    }
    const answered = this.#handling.get(id);
    answered?.toolTimer?.[Symbol.dispose]();
    const wasOldestHook = this.#oldestHook()?.[0] === id;
    this.#handling.delete(id);
    if (wasOldestHook) this.#beginNextHook();
    if (answered !== undefined) this.#giveBack(answered);
    if (this.#handling.size === 0) {
      this.#wallTimer?.[Symbol.dispose]();
      this.#wallTimer = null;
    }
    if (method === "shutdown") {
      this.#graceTimer ??= this.#timer(bounds.shutdownGraceMs, () =>
        this.#breach({
          limit: "shutdown",
          value: bounds.shutdownGraceMs,
          sentence: `It answered shutdown but was still running after ${bounds.shutdownGraceMs} ms.`,
        }),
      );
    }
  }

  /** Hooks are handled one after the other: the time of each begins when the one before it is answered. */
  #beginNextHook(): void {
    const next = this.#oldestHook()?.[1];
    if (next === undefined) return;
    next.startedAt = this.#now();
    next.cpuAtStart = this.#usage.cpuTimeMs;
  }

  /**
   * A job runs beside events and tool calls, so its time is not charged to them. In a guest that does one thing at
   * a time, the time of requests that waited for a job begins when the job ends.
   */
  #giveBack(answered: Handling): void {
    if (answered.method === "job") {
      this.restartBudget();
      return;
    }
    const usedMs = this.#usage.cpuTimeMs - answered.cpuAtStart;
    for (const handling of this.#handling.values()) {
      if (handling.method !== "job") continue;
      handling.cpuAtStart = Math.min(this.#usage.cpuTimeMs, handling.cpuAtStart + usedMs);
    }
  }

  #oldestHook(): [number, Handling] | undefined {
    for (const handling of this.#handling) if (handling[1].method === "hook") return handling;
    return undefined;
  }

  #hearUsage(usage: Usage): void {
    const { maxCpuMs } = this.#options.limits;
    const now = this.#now();
    const usedMs = usage.cpuTimeMs - this.#usage.cpuTimeMs;
    const passedMs = now - this.#usageAt;
    this.#usage = usage;
    this.#usageAt = now;
    const oldest = this.#oldest();
    if (oldest !== null) {
      const spentMs = Math.round(usage.cpuTimeMs - oldest.cpuAtStart);
      if (spentMs > maxCpuMs) {
        this.#breachCpu(
          `It computed for ${spentMs} ms on ${workOf(oldest.method)}${this.#chargedText()}; max_cpu_ms_per_event allows ${maxCpuMs} ms.`,
        );
      }
      return;
    }
    this.#backgroundMs = Math.max(0, this.#backgroundMs + usedMs - passedMs * bounds.backgroundShare);
    if (this.#backgroundMs > maxCpuMs) {
      this.#breachCpu(
        `It computed for more than ${maxCpuMs} ms (max_cpu_ms_per_event) while it had no request to handle.`,
      );
    }
  }

  #chargedText(): string {
    return this.#chargedMs < 1 ? "" : ", including the kernel's work for its calls";
  }

  #breachCpu(sentence: string): void {
    this.#breach({ limit: "max_cpu_ms_per_event", value: this.#options.limits.maxCpuMs, sentence });
  }

  /** Nobody waits for its answer any more, so it may not keep its agent loaded for long. */
  #watchCancelled(call: string | undefined): void {
    for (const [id, handling] of this.#handling) {
      if (call === undefined || handling.call !== call || !isTool(handling.method)) continue;
      handling.toolTimer?.[Symbol.dispose]();
      this.#watchTool(id, handling, bounds.cancelledToolMs);
    }
  }

  #watchTool(id: number, handling: Handling, idleMs: number): void {
    const cpuBefore = this.#usage.cpuTimeMs;
    handling.toolTimer = this.#timer(idleMs, () => {
      const { connection } = this.#options;
      const usedMs = this.#usage.cpuTimeMs - cpuBefore;
      const computes = this.#usage.isComputing || usedMs > idleMs * bounds.backgroundShare;
      if (computes || connection.openCalls > 0) {
        this.#watchTool(id, handling, idleMs);
        return;
      }
      const message = `The ${handling.method} did not answer within ${idleMs} ms, and its agent neither computes nor waits for a call.`;
      connection.abandon(
        id,
        new LaresError("AgentError", message, { reason: `The ${handling.method} does not answer.` }),
      );
    });
  }

  /** The oldest request is overdue: checks whether it can still be waiting for something. */
  #checkWaiting(): void {
    this.#wallTimer = null;
    const oldest = this.#oldest();
    if (oldest === null || this.#isOver) return;
    const leftMs = oldest.startedAt + this.#options.limits.maxWallMs - this.#now();
    if (leftMs > 0) {
      this.#wallTimer = this.#timer(leftMs, () => this.#checkWaiting());
      return;
    }
    void this.#isHung(oldest).then((isHung) => {
      if (this.#isOver) return;
      if (isHung) {
        const { maxWallMs } = this.#options.limits;
        this.#breach({
          limit: "max_wall_ms_per_event",
          value: maxWallMs,
          sentence: `It did not finish ${workOf(oldest.method)} within ${maxWallMs} ms (max_wall_ms_per_event) and neither computes nor waits for a call or a timer.`,
        });
      } else if (this.#handling.size > 0) {
        this.#wallTimer ??= this.#timer(this.#options.limits.maxWallMs, () => this.#checkWaiting());
      }
    });
  }

  /** Pings twice: an answer to a call may still be on its way at the first ping; the second shows its effect. */
  async #isHung(handling: Handling): Promise<boolean> {
    for (let round = 0; round < 2; round++) {
      if (this.#options.connection.openCalls > 0) return false;
      const cpuBefore = this.#usage.cpuTimeMs;
      const answer = await this.#ping();
      if (this.#oldest() !== handling || this.#options.connection.openCalls > 0) return false;
      if (answer === "late")
        return !this.#usage.isComputing && this.#usage.cpuTimeMs - cpuBefore <= bounds.idleCpuMs;
      if (
        isJsonObject(answer) &&
        typeof answer["pending_timers"] === "number" &&
        answer["pending_timers"] > 0
      ) {
        return false;
      }
    }
    return true;
  }

  async #ping(): Promise<unknown> {
    const late = Promise.withResolvers<"late">();
    using _ = this.#timer(bounds.pingTimeoutMs, () => late.resolve("late"));
    // An error in answer to `ping` is an answer, too. A guest that has ended is not pinged.
    const answer = this.#options.connection.request("ping", {}).catch(() => null);
    return await Promise.race([answer, late.promise]);
  }

  #oldest(): Handling | null {
    for (const handling of this.#handling.values()) return handling;
    return null;
  }

  #breach(breach: LimitBreach): void {
    if (this.#isOver) return;
    this[Symbol.dispose]();
    this.#options.onLimit(breach);
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }

  #timer(delayMs: number, run: () => void): Disposable {
    return this.#options.clock.timer(delayMs, run);
  }
}
