import { type Clock, isoTime } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { endedStates, type Entry, type Process, waitsForFollowUp } from "../base/vocabulary/conversation.ts";
import { entryOf, type EntryMaker, processEntry } from "./entries.ts";
import type { AtWork } from "./host.ts";
import { nextState, type ProcessEvent, roleOf } from "./machine.ts";
import type { MindPorts, ProcessLog } from "./ports.ts";
import { isSpoken, unreadOf } from "./turns.ts";

/** How long an interactive worker waits for a follow-up. */
export const followUpMs = 60 * 60_000;
const notAsked = "no follow-up came for an hour";
const makesRoom = "its place was needed for another process";

/** Returns how a process continues that has written its report: an interactive worker waits, the others have ended. */
export function endWithReport(process: Process, nowMs: number): [ProcessEvent, Partial<Process>] {
  return process.interactive === true
    ? ["report", { expires: isoTime(nowMs + followUpMs) }]
    : ["finish", { ended: isoTime(nowMs) }];
}

interface FollowUpsHost {
  readonly ports: Pick<MindPorts, "clock" | "reader" | "log">;
  readonly log: ProcessLog;
  /** The process that talks to the person; null in a mind's own log. */
  readonly talker: Process | null;
  /** How many processes a conversation may have that have not ended. */
  limits(): { readonly processes: number };
  isRunning(id: string): boolean;
  /** Starts a worker that has a message. */
  begin(worker: Process): void;
}

/**
 * The interactive workers of a conversation that have reported. They hold no place, and work again when a message comes for
 * them. They end when none comes in time, or when other processes need their room.
 */
export class FollowUps {
  readonly #host: FollowUpsHost;

  constructor(host: FollowUpsHost) {
    this.#host = host;
  }

  /** The workers that wait, the one that waits longest first. */
  get waiting(): readonly Process[] {
    return this.#host.log.state.processes
      .filter((process) => waitsForFollowUp(process) && !this.#host.isRunning(process.id))
      .toSorted(({ expires: one = "" }, { expires: other = "" }) => (one < other ? -1 : 1));
  }

  /** Takes entries that were appended: a message for a worker that waits is its follow-up. */
  take(entries: readonly Entry[]): void {
    if (!entries.some(({ kind }) => kind === "message")) return;
    for (const worker of this.waiting)
      if (entries.some((entry) => isSpoken(entry, worker))) this.#host.begin(worker);
  }

  /** A worker has reported, and nothing works for it any more. */
  reported(process: Pick<AtWork, "record" | "hasUnread">): void {
    // It came while the report was written.
    if (process.hasUnread("spoken")) this.#host.begin(process.record);
    else this.makeRoom();
  }

  /** Begins with the follow-ups that an earlier kernel did not answer, and ends the workers for which none came in time. */
  async resume(): Promise<void> {
    const { ports, log } = this.#host;
    for (const worker of this.waiting) {
      const { what } = await unreadOf(ports.reader, log.id, worker);
      if (this.#host.isRunning(worker.id)) continue;
      if (what === "spoken") this.#host.begin(worker);
      else if (Date.parse(worker.expires ?? "") <= ports.clock.now()) await this.#end(worker, notAsked);
    }
  }

  /** The time of a worker is over, unless a follow-up has come. */
  async overdue(id: string, expires: string): Promise<void> {
    const worker = this.waiting.find((process) => process.id === id && process.expires === expires);
    if (worker !== undefined) await this.#end(worker, notAsked);
  }

  /** Ends the workers that have waited longest, as long as the conversation has more processes than it may have. */
  makeRoom(): void {
    const { log, ports } = this.#host;
    const open = log.state.processes.filter(
      ({ kind, state }) => (kind === "branch" || kind === "worker") && !endedStates.has(state),
    );
    const surplus = Math.max(0, open.length - this.#host.limits().processes);
    for (const worker of this.waiting.slice(0, surplus))
      this.#end(worker, makesRoom).catch((error: unknown) =>
        ports.log.error(`The end of a worker could not be written: ${messageOf(error)}`),
      );
  }

  /** Ends all of them without telling the person, who wants it. */
  async endAll(): Promise<void> {
    for (const worker of this.waiting) await this.#end(worker, null);
  }

  async #end(worker: Process, why: string | null): Promise<void> {
    const { log, ports, talker } = this.#host;
    const { id, name, expires } = worker;
    await log.append(() => {
      const now = this.waiting.find((process) => process.id === id && process.expires === expires);
      if (now === undefined) return [];
      const maker: EntryMaker = { process: id, turn: "", clock: ports.clock };
      const { expires: _expires, ...rest } = now;
      const state = nextState(roleOf(now), now.state, "dismiss");
      const text = `The worker${name === undefined ? "" : ` "${name}"`} ${id} has ended, because ${why}.`;
      return [
        processEntry(maker, { ...rest, state, ended: isoTime(ports.clock.now()) }),
        ...(why === null || talker === null
          ? []
          : [entryOf({ ...maker, process: talker.id }, { kind: "notice", text }, { origin: "workspace" })]),
      ];
    });
  }
}

/** Ends the wait of workers in time, whether their conversations are open or not. */
export class FollowUpTimers implements Disposable {
  readonly #clock: Clock;
  readonly #overdue: (conversation: string, worker: string, expires: string) => void;
  readonly #timers = new Map<string, Disposable>();

  constructor(clock: Clock, overdue: (conversation: string, worker: string, expires: string) => void) {
    this.#clock = clock;
    this.#overdue = overdue;
  }

  /** Sets the timers for the processes of a conversation. */
  take(conversation: string, processes: readonly Process[]): void {
    for (const process of processes) {
      const { id, interactive, expires } = process;
      if (interactive !== true) continue;
      this.#clear(id);
      if (!waitsForFollowUp(process) || expires === undefined) continue;
      const delayMs = Math.max(0, Date.parse(expires) - this.#clock.now());
      this.#timers.set(
        id,
        this.#clock.timer(delayMs, () => {
          this.#timers.delete(id);
          this.#overdue(conversation, id, expires);
        }),
      );
    }
  }

  #clear(id: string): void {
    this.#timers.get(id)?.[Symbol.dispose]();
    this.#timers.delete(id);
  }

  [Symbol.dispose](): void {
    for (const id of this.#timers.keys()) this.#clear(id);
  }
}
