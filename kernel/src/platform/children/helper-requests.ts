import process from "node:process";
import { Script } from "node:vm";
import { messageOf } from "../../base/errors.ts";
import { type Parent, serveParent } from "./parent.ts";

export type HelperReply =
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "failed"; readonly reason: string };

/** A request or a reply, as JSON. */
export const maxHelperFrameBytes = 64 * 1024 * 1024;

/** A request may wait for a processor, or be stuck, for this many deadlines. */
export const wallFactor = 20;
/** The parent ends a helper that overruns; a helper whose parent is gone ends itself, a little later. */
const orphanFactor = wallFactor + 1;

/** For the entry file of a `DeadlineHelper`: answers its requests, one after the other, until its parent is gone. */
export function serveRequests(answer: (request: unknown) => unknown): void {
  const [deadlineMs = "1000"] = process.argv.slice(2);
  const parent: Parent<HelperReply> = serveParent<HelperReply, unknown>({
    maxFrameBytes: maxHelperFrameBytes,
    receive: (request) => parent.send(reply(request)),
  });
  parent.ready();

  function reply(request: unknown): HelperReply {
    try {
      return { kind: "answer", answer: withinTime(() => answer(request), orphanFactor * Number(deadlineMs)) };
    } catch (error) {
      return { kind: "failed", reason: messageOf(error) };
    }
  }
}

const slot = "__laresHelperRun";
const script = new Script(`${slot}()`);

/** Runs it with an end: while it computes, nothing else in this process can tell that the parent is gone. */
function withinTime(run: () => unknown, timeoutMs: number): unknown {
  const holder = globalThis as Record<string, unknown>;
  holder[slot] = run;
  return script.runInThisContext({ timeout: timeoutMs });
}
