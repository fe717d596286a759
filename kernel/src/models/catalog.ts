import type { ProviderSettings } from "../base/vocabulary/model-settings.ts";
import type { ModelUsage } from "../base/vocabulary/model.ts";

/** Published facts about a model. Amounts are in dollars for a million tokens. */
export interface ModelFacts {
  readonly name: string;
  readonly contextTokens?: number;
  /** For the shortest requests; some models cost more for long ones. */
  readonly inputUsdPerMtok?: number;
  readonly outputUsdPerMtok?: number;
}

/** Prices and windows of the models that providers sell. */
export interface ModelCatalog {
  /** Returns the provider's current models, those with the dearest input first; empty where nothing is published about it. */
  list(provider: ProviderSettings, nowMs: number): readonly ModelFacts[];
  /** Returns what is published about one model; null where nothing is. */
  find(provider: ProviderSettings, model: string, nowMs: number): ModelFacts | null;
  /** Returns what the tokens cost at this time, in whole millionths of a dollar, rounded up; null without a known price. */
  costInMicroUsd(provider: ProviderSettings, model: string, usage: ModelUsage, nowMs: number): number | null;
}

/** The catalogue's data is half a megabyte of code, so it is loaded when it is first asked for. */
export async function openCatalog(): Promise<ModelCatalog> {
  const { calcPrice, findProvider } = await import("@pydantic/genai-prices");
  // By the address and not by the name: a server of one's own that speaks Anthropic's language has other prices.
  const listed = ({ baseUrl }: ProviderSettings) => {
    if (baseUrl === undefined) return undefined;
    const entry = findProvider({ providerApiUrl: baseUrl });
    // The catalogue's patterns end in the middle of a host: api.anthropic.com.example.com is not Anthropic's.
    const isWhole = entry !== undefined && new RegExp(`^(?:${entry.api_pattern})(?:[/:]|$)`).test(baseUrl);
    return isWhole ? entry : undefined;
  };
  const priced = (provider: ProviderSettings, model: string, usage: ModelUsage, nowMs: number) => {
    const entry = listed(provider);
    if (entry === undefined) return null;
    const { cache_read_tokens: read = 0, cache_write_tokens: written = 0 } = usage;
    return calcPrice(
      {
        // Counted by the catalogue with what was read from a cache or written to one.
        input_tokens: usage.input_tokens + read + written,
        output_tokens: usage.output_tokens,
        cache_read_tokens: read,
        cache_write_tokens: written,
      },
      model,
      { provider: entry, timestamp: new Date(nowMs) },
    );
  };
  const facts = (provider: ProviderSettings, name: string, nowMs: number): ModelFacts => {
    const price = priced(provider, name, { input_tokens: 1000, output_tokens: 1000 }, nowMs);
    const contextTokens = price?.model.context_window ?? provider.contextTokens;
    return {
      name,
      ...(contextTokens === undefined ? {} : { contextTokens }),
      ...(price === null
        ? {}
        : {
            inputUsdPerMtok: perMillion(price.input_price),
            outputUsdPerMtok: perMillion(price.output_price),
          }),
    };
  };
  return {
    list: (provider, nowMs) =>
      (listed(provider)?.models ?? [])
        .filter(({ deprecated, description }) => deprecated !== true && !isRetired(description))
        .map(({ id }) => facts(provider, id, nowMs))
        .toSorted((one, other) => (other.inputUsdPerMtok ?? 0) - (one.inputUsdPerMtok ?? 0)),
    find: (provider, model, nowMs) => {
      const found = facts(provider, model, nowMs);
      return found.contextTokens === undefined && found.inputUsdPerMtok === undefined ? null : found;
    },
    costInMicroUsd: (provider, model, usage, nowMs) => {
      const price = priced(provider, model, usage, nowMs);
      // A thousandth of a millionth is the arithmetic's own, not the provider's.
      return price === null ? null : Math.ceil(Number((price.total_price * 1_000_000).toFixed(3)));
    },
  };
}

const perMillion = (dollarsPerThousand: number): number => Number((dollarsPerThousand * 1000).toFixed(6));

const isRetired = (description = ""): boolean => description.startsWith("Retired");
