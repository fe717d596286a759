import type { ModelEvent } from "../../base/vocabulary/model.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { GenerateCall, InspectedModel, ModelFiles, RunPhase } from "../messages.ts";
import { generate } from "./llama/generate.ts";
import { loadLanguageModel, windowOf, type LanguageModel } from "./llama/language-model.ts";
import type { LlamaLibrary } from "./llama/library.ts";
import { checkModelFiles } from "./llama/model-file.ts";

/** The language models of the inference host. The kernel gives each of them one run at a time. */
export class LanguageModels {
  readonly #loadLibrary: () => Promise<LlamaLibrary>;
  /** From the least to the most recently used. */
  readonly #loaded = new Map<string, { readonly model: LanguageModel; runs: number }>();
  #library: Promise<LlamaLibrary> | null = null;

  constructor(loadLibrary: () => Promise<LlamaLibrary>) {
    this.#loadLibrary = loadLibrary;
  }

  /** Yields an answer, the last event `done` or `failed`. Throws UnusableModel, or the signal's reason. */
  async *generate(
    call: GenerateCall,
    signal: AbortSignal,
    progress: (phase: RunPhase) => void,
  ): AsyncGenerator<ModelEvent, void> {
    const key = JSON.stringify([call.model.files, call.contextTokens]);
    const loaded = this.#loaded.get(key) ?? (await this.#load(key, call, signal, progress));
    this.#loaded.delete(key);
    this.#loaded.set(key, loaded);
    loaded.runs++;
    try {
      progress("answering");
      yield* generate(loaded.model, call.request, signal, () => progress("answering"));
    } finally {
      loaded.runs--;
    }
  }

  /** Looks at a model's files without loading them. Throws UnusableModel. */
  async inspect(model: ModelFiles, asked: number | null): Promise<InspectedModel> {
    const { contextTokens: trained } = await checkModelFiles(model);
    return { contextTokens: asked === null && trained === null ? null : windowOf(asked, trained) };
  }

  async #load(
    key: string,
    { model, contextTokens }: GenerateCall,
    signal: AbortSignal,
    progress: (phase: RunPhase) => void,
  ): Promise<{ readonly model: LanguageModel; runs: number }> {
    const head = await checkModelFiles(model);
    signal.throwIfAborted();
    progress("loading");
    this.#library ??= this.#loadLibrary();
    const library = await this.#library;
    // Before the next one takes its memory.
    for (const [oldest, { model: unused, runs }] of this.#loaded) {
      if (this.#loaded.size < bounds.maxLanguageModels) break;
      if (runs > 0) continue;
      this.#loaded.delete(oldest);
      await unused[Symbol.asyncDispose]();
    }
    const window = windowOf(contextTokens, head.contextTokens);
    const loaded = {
      model: await loadLanguageModel(library, model, window, signal, () => progress("loading")),
      runs: 0,
    };
    this.#loaded.set(key, loaded);
    return loaded;
  }
}
