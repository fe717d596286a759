import type { Deadline } from "../../base/deadline.ts";
import { invalidParams, notFound } from "../../base/errors.ts";
import {
  bothForeign,
  type Foreign,
  foreignFrom,
  nothingForeign,
  type ReadTexts,
} from "../../base/vocabulary/foreign.ts";
import { commonLineage, type Lineage, ownAccord } from "../../base/vocabulary/principal.ts";
import type { ProgressSink, ToolProgress } from "../../base/vocabulary/progress.ts";

/** Number of ended calls that are remembered, because a handler's background work may continue after its answer. */
const maxEndedKnown = 1000;

/** The guest's work for one call. */
interface Answering {
  /** False after the call's answer. */
  readonly isOpen: boolean;
  readonly lineage: Lineage;
  /** Aborted if the call is cancelled or abandoned, or the guest ends; null if an earlier guest answered it. */
  readonly signal: AbortSignal | null;
  /** The time until which the caller waits for the answer. */
  readonly deadline?: Deadline;
  /** Texts that nobody vouches for and that a guest had read before it ended, while the call was open. */
  readonly foreign: Foreign;
}

interface OpenCall {
  readonly lineage: Lineage;
  readonly aborter: AbortController;
  readonly progress: ProgressSink | undefined;
  readonly deadline: Deadline | undefined;
  /** Texts that a guest had read before it ended, while the call was open. */
  foreign: Foreign;
}

/** The calls that one agent's guest is answering, and on whose behalf: tool calls and the jobs that they started. */
export class OpenCalls {
  readonly #open = new Map<string, OpenCall>();
  /** Marks the call as answered. Work that its handler left running still belongs to it. */
  readonly #ended = new Map<
    string,
    Pick<OpenCall, "lineage" | "deadline"> & { readonly aborter?: AbortController }
  >();

  #read: { foreign: Foreign } = { foreign: nothingForeign };

  begin(id: string, lineage: Lineage, progress?: ProgressSink, deadline?: Deadline): void {
    this.hear(foreignFrom(lineage.sources ?? [], "all"));
    const aborter = new AbortController();
    this.#open.set(id, { lineage, aborter, progress, deadline, foreign: nothingForeign });
  }

  /** Aborts the guest's work for the call; the call stays open until it ends. */
  abort(id: string, reason: Error): void {
    this.#open.get(id)?.aborter.abort(reason);
  }

  /** Aborts the guest's work for these calls, also what it left running when it answered them. */
  abortWhere(isMeant: (lineage: Lineage) => boolean, reason: Error): void {
    for (const { lineage, aborter } of [...this.#open.values(), ...this.#ended.values()])
      if (isMeant(lineage)) aborter?.abort(reason);
  }

  /** Forwards the call's progress. Throws NotFound if it is not open. */
  report(id: string, progress: ToolProgress): void {
    const call = this.#open.get(id);
    if (call === undefined) throw notFound("open call", id);
    call.progress?.(progress);
  }

  end(id: string): void {
    const call = this.#open.get(id);
    if (call === undefined) return;
    this.#open.delete(id);
    const { lineage, deadline, aborter } = call;
    this.#ended.set(id, { lineage, deadline, aborter });
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > maxEndedKnown && oldest !== undefined) this.#ended.delete(oldest);
  }

  /** Aborts the guest's work for all calls. */
  guestEnded(reason: Error): void {
    for (const call of this.#open.values()) {
      call.aborter.abort(reason);
      call.foreign = bothForeign(call.foreign, this.#read.foreign);
    }
    for (const [id, { lineage, deadline, aborter }] of this.#ended) {
      aborter?.abort(reason);
      this.#ended.set(id, { lineage, deadline });
    }
    // Unfinished calls keep the texts that their guest had read.
    this.#read = { foreign: nothingForeign };
  }

  /** The guest is about to read texts that nobody vouches for: it may act on them later too, until it ends. */
  hear(foreign: Foreign): void {
    this.#read.foreign = bothForeign(this.#read.foreign, foreign);
  }

  /** Texts that nobody vouches for and that the answer of an open call may hold, also of a guest that has ended since. */
  through(id: string): Foreign {
    return bothForeign(this.#read.foreign, this.#open.get(id)?.foreign ?? nothingForeign);
  }

  /** Texts that nobody vouches for and that the guest has read since it was started. */
  get foreign(): Foreign {
    return this.#read.foreign;
  }

  /** The same as an object that outlives the guest, for work that may finish after it. */
  get read(): ReadTexts {
    return this.#read;
  }

  /** The causes for work that names no call: all open calls. */
  ofAll(): Lineage {
    if (this.#open.size === 0) return ownAccord;
    return commonLineage([...this.#open.values()].map(({ lineage }) => lineage));
  }

  /** The deadline of work that names no call: the last one, if each open call has one. */
  deadlineOfAll(): Deadline | undefined {
    let last: Deadline | undefined;
    for (const { deadline } of this.#open.values()) {
      if (deadline === undefined) return undefined;
      if (last === undefined || deadline.atMs > last.atMs) last = deadline;
    }
    return last;
  }

  isOpen(id: string): boolean {
    return this.#open.has(id);
  }

  /** Throws InvalidParams if there was no such call. */
  of(id: string): Answering {
    const open = this.#open.get(id);
    const call = open ?? this.#ended.get(id);
    if (call !== undefined)
      return {
        isOpen: open !== undefined,
        lineage: call.lineage,
        signal: call.aborter?.signal ?? null,
        ...(call.deadline === undefined ? {} : { deadline: call.deadline }),
        foreign: open?.foreign ?? nothingForeign,
      };
    throw invalidParams(
      `on_behalf is ${JSON.stringify(id)}, and this agent answers no such call; give the call_id of a tool's call or the id of a job.`,
      { path: "on_behalf" },
    );
  }
}
