import type { ModelFailure } from "../base/vocabulary/model.ts";
import type { ModelSettings, ProviderSettings } from "../base/vocabulary/model-settings.ts";
import { parseModelReference } from "./reference.ts";

/** The purpose for which a model is needed. */
export type ModelUse =
  | {
      readonly kind: "talk";
      readonly process: "channel" | "branch";
      /** The model that the person chose for the conversation. */
      readonly chosen?: string;
    }
  | {
      readonly kind: "task";
      readonly process: "worker" | "compaction" | "cortex";
      /** The name of the kind of worker. */
      readonly name?: string;
    }
  | { readonly kind: "category"; readonly category: string };

export interface Need {
  readonly use: ModelUse;
  /** Nothing in the request may leave the machine. */
  readonly localOnly: boolean;
}

/** The models to ask, in order; never empty. */
export interface Chain {
  readonly models: readonly [string, ...string[]];
}

/** Returns the models that may answer, or the reason why there is none. */
export function chainFor(need: Need, settings: ModelSettings): Chain | { readonly failure: ModelFailure } {
  const route = routeOf(need.use, settings);
  if (route === undefined) return { failure: { class: "NoModel", message: noModel(settings) } };
  const [first, ...others] = [route.model, ...(settings.fallbacks[route.model] ?? [])].filter(
    (model, index, all) => all.indexOf(model) === index,
  );
  if (first === undefined) return { failure: { class: "NoModel", message: noModel(settings) } };
  const unknown = [first, ...others].find((model) => providerOf(model, settings) === undefined);
  if (unknown !== undefined)
    return { failure: { class: "UnknownModel", message: unknownModel(unknown, settings) } };

  const isLocal = (model: string): boolean => isLocalModel(model, providerOf(model, settings));
  if (need.localOnly) {
    const [local, ...more] = [first, ...others].filter(isLocal);
    if (local !== undefined) return { models: [local, ...more] };
    return {
      failure: {
        class: "NoModel",
        message: `Only a model on this machine may be used here, and "${first}" is not one. Name a model of Ollama or llama in models.routes of your lares.yaml.`,
      },
    };
  }
  // A request that was routed to a local model must not leave the machine if that model fails.
  const rest = isLocal(first) && !route.mayLeave ? others.filter(isLocal) : others;
  return { models: [first, ...rest] };
}

/**
 * True if the provider runs inside Lares or on a loopback address. False for an editor's models, because it is
 * unknown where they run.
 */
export function isLocalProvider(provider: ProviderSettings | undefined): boolean {
  if (provider === undefined) return false;
  switch (provider.api) {
    case "llama":
    case "scripted":
      return true;
    case "editor":
      return false;
    case "anthropic":
    case "openai":
    case "openai-chat":
    case "google":
    case "openai-compatible":
    case "ollama":
      return provider.baseUrl !== undefined && isLoopbackUrl(provider.baseUrl);
  }
}

/** True if the model runs on this machine. Ollama passes on what is meant for its cloud models. */
export function isLocalModel(model: string, provider: ProviderSettings | undefined): boolean {
  return isLocalProvider(provider) && !(provider?.api === "ollama" && isCloudModel(model));
}

/** True for Ollama's names of models that run on machines of its own: "gpt-oss:120b-cloud", "glm-5:cloud". */
export function isCloudModel(model: string): boolean {
  return /[:-]cloud$/i.test(model);
}

function isLoopbackUrl(url: string): boolean {
  return /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?(?:\/|$)/i.test(url);
}

function routeOf(
  use: ModelUse,
  { routes, providers }: ModelSettings,
): ModelSettings["routes"][string] | undefined {
  const scripted = Object.values(providers).find(({ api }) => api === "scripted");
  const found = routeKeys(use)
    .map((key) => routes[key])
    .find((route) => route !== undefined);
  if (use.kind === "talk" && use.chosen !== undefined)
    return { model: use.chosen, mayLeave: found?.model === use.chosen && found.mayLeave };
  return found ?? (scripted === undefined ? undefined : { model: `${scripted.id}/script`, mayLeave: false });
}

/** Returns the names of the routes to try, the most specific one first. */
function routeKeys(use: ModelUse): readonly string[] {
  switch (use.kind) {
    case "talk":
      return [use.process, "default"];
    case "task":
      return [...(use.name === undefined ? [] : [`${use.process}.${use.name}`]), use.process, "default"];
    case "category":
      return [use.category, "default"];
  }
}

function providerOf(model: string, { providers }: ModelSettings): ProviderSettings | undefined {
  const reference = parseModelReference(model);
  return reference !== null && Object.hasOwn(providers, reference.provider)
    ? providers[reference.provider]
    : undefined;
}

function noModel({ providers }: ModelSettings): string {
  return Object.keys(providers).length === 0
    ? 'No language model is set up. Run "lares secrets set anthropic --host api.anthropic.com", start Ollama, or use an editor that offers its own models.'
    : "No route applies to this request. Add models.routes.default to your lares.yaml.";
}

function unknownModel(model: string, { providers }: ModelSettings): string {
  const known = Object.keys(providers);
  return `"${model}" does not name a configured provider${known.length === 0 ? "" : ` (${known.join(", ")})`}. Write provider/model.`;
}
