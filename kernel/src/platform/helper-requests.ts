import process from "node:process";
import { Script } from "node:vm";
import { messageOf } from "../base/errors.ts";
import { openParentChannel } from "./child-process.ts";
import { receiveJsonLines, sendJsonLine } from "./json-lines.ts";

export type HelperReply =
  | { readonly kind: "ready" }
  | { readonly kind: "answer"; readonly answer: unknown }
  | { readonly kind: "failed"; readonly reason: string };

/** A request may wait for a processor, or be stuck, for this many deadlines. */
export const wallFactor = 20;
/** The parent ends a helper that overruns; a helper whose parent is gone ends itself, a little later. */
const orphanFactor = wallFactor + 1;

/** For the entry file of a `DeadlineHelper`: answers its requests, one after the other, until its parent is gone. */
export function serveRequests(answer: (request: unknown) => unknown): void {
  const [deadlineMs = "1000"] = process.argv.slice(2);
  const channel = openParentChannel();
  receiveJsonLines(channel, (request) => {
    sendJsonLine(channel, reply(request));
  });
  void channel.closed.then(() => process.exit(0));
  sendJsonLine(channel, { kind: "ready" } satisfies HelperReply);

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
