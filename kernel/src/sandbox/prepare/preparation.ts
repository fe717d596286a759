import { Worker } from "node:worker_threads";
import { type PreparedModule } from "./prepare-module.ts";
import { prepareLimits } from "./bounds.ts";
import { siblingModule } from "../../platform/files/sibling-module.ts";
const entry = siblingModule(import.meta.url, "preparing-worker");

/** Prepares a module in a separate thread, terminated if it takes too long or too much memory. Never rejects. */
export function runPreparation(
  bytes: Uint8Array<ArrayBuffer>,
  maxMemoryMb: number,
  timeoutMs: number = prepareLimits.timeoutMs,
): Promise<PreparedModule> {
  const worker = new Worker(entry, {
    workerData: { bytes, maxMemoryMb },
    transferList: [bytes.buffer],
    resourceLimits: { maxOldGenerationSizeMb: prepareLimits.heapMb },
  });
  return new Promise((resolve) => {
    const finish = (result: PreparedModule): void => {
      clearTimeout(timer);
      resolve(result);
      void worker.terminate();
    };
    const timer = setTimeout(
      () =>
        finish({
          ok: false,
          code: "tooLarge",
          message: `Preparing the module took longer than ${timeoutMs} ms.`,
        }),
      timeoutMs,
    );
    worker.once("message", finish);
    worker.once("error", (error: Error) =>
      finish({ ok: false, code: "internal", message: `The module could not be prepared: ${error.message}.` }),
    );
  });
}
