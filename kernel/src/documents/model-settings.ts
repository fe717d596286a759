import type { ModelSettings, ProviderSettings } from "../base/vocabulary/model-settings.ts";
import { defaultBaseUrls, type ModelsDocument, type ProviderDocument } from "./schema/models.ts";

const microUsd = (dollars: number): number => Math.round(dollars * 1_000_000);

/** Returns the model settings with defaults filled in. File paths stay as written. */
export function modelSettings({ providers, routes, fallbacks, budgets }: ModelsDocument): ModelSettings {
  return {
    providers: mapValues(providers ?? {}, (provider, id) => providerSettings(id, provider)),
    routes: mapValues(routes ?? {}, (route) =>
      typeof route === "string"
        ? { model: route, mayLeave: false }
        : { model: route.model, mayLeave: route.may_leave === true },
    ),
    fallbacks: fallbacks ?? {},
    budgets: {
      ...(budgets?.per_day_usd === undefined ? {} : { perDayMicroUsd: microUsd(budgets.per_day_usd) }),
      ...(budgets?.per_day_tokens === undefined ? {} : { perDayTokens: budgets.per_day_tokens }),
      ...(budgets?.per_conversation_usd === undefined
        ? {}
        : { perConversationMicroUsd: microUsd(budgets.per_conversation_usd) }),
      ...(budgets?.per_agent_per_day_usd === undefined
        ? {}
        : { perAgentPerDayMicroUsd: microUsd(budgets.per_agent_per_day_usd) }),
    },
  };
}

/** Returns one provider's settings with defaults filled in. File paths stay as written. */
export function providerSettings(id: string, provider: ProviderDocument): ProviderSettings {
  const { api } = provider;
  switch (api) {
    case "editor":
      return { id, api };
    case "scripted":
      return { id, api, script: provider.script };
    case "llama":
      return {
        id,
        api,
        files: mapValues(provider.models, ({ path }) => path),
        ...contextOf(provider),
        ...(provider.temperature === undefined ? {} : { temperature: provider.temperature }),
      };
    case "openai-compatible":
      return {
        id,
        api,
        baseUrl: bare(provider.base_url),
        ...secretOf(provider),
        ...contextOf(provider),
        ...imagesOf(provider),
      };
    case "anthropic":
    case "openai":
    case "openai-chat":
    case "google":
    case "ollama":
      return {
        id,
        api,
        baseUrl: bare(provider.base_url ?? defaultBaseUrls[api]),
        ...secretOf(provider),
        ...contextOf(provider),
        ...imagesOf(provider),
      };
  }
}

const bare = (url: string): string => url.replace(/(?<!\/)\/+$/, "");

const secretOf = ({ key }: { readonly key?: { readonly secret: string } }): { secret?: string } =>
  key === undefined ? {} : { secret: key.secret };

const imagesOf = ({ images }: { readonly images?: boolean }): { images?: boolean } =>
  images === undefined ? {} : { images };

const contextOf = ({
  context_tokens: tokens,
}: {
  readonly context_tokens?: number;
}): {
  contextTokens?: number;
} => (tokens === undefined ? {} : { contextTokens: tokens });

function mapValues<Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  change: (value: Value, key: string) => Mapped,
): Record<string, Mapped> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value, key)]));
}
