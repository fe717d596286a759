import { isLaresError, LaresError, notFound } from "../base/errors.ts";
import type { Process } from "../base/vocabulary/conversation.ts";
import type { Principal } from "../base/vocabulary/principal.ts";
import type { OpenReference } from "../conversations/fold.ts";
import type { Decisions } from "./decisions.ts";
import type { MindPorts, ProcessLog } from "./ports.ts";
import { treeOf } from "./turns.ts";

/** A process that works in this kernel. */
interface Stoppable {
  readonly process: { readonly record: Process };
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

interface StopHost {
  readonly ports: Pick<MindPorts, "schedules" | "stopWork">;
  readonly log: ProcessLog;
  readonly decisions: Pick<Decisions, "stopped">;
  running(): Iterable<Stoppable>;
  /** Returns the processes that have not ended and that nothing works for. */
  unstarted(): readonly Process[];
  /** What begins something by itself: a turn because of children's reports, a compaction. */
  readonly beginners: readonly { stop(): void }[];
  /** Writes the end of a process that nothing works for. */
  drop(process: Process): Promise<void>;
}

interface StopRequest {
  readonly by: Principal;
  /** The process whose tree is stopped; undefined for all of the conversation. */
  readonly id: string | undefined;
  readonly reason: string | undefined;
}

/** Stops a process and what it started, or all; resolves when that is written. NotFound for an unknown process. */
export async function stopTree(host: StopHost, { by, id, reason }: StopRequest): Promise<void> {
  const { log, ports } = host;
  const { processes } = log.state;
  if (id !== undefined && !processes.some((process) => process.id === id)) throw notFound("process", id);
  const waiting: OpenReference[] = [];
  let tree: ReadonlySet<string>;
  // Again for children that a process started before it noticed the stop. A channel may have begun again because of a message.
  for (let isFirst = true; ; isFirst = false) {
    tree = treeOf(log.state.processes, id);
    waiting.push(...log.state.references.filter(({ process }) => tree.has(process)));
    const running = [...host.running()].filter(
      ({ process: { record } }) => tree.has(record.id) && (isFirst || record.kind !== "channel"),
    );
    const unstarted = host.unstarted().filter((process) => tree.has(process.id));
    if (!isFirst && running.length + unstarted.length === 0) break;
    // A message that comes meanwhile starts the channel again, which this stop leaves alone.
    const began = [...running.map(({ process }) => process.record), ...unstarted].map((each) => each.id);
    const workEnds = ports.stopWork(by, log.id, isFirst ? (id === undefined ? null : tree) : began);
    for (const { abort } of running) abort.abort(stopSignal(reason));
    for (const each of host.beginners) each.stop();
    await Promise.all([workEnds, ...running.map(({ done }) => done)]);
    for (const process of unstarted) await host.drop(process);
  }
  // Only a channel proposes schedules.
  if (by.kind === "person" && processes.some(({ id: of, kind }) => kind === "channel" && tree.has(of)))
    await ports.schedules.withdraw(log.id);
  await host.decisions.stopped(by, waiting, id === undefined ? null : tree);
}

function stopSignal(reason: string | undefined): LaresError {
  return new LaresError("RequestCancelled", "It was stopped.", reason === undefined ? {} : { reason });
}

/** Returns what the end of a stopped process says about the reason that was given, if one was. */
export function stopError(reason: string | undefined): Pick<Process, "error"> {
  return reason === undefined ? {} : { error: { code: "RequestCancelled", message: reason } };
}

/** Returns the reason that was given when a process was stopped. */
export function reasonOf({ reason: stop }: AbortSignal): string | undefined {
  const given = isLaresError(stop, "RequestCancelled") ? stop.facts["reason"] : undefined;
  return typeof given === "string" ? given : undefined;
}
