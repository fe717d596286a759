import { setPriority } from "node:os";
import process from "node:process";
import { parentPort, workerData } from "node:worker_threads";
import { type ErrorCode, isLaresError, messageOf } from "../../base/errors.ts";

/** `cpuTimeMs` is the CPU time of the thread since it started. */
export type WorkReply = { readonly cpuTimeMs: number } & (
  | { readonly kind: "answer"; readonly answer: unknown }
  | {
      readonly kind: "refused";
      readonly code: ErrorCode;
      readonly message: string;
      readonly facts: Readonly<Record<string, unknown>>;
    }
);

/** Niceness of a work thread, so that the kernel's own threads run first. */
const niceness = 5;

/**
 * For the entry file of a `WorkThread`: answers requests, one after the other. `answer` names the buffers to
 * transfer instead of copying.
 */
export function serveWork(
  open: (data: unknown) => (request: unknown) => Promise<{ answer: unknown; transfer?: ArrayBuffer[] }>,
): void {
  if (parentPort === null) throw new Error("This file runs as a worker thread; start it with WorkThread.");
  const port = parentPort;
  // Only Linux has a priority per thread; elsewhere this would change the whole process.
  if (process.platform === "linux") setPriority(0, niceness);
  const answerTo = open(workerData);
  port.on("message", (request: unknown) => {
    answerTo(request).then(
      ({ answer, transfer = [] }) => send({ kind: "answer", answer, cpuTimeMs: cpuTimeMs() }, transfer),
      (error: unknown) =>
        send({
          kind: "refused",
          code: isLaresError(error) ? error.code : "InternalError",
          message: messageOf(error),
          facts: isLaresError(error) ? error.facts : {},
          cpuTimeMs: cpuTimeMs(),
        }),
    );
  });
  send({ kind: "answer", answer: null, cpuTimeMs: cpuTimeMs() });

  function send(reply: WorkReply, transfer: ArrayBuffer[] = []): void {
    port.postMessage(reply, transfer);
  }
}

function cpuTimeMs(): number {
  const { user, system } =
    typeof process.threadCpuUsage === "function" ? process.threadCpuUsage() : { user: 0, system: 0 };
  // Without figures of the thread, the parent counts elapsed time.
  return (user + system) / 1000;
}
