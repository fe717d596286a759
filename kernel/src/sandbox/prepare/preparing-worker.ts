/** Entry of the thread that prepares one module. */
import { parentPort, workerData } from "node:worker_threads";
import { prepareModule } from "./prepare-module.ts";

const { bytes, maxMemoryMb } = workerData as { readonly bytes: Uint8Array; readonly maxMemoryMb: number };
parentPort?.postMessage(prepareModule(bytes, { maxMemoryMb }));
