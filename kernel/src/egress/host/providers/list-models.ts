import type { ListedFacts } from "../../../base/vocabulary/model-listing.ts";
import type { ProviderApi, ProviderSettings } from "../../../base/vocabulary/model-settings.ts";
import { answerBounds as bounds } from "./bounds.ts";
import { readStart } from "./exchange.ts";
import { contextFor, failureOfAbort, failureOfResponse, failureOfThrown, ModelFault } from "./failures.ts";

interface ListedModel extends ListedFacts {
  /** As the provider names it. */
  readonly id: string;
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
  modelOf(item) {
    // Servers have no common names; those that route to many models say the most.
    const { context_length: length, context_window: window, max_model_len: most } = item;
    const { max_completion_tokens: output, supported_parameters: parameters } = item;
    return modelOf(item["id"], {
      context_tokens: length ?? window ?? most,
      max_output_tokens: fieldOf(item["top_provider"], "max_completion_tokens") ?? output,
      tools: isAmong(parameters, "tools"),
      images: isAmong(fieldOf(item["architecture"], "input_modalities"), "image"),
      reasoning: isAmong(parameters, "reasoning"),
    });
  },
};

const listApis: Partial<Readonly<Record<ProviderApi, ListApi>>> = {
  anthropic: {
    path: "/models?limit=1000",
    headers: (key) => ({ "x-api-key": key, "anthropic-version": "2023-06-01" }),
    items: "data",
    modelOf: ({ id, max_input_tokens: most, max_tokens: output }) =>
      modelOf(id, { context_tokens: most, max_output_tokens: output }),
  },
  openai,
  "openai-chat": openai,
  "openai-compatible": openai,
  google: {
    path: "/models?pageSize=1000",
    headers: (key) => ({ "x-goog-api-key": key }),
    items: "models",
    modelOf({ name, supportedGenerationMethods: methods = ["generateContent"], ...facts }) {
      if (!Array.isArray(methods) || !methods.includes("generateContent")) return null;
      const { inputTokenLimit, outputTokenLimit, thinking } = facts;
      return modelOf(String(name).replace(/^models\//, ""), {
        context_tokens: inputTokenLimit,
        max_output_tokens: outputTokenLimit,
        reasoning: thinking,
      });
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

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** Returns undefined if it is not a list. */
function isAmong(list: unknown, name: string): boolean | undefined {
  return Array.isArray(list) ? list.includes(name) : undefined;
}

/** Keeps the facts that have the right type. */
function modelOf(
  id: unknown,
  {
    context_tokens: context,
    max_output_tokens: output,
    ...abilities
  }: Readonly<Partial<Record<keyof ListedFacts, unknown>>> = {},
): ListedModel | null {
  if (typeof id !== "string" || id === "" || id.length > 256) return null;
  const { tools, images, reasoning } = abilities;
  return {
    id,
    ...(isCount(context) ? { context_tokens: context } : {}),
    ...(isCount(output) ? { max_output_tokens: output } : {}),
    ...(typeof tools === "boolean" ? { tools } : {}),
    ...(typeof images === "boolean" ? { images } : {}),
    ...(typeof reasoning === "boolean" ? { reasoning } : {}),
  };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;
