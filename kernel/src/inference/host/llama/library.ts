import { registerHooks } from "node:module";
import { availableParallelism } from "node:os";
import process from "node:process";
import type { Llama } from "node-llama-cpp";
import { messageOf } from "../../../base/errors.ts";
import { installLlama, missingLlama, unusable } from "../../unusable.ts";

type NodeLlamaCpp = typeof import("node-llama-cpp");

export interface LlamaLibrary {
  readonly module: NodeLlamaCpp;
  readonly llama: Llama;
  /** What llama.cpp said last about an error. */
  lastError(): string;
}

/**
 * Half of the processors: two that share a core compute no faster than one, and threads that wait for one another turn in
 * circles, so with too few processors a token takes a hundred times as long.
 */
const threads = Math.max(1, Math.floor(availableParallelism() / 2));

/**
 * Modules of the package that try its binary in a process of their own, and look for the C library in the system's
 * folders. This process may do neither, and need not: its own death is answered.
 */
const replaced: Readonly<Record<string, string>> = {
  "testBindingBinary.js": "export const testBindingBinary = async () => true;",
  "detectGlibc.js": "export const detectGlibc = async () => true;",
};

/**
 * Loads the package's native code. It computes on the processor, except on Apple's chips, for which the package has
 * nothing without graphics: drivers of graphics cards want an environment and files that this process does not have.
 * Throws UnusableModel.
 */
export async function loadLlama(url: string | null): Promise<LlamaLibrary> {
  if (url === null) throw unusable(missingLlama);
  const folder = new URL("bindings/utils/", url).href;
  registerHooks({
    load(moduleUrl, context, next) {
      const source = moduleUrl.startsWith(folder) ? replaced[moduleUrl.slice(folder.length)] : undefined;
      return source === undefined
        ? next(moduleUrl, context)
        : { format: "module", source, shortCircuit: true };
    },
  });
  let last = "";
  try {
    const module = (await import(url)) as NodeLlamaCpp;
    const llama = await module.getLlama({
      gpu: process.platform === "darwin" && process.arch === "arm64" ? "auto" : false,
      build: "never",
      skipDownload: true,
      progressLogs: false,
      maxThreads: threads,
      logLevel: "error",
      logger: (_level, message) => void (last = message.trim().slice(0, 300)),
    });
    return { module, llama, lastError: () => last };
  } catch (error) {
    throw unusable(`The package node-llama-cpp cannot be used: ${messageOf(error)} ${installLlama}`, error);
  }
}
