import type { ChatWrapper, LlamaContext, LlamaContextSequence, LlamaModel } from "node-llama-cpp";
import { messageOf } from "../../../base/errors.ts";
import { unusable } from "../../unusable.ts";
import { llamaBounds as bounds } from "./bounds.ts";
import type { LlamaLibrary } from "./library.ts";
import type { ModelFiles } from "../../messages.ts";

/** A model that is loaded, with the one window in which it reads and writes. */
export interface LanguageModel extends AsyncDisposable {
  readonly library: LlamaLibrary;
  readonly model: LlamaModel;
  readonly wrapper: ChatWrapper;
  readonly sequence: LlamaContextSequence;
  /** Tokens of a request and its answer together. */
  readonly contextTokens: number;
}

/** Loads a model whose files were checked. Throws UnusableModel, or the signal's reason. */
export async function loadLanguageModel(
  library: LlamaLibrary,
  { files: [file], place }: ModelFiles,
  contextTokens: number,
  signal: AbortSignal,
  progress: () => void,
): Promise<LanguageModel> {
  let model: LlamaModel;
  try {
    model = await library.llama.loadModel({ modelPath: file, loadSignal: signal, onLoadProgress: progress });
  } catch (error) {
    signal.throwIfAborted();
    throw unusable(
      `The file ${file} is not a model that llama.cpp can load: ${reasonOf(error, library)} ${place} in your lares.yaml names it.`,
      error,
    );
  }
  try {
    const context = await model.createContext({
      contextSize: contextTokens,
      batchSize: Math.min(bounds.batchTokens, contextTokens),
      createSignal: signal,
    });
    return {
      library,
      model,
      wrapper: library.module.resolveChatWrapper(model),
      sequence: context.getSequence(),
      contextTokens: Math.min(contextTokens, context.contextSize),
      [Symbol.asyncDispose]: () => disposed(model, context),
    };
  } catch (error) {
    await model.dispose();
    signal.throwIfAborted();
    throw unusable(
      `The model ${file} with a window of ${contextTokens} tokens cannot be started: ${reasonOf(error, library)} Set a smaller context_tokens beside ${place} in your lares.yaml, or use a smaller model.`,
      error,
    );
  }
}

/** Returns a model's window; one that is larger than it was trained with makes a model write nonsense. */
export function windowOf(asked: number | null, trained: number | null): number {
  const wanted = asked ?? bounds.defaultContextTokens;
  return trained === null ? wanted : Math.min(wanted, trained);
}

async function disposed(model: LlamaModel, context: LlamaContext): Promise<void> {
  await context.dispose();
  await model.dispose();
}

function reasonOf(error: unknown, library: LlamaLibrary): string {
  const said = [messageOf(error), library.lastError()].filter((text) => text !== "");
  return `${said.join("; ").replace(/(?<![\s.])[\s.]+$/, "")}.`;
}
