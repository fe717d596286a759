import type { ProviderApi, ProviderSettings } from "../../../base/vocabulary/model-settings.ts";
import { answerBounds as bounds } from "./bounds.ts";
import { readStart } from "./exchange.ts";
import { contextFor, failureOfAbort, failureOfResponse, failureOfThrown, ModelFault } from "./failures.ts";

interface ListedModel {
  /** As the provider names it. */
  readonly id: string;
  readonly context_tokens?: number;
  /** It takes pictures; absent where the provider does not say it. */
  readonly images?: boolean;
  /** It runs on another machine than the provider. */
  readonly isElsewhere?: true;
}

interface ListApi {
  readonly path: string;
  headers(key: string): Readonly<Record<string, string>>;
  /** The field of the answer with the models. */
  readonly items: "data" | "models";
  modelOf(item: Readonly<Record<string, unknown>>): ListedModel | null;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const openai: ListApi = {
  path: "/models",
  headers: bearer,
  items: "data",
  // Servers have no common name for the window.
  modelOf: ({ id, context_length: length, context_window: window, max_model_len: most, architecture }) =>
    modelOf(id, length ?? window ?? most, modalitiesIn(architecture)),
};

const listApis: Partial<Readonly<Record<ProviderApi, ListApi>>> = {
  anthropic: {
    path: "/models?limit=1000",
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
    items: "data",
    modelOf: ({ id, max_input_tokens: most }) => modelOf(id, most),
  },
  openai,
  "openai-chat": openai,
  "openai-compatible": openai,
  google: {
    path: "/models?pageSize=1000",
    headers: (key) => ({ "x-goog-api-key": key }),
    items: "models",
    modelOf({ name, inputTokenLimit, supportedGenerationMethods: methods = ["generateContent"] }) {
      if (!Array.isArray(methods) || !methods.includes("generateContent")) return null;
      return modelOf(String(name).replace(/^models\//, ""), inputTokenLimit);
    },
  },
  ollama: {
    path: "/api/tags",
    headers: bearer,
    items: "models",
    modelOf({ model, name, remote_host: remoteHost }) {
      const found = modelOf(model ?? name);
      const isElsewhere = typeof remoteHost === "string" && remoteHost !== "";
      return found !== null && isElsewhere ? { ...found, isElsewhere } : found;
    },
  },
};

/** Returns the models that the provider offers, in its order. Throws ModelFault. */
export async function listModels(
  provider: ProviderSettings,
  key: string | null,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const api = listApis[provider.api];
  const context = contextFor(provider, "", key);
  if (api === undefined || provider.baseUrl === undefined)
    throw new ModelFault({
      class: "NoModel",
      message: `The provider "${provider.id}" (api: ${provider.api}) has no list of models on the network.`,
    });
  let response: Response;
  let body: string;
  try {
    response = await fetch(`${provider.baseUrl}${api.path}`, {
      headers: { accept: "application/json", ...(key === null ? {} : api.headers(key)) },
      redirect: "manual",
      signal,
    });
    body = await readStart(response, bounds.maxListBytes);
  } catch (error) {
    throw new ModelFault(signal.aborted ? failureOfAbort(signal, context) : failureOfThrown(error, context));
  }
  const { status, headers } = response;
  if (!response.ok)
    throw new ModelFault(
      failureOfResponse({ status, headers, body: body.slice(0, bounds.maxErrorBytes) }, context, Date.now()),
    );
  const items = itemsOf(body, api.items);
  if (items === null)
    throw new ModelFault({
      class: "InvalidRequest",
      message: `The provider "${provider.id}" answered with something that is not a list of models. Check its base_url and api.`,
    });
  return items.flatMap((item) =>
    typeof item === "object" && item !== null ? (api.modelOf(item as Record<string, unknown>) ?? []) : [],
  );
}

function itemsOf(body: string, name: string): readonly unknown[] | null {
  try {
    const list = JSON.parse(body) as Readonly<Record<string, unknown>> | null;
    const items = list?.[name];
    return Array.isArray(items) ? (items as readonly unknown[]) : null;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
}

/** Servers that route to many models list the kinds of input that each one takes. */
function modalitiesIn(architecture: unknown): boolean | undefined {
  const read = (architecture as { readonly input_modalities?: unknown } | null | undefined)?.input_modalities;
  return Array.isArray(read) ? read.includes("image") : undefined;
}

function modelOf(id: unknown, contextTokens?: unknown, images?: boolean): ListedModel | null {
  if (typeof id !== "string" || id === "" || id.length > 256) return null;
  const isCount = typeof contextTokens === "number" && Number.isInteger(contextTokens) && contextTokens > 0;
  return {
    id,
    ...(isCount ? { context_tokens: contextTokens } : {}),
    ...(images === undefined ? {} : { images }),
  };
}
