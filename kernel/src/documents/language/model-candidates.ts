import { isJsonObject } from "../../base/json.ts";
import { routeKinds } from "../model-checks.ts";
import { modelReferencePattern } from "../schema/models.ts";
import type { Schema } from "../schema/schema-at.ts";
import { valueAt } from "../text/source.ts";

/** What the routes are for that the kernel takes itself. */
const routeMeanings: Readonly<Record<string, string>> = {
  default: "Whatever has no route of its own",
  channel: "Conversations",
  branch: "Branches of a conversation",
  worker: "Workers; worker.<name> is for the workers of one name",
  compaction: "Summaries of long conversations",
  cortex: "The cortex",
  chat: "The category that agents ask for unless they name another",
};
/** The providers that are found by their names alone, and their APIs. */
const usualProviders = ["anthropic", "openai", "google", "ollama"];

/** Returns keys of the maps of `models` whose names the schema does not know; none elsewhere. */
export function modelKeys(pointer: string, document: unknown): Schema[] {
  switch (pointer) {
    case "/models/routes":
      return [keysOf([...routeKinds, "chat"], (name) => ({ type: "string", ...meaning(name) }))];
    case "/models/providers":
      return [keysOf(usualProviders, () => ({ type: "object" }))];
    case "/models/fallbacks":
      return [keysOf(routedModels(document), () => ({ type: "array" }))];
    default:
      return [];
  }
}

function meaning(name: string): Pick<Schema, "description"> {
  const description = routeMeanings[name];
  return description === undefined ? {} : { description };
}

function keysOf(names: readonly string[], schemaOf: (name: string) => Schema): Schema {
  return { properties: Object.fromEntries(names.map((name) => [name, schemaOf(name)])) };
}

/** Returns the models that the document itself names: those of files, of the editor and of routes. */
export function modelReferences(document: unknown): string[] {
  const providers = valueAt(document, "/models/providers");
  const own = isJsonObject(providers)
    ? Object.entries(providers).flatMap(([name, provider]) =>
        modelsOf(provider).map((model) => `${name}/${model}`),
      )
    : [];
  return [...new Set([...own, ...routedModels(document)])];
}

function modelsOf(provider: unknown): string[] {
  if (!isJsonObject(provider)) return [];
  if (provider["api"] === "scripted") return ["script"];
  if (provider["api"] === "editor") return ["default"];
  return isJsonObject(provider["models"]) ? Object.keys(provider["models"]) : [];
}

function routedModels(document: unknown): string[] {
  const routes = valueAt(document, "/models/routes");
  if (!isJsonObject(routes)) return [];
  const models = Object.values(routes).map((route) => (isJsonObject(route) ? route["model"] : route));
  return [...new Set(models.filter((model) => typeof model === "string"))].filter((model) =>
    new RegExp(modelReferencePattern).test(model),
  );
}
