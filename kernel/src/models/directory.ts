import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type {
  ListedFacts,
  ModelListing,
  ModelsListing,
  ProviderListing,
} from "../base/vocabulary/model-listing.ts";
import type { ModelSettings, ProviderSettings } from "../base/vocabulary/model-settings.ts";
import type { ModelCatalog, ModelFacts } from "./catalog.ts";
import { takesPictures } from "./pictures.ts";
import { parseModelReference } from "./reference.ts";
import { isLocalProvider } from "./routing.ts";

/** A model as its provider lists it. */
export interface ListedModel extends ListedFacts {
  /** Without the provider. */
  readonly id: string;
  /** The provider passes on what is meant for it, to another machine. */
  readonly isElsewhere?: true;
}

interface DirectoryPorts {
  readonly clock: Clock;
  /** With `refresh`, models are searched that need no configuration. */
  settings(refresh: boolean): Promise<ModelSettings>;
  catalog(): Promise<ModelCatalog>;
  /** Returns what is wrong with the key that the provider needs, in a sentence; null if nothing is. */
  keyProblem(provider: ProviderSettings): Promise<string | null>;
  /** Asks the provider which models it has; rejects if it does not answer. */
  ask(provider: ProviderSettings, signal: AbortSignal): Promise<readonly ListedModel[]>;
  /** Returns the models that a trusted editor offers now. */
  editorModels(): Promise<readonly ListedModel[]>;
}

/** Maximum number of models of one provider in the list. */
const maxModelsPerProvider = 200;

interface Seen {
  readonly state: "ready" | "unreachable";
  readonly models: readonly ListedModel[];
  /** Why it did not answer. */
  readonly problem?: string;
}

/** The known providers, models and routes. Caches the providers' last answers. */
export class ModelDirectory {
  readonly #ports: DirectoryPorts;
  readonly #seen = new Map<string, Seen>();

  constructor(ports: DirectoryPorts) {
    this.#ports = ports;
  }

  /** Asks the providers only with `refresh`. */
  async list(refresh: boolean, signal: AbortSignal): Promise<ModelsListing> {
    const settings = await this.#ports.settings(refresh);
    const all = Object.values(settings.providers);
    if (refresh)
      await Promise.all(
        all.map(async (provider) => {
          const hasList = provider.baseUrl !== undefined || provider.files !== undefined;
          if (hasList && (await this.#ports.keyProblem(provider)) === null)
            await this.#refresh(provider, signal);
        }),
      );
    const providers = await this.#providersOf(settings);
    const listings = await Promise.all(all.map((provider) => this.#modelsOf(provider, settings)));
    return {
      providers,
      models: listings.flat(),
      routes: Object.fromEntries(Object.entries(settings.routes).map(([name, { model }]) => [name, model])),
    };
  }

  /** Returns the providers without their models, whose prices take the catalogue much longer; agents ask for it. */
  async providers(): Promise<readonly ProviderListing[]> {
    return await this.#providersOf(await this.#ports.settings(false));
  }

  /** Returns how many tokens a model reads; undefined if nothing is known about it. Asks no provider. */
  async contextTokens(provider: ProviderSettings, model: string): Promise<number | undefined> {
    if (provider.contextTokens !== undefined) return provider.contextTokens;
    const name = parseModelReference(model)?.model ?? "";
    const seen = this.#seen.get(keyOf(provider))?.models.find(({ id }) => id === name)?.context_tokens;
    if (seen !== undefined || provider.baseUrl === undefined) return seen;
    const catalog = await this.#ports.catalog();
    return catalog.find(provider, name, this.#ports.clock.now())?.contextTokens;
  }

  /** Returns whether a model takes pictures; false if nothing is known about it. Asks no provider. */
  takesPictures(provider: ProviderSettings, model: string): boolean {
    const name = parseModelReference(model)?.model ?? "";
    const listed = this.#seen.get(keyOf(provider))?.models.find(({ id }) => id === name)?.images;
    return takesPictures(provider, name, listed) === true;
  }

  async #providersOf({ providers }: ModelSettings): Promise<ProviderListing[]> {
    return await Promise.all(
      Object.values(providers).map(async (provider) => {
        const { id, api, foundBy } = provider;
        // It is asked on this machine, so its answer is always the present one.
        if (api === "editor") {
          const models = await this.#ports.editorModels();
          this.#seen.set(
            keyOf(provider),
            models.length === 0
              ? {
                  state: "unreachable",
                  models,
                  problem: "No editor that offers language models is connected.",
                }
              : { state: "ready", models },
          );
        }
        const keyProblem = await this.#ports.keyProblem(provider);
        const problem = keyProblem ?? this.#seen.get(keyOf(provider))?.problem;
        return {
          id,
          api,
          state: keyProblem === null ? this.#stateOf(provider) : "no_key",
          ...(problem === undefined ? {} : { problem }),
          local: isLocalProvider(provider),
          ...(foundBy === undefined ? {} : { found_by: foundBy }),
        };
      }),
    );
  }

  async #refresh(provider: ProviderSettings, signal: AbortSignal): Promise<void> {
    try {
      this.#seen.set(keyOf(provider), { state: "ready", models: await this.#ports.ask(provider, signal) });
    } catch (error) {
      signal.throwIfAborted();
      this.#seen.set(keyOf(provider), { state: "unreachable", models: [], problem: messageOf(error) });
    }
  }

  #stateOf(provider: ProviderSettings): ProviderListing["state"] {
    // It answers from a file, without a connection.
    if (provider.api === "scripted") return "ready";
    return this.#seen.get(keyOf(provider))?.state ?? "unknown";
  }

  /** Returns those that routes and fallbacks name, those that the provider listed, and those of the catalogue. */
  async #modelsOf(provider: ProviderSettings, settings: ModelSettings): Promise<ModelListing[]> {
    const { clock } = this.#ports;
    const names = new Map<string, ListedModel>();
    for (const reference of namedModels(settings)) {
      const parsed = parseModelReference(reference);
      if (parsed?.provider === provider.id) names.set(parsed.model, { id: parsed.model });
    }
    if (provider.api === "scripted") names.set("script", { id: "script" });
    if (provider.api === "editor") names.set("default", { id: "default" });
    for (const name of Object.keys(provider.files ?? {})) names.set(name, { id: name });
    for (const model of this.#seen.get(keyOf(provider))?.models ?? []) names.set(model.id, model);
    const catalog = provider.baseUrl === undefined ? null : await this.#ports.catalog();
    const isListed = this.#seen.has(keyOf(provider));
    // The provider's own list is preferred.
    if (!isListed)
      for (const { name } of catalog?.list(provider, clock.now()) ?? [])
        if (!names.has(name)) names.set(name, { id: name });
    return [...names.values()]
      .slice(0, maxModelsPerProvider)
      .map((model) => listingOf(provider, model, catalog?.find(provider, model.id, clock.now()) ?? null));
  }
}

/** A provider with another address is another provider, whatever it is called. */
const keyOf = ({ id, api, baseUrl = "" }: ProviderSettings): string => JSON.stringify([id, api, baseUrl]);

function listingOf(provider: ProviderSettings, model: ListedModel, facts: ModelFacts | null): ModelListing {
  // The file of a model of this machine may allow less than the document says, and its listing counts both.
  const [first, second] =
    provider.api === "llama"
      ? [model.context_tokens, provider.contextTokens]
      : [provider.contextTokens, model.context_tokens];
  const context = first ?? second ?? facts?.contextTokens;
  const images = takesPictures(provider, model.id, model.images);
  const { inputUsdPerMtok: input, outputUsdPerMtok: output } = facts ?? {};
  const { max_output_tokens: most, tools, reasoning } = model;
  return {
    id: `${provider.id}/${model.id}`,
    ...(context === undefined ? {} : { context_tokens: context }),
    ...(most === undefined ? {} : { max_output_tokens: most }),
    ...(input === undefined ? {} : { input_usd_per_mtok: input }),
    ...(output === undefined ? {} : { output_usd_per_mtok: output }),
    ...(tools === undefined ? {} : { tools }),
    ...(images === undefined ? {} : { images }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}

function namedModels({ routes, fallbacks }: ModelSettings): Set<string> {
  return new Set([
    ...Object.values(routes).map(({ model }) => model),
    ...Object.keys(fallbacks),
    ...Object.values(fallbacks).flat(),
  ]);
}
