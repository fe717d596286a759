import process from "node:process";
import { Script } from "node:vm";
import { messageOf } from "../../base/errors.ts";
import { type Parent, serveParent } from "./parent.ts";

export type HelperReply =
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "failed"; readonly reason: string };

/** Bytes of a request or a reply as JSON. */
export const maxHelperFrameBytes = 64 * 1024 * 1024;

/** The wall time of a request, in deadlines: it may wait for a processor, or block. */
export const wallFactor = 20;
/** The parent terminates a helper that overruns; a helper without a parent ends itself a little later. */
const orphanFactor = wallFactor + 1;

/** For the entry file of a `DeadlineHelper`: answers requests, one after the other, until the parent has ended. */
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

/** Runs with a timeout, because during the computation this process cannot notice that its parent has ended. */
function withinTime(run: () => unknown, timeoutMs: number): unknown {
  const holder = globalThis as Record<string, unknown>;
  holder[slot] = run;
  return script.runInThisContext({ timeout: timeoutMs });
}
