import { neverAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { ModelSettings, ProviderApi, ProviderSettings } from "../base/vocabulary/model-settings.ts";
import type { ListedModel } from "./directory.ts";
import { isCloudModel } from "./routing.ts";

/** Providers of the network that are found by their key, with the model that is used; the first one found answers. */
const byKey = [
  { id: "anthropic", api: "anthropic", variable: "ANTHROPIC_API_KEY", model: "claude-sonnet-5" },
  { id: "openai", api: "openai", variable: "OPENAI_API_KEY", model: "gpt-6-sol" },
  { id: "google", api: "google", variable: "GEMINI_API_KEY", model: "gemini-3.8-flash" },
] as const satisfies readonly {
  readonly id: string;
  readonly api: ProviderApi;
  readonly variable: string;
  readonly model: string;
}[];

/** How long an Ollama that did not answer is not asked again. */
const askAgainAfterMs = 10_000;

export interface FoundPorts {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The addresses that providers have unless a document names others. */
  readonly baseUrls: Readonly<Record<(typeof byKey)[number]["api"] | "ollama", string>>;
  /** Returns the models that a trusted editor offers now. */
  editorModels(): Promise<readonly ListedModel[]>;
  /** Returns whether the person stored a secret of this name for this address. */
  hasSecret(name: string, baseUrl: string): Promise<boolean>;
  /** Rejects if the provider does not answer in a time of its own. */
  ask(provider: ProviderSettings, signal: AbortSignal): Promise<readonly ListedModel[]>;
}

/** Finds models if the person's document names no provider: by an editor, a key, or an Ollama on this machine. */
export class FoundModels {
  readonly #ports: FoundPorts;
  /** Ollama's last answer, and its time. */
  #ollama: { readonly models: readonly ListedModel[]; readonly at: number } | null = null;
  #asking: Promise<void> | null = null;

  constructor(ports: FoundPorts) {
    this.#ports = ports;
  }

  /** The address at which Ollama is searched; agents may not reach it. */
  get ollama(): ProviderSettings {
    const { baseUrls } = this.#ports;
    return { id: "ollama", api: "ollama", baseUrl: baseUrls.ollama, foundBy: "its answer on this machine" };
  }

  /** Adds what is known to what the document says; sends nothing. */
  async known(written: ModelSettings): Promise<ModelSettings> {
    if (Object.keys(written.providers).length > 0) return written;
    const found = [...(await this.#foundEditor()), ...(await this.#foundByKey()), ...this.#foundOllama()];
    const [first, ...others] = found;
    if (first === undefined) return written;
    return {
      ...written,
      providers: Object.fromEntries(found.map(({ provider }) => [provider.id, provider])),
      routes: { default: { model: first.model, mayLeave: false }, ...written.routes },
      // A request that must stay on this machine uses the first local model.
      fallbacks: { [first.model]: others.map(({ model }) => model), ...written.fallbacks },
    };
  }

  /** As `known`, after Ollama was asked, if it was not. */
  async look(written: ModelSettings): Promise<ModelSettings> {
    if (Object.keys(written.providers).length === 0 && this.#isDue)
      await (this.#asking ??= this.#askOllama().finally(() => (this.#asking = null)));
    return this.known(written);
  }

  async #foundEditor(): Promise<Found[]> {
    if ((await this.#ports.editorModels()).length === 0) return [];
    const provider: ProviderSettings = {
      id: "editor",
      api: "editor",
      foundBy: "your editor, which offers it",
    };
    return [{ provider, model: "editor/default" }];
  }

  async #foundByKey(): Promise<Found[]> {
    const { environment, baseUrls, hasSecret } = this.#ports;
    const found: Found[] = [];
    for (const { id, api, variable, model } of byKey) {
      const baseUrl = baseUrls[api];
      const isInEnvironment = (environment[variable] ?? "") !== "";
      if (!isInEnvironment && !(await hasSecret(id, baseUrl))) continue;
      const provider = isInEnvironment
        ? { id, api, baseUrl, foundBy: `the key in ${variable}` }
        : { id, api, baseUrl, secret: id, foundBy: `your secret "${id}"` };
      found.push({ provider, model: `${id}/${model}` });
    }
    return found;
  }

  #foundOllama(): Found[] {
    // Embedding models answer no questions, and only what runs here may answer without being named.
    const model = this.#ollama?.models.find(
      ({ id, isElsewhere }) => !/embed/i.test(id) && isElsewhere !== true && !isCloudModel(id),
    );
    return model === undefined ? [] : [{ provider: this.ollama, model: `ollama/${model.id}` }];
  }

  /** True if Ollama was not asked, or did not answer and may do so now. */
  get #isDue(): boolean {
    if (this.#ollama === null) return true;
    const { models, at } = this.#ollama;
    return models.length === 0 && this.#ports.clock.monotonic() - at >= askAgainAfterMs;
  }

  async #askOllama(): Promise<void> {
    const { clock, ask } = this.#ports;
    const models = await ask(this.ollama, neverAborted).catch(() => []);
    this.#ollama = { models, at: clock.monotonic() };
  }
}

interface Found {
  readonly provider: ProviderSettings;
  readonly model: string;
}
