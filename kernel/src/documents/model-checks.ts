import { closest, didYouMean } from "../base/suggest.ts";
import { providerAddressFault } from "../models/provider-address.ts";
import { isLocalModel } from "../models/routing.ts";
import { parseModelReference } from "../models/reference.ts";
import { withoutEntry, write } from "./fixes/repairs.ts";
import { providerSettings } from "./model-settings.ts";
import type { LaresDocument } from "./schema/lares.ts";
import { providerNamePattern, type ProviderDocument } from "./schema/models.ts";
import { diagnostic, type Diagnostic } from "./text/diagnostics.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";

/** Kinds of work that the kernel routes itself. Any other key is a category that extensions request. */
export const routeKinds = ["default", "channel", "branch", "worker", "compaction", "cortex"];

/** Checks what the schema of `models` cannot: names, addresses, and whether models have a provider. */
export function checkModels({ models = {} }: LaresDocument, document: ParsedDocument): Diagnostic[] {
  const providers = models.providers ?? {};
  const found = Object.entries(providers).flatMap(([name, provider]) =>
    checkProvider(name, provider, document),
  );
  const routes = Object.entries(models.routes ?? {}).map(([name, route]) => {
    const pointer = pointerTo("/models/routes", name);
    return typeof route === "string"
      ? { name, model: route, at: pointer, mayLeave: false }
      : { name, model: route.model, at: pointerTo(pointer, "model"), mayLeave: route.may_leave === true };
  });
  for (const { name, model, at } of routes) {
    found.push(...checkReference(model, at, providers, document));
    found.push(...checkRouteName(name, document));
  }
  const isLocal = (model: string): boolean => {
    const { provider = "" } = parseModelReference(model) ?? {};
    const settings = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
    return settings !== undefined && isLocalModel(model, providerSettings(provider, settings));
  };
  for (const [model, others] of Object.entries(models.fallbacks ?? {})) {
    const pointer = pointerTo("/models/fallbacks", model);
    found.push(...checkReference(model, pointer, providers, document, "key"));
    const stays = isLocal(model) && !routes.some((route) => route.model === model && route.mayLeave);
    for (const [index, other] of others.entries()) {
      const item = pointerTo(pointer, index);
      const faults = checkReference(other, item, providers, document);
      found.push(...faults);
      if (!stays || faults.length > 0 || isLocal(other)) continue;
      const message = `${other} is never asked: ${model} runs on this machine, and its requests stay there. To let them leave, write its route as { model: ${model}, may_leave: true }.`;
      found.push(
        diagnostic("fallback-unused", document.locate(item), message, [
          withoutEntry(document, item, `"${other}"`),
        ]),
      );
    }
  }
  return found;
}

function checkProvider(name: string, provider: ProviderDocument, document: ParsedDocument): Diagnostic[] {
  const found: Diagnostic[] = [];
  const pointer = pointerTo("/models/providers", name);
  if (!new RegExp(providerNamePattern).test(name)) {
    const message = `"${name}" cannot name a provider: a model is written provider/model, so a name has letters, digits, dots and dashes, at most 64.`;
    found.push(diagnostic("invalid-provider", document.locate(pointer, "key"), message));
  }
  const url = "base_url" in provider ? provider.base_url : undefined;
  const fault = url === undefined ? null : addressFault(url);
  if (fault !== null)
    found.push(diagnostic("invalid-provider", document.locate(pointerTo(pointer, "base_url")), fault));
  return found;
}

function addressFault(url: string): string | null {
  const fault = providerAddressFault(url);
  if (fault !== null) return fault;
  const { username, password, search, hash } = new URL(url);
  if (username !== "" || password !== "")
    return "An address must not hold a user name or a password. Store it with `lares secrets set`, and write key: { secret: <name> }.";
  return search === "" && hash === "" ? null : "A base address has neither a query nor a fragment.";
}

function checkReference(
  model: string,
  pointer: string,
  providers: Readonly<Record<string, ProviderDocument>>,
  document: ParsedDocument,
  part?: "key",
): Diagnostic[] {
  const at = document.locate(pointer, part);
  const reference = parseModelReference(model);
  const names = Object.keys(providers);
  if (reference === null) {
    const message = `"${model}" has to say the provider too: provider/model.`;
    return [diagnostic("invalid-model", at, message)];
  }
  const { provider, model: name } = reference;
  const settings = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (settings === undefined) {
    const hint =
      didYouMean(provider, names) ||
      (names.length === 0 ? "; models.providers names none." : `; there are ${names.join(", ")}.`);
    const meant = closest(provider, names);
    return [
      diagnostic("invalid-model", at, `models.providers has no "${provider}"${hint}`, [
        meant === undefined || part === "key" ? null : write(document, pointer, `${meant}/${name}`),
      ]),
    ];
  }
  const offered = modelsOf(settings);
  if (offered === null || offered.includes(name)) return [];
  const message = `The provider ${provider} has no model "${name}"; it has ${offered.join(", ")}.`;
  const meant = closest(name, offered) ?? (offered.length === 1 ? offered[0] : undefined);
  return [
    diagnostic("invalid-model", at, message, [
      meant === undefined || part === "key" ? null : write(document, pointer, `${provider}/${meant}`),
    ]),
  ];
}

/** Returns null if only the provider knows the answer. */
function modelsOf(provider: ProviderDocument): readonly string[] | null {
  if (provider.api === "scripted") return ["script"];
  return "models" in provider ? Object.keys(provider.models) : null;
}

function checkRouteName(name: string, document: ParsedDocument): Diagnostic[] {
  if (routeKinds.includes(name) || /^worker\.[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name)) return [];
  // Extensions choose category names freely, so only misspellings of the kernel's own names can be detected.
  const meant = closest(name, routeKinds);
  const isForm = /^[a-z][a-z0-9_]*$/.test(name);
  if (isForm && meant === undefined) return [];
  const message = `No request takes the route "${name}"${meant === undefined ? "" : `; did you mean "${meant}"?`} Routes are ${routeKinds.join(", ")}, worker.<name>, or a category in lower case.`;
  return [
    diagnostic("unknown-route", document.locate(pointerTo("/models/routes", name), "key"), message, [
      withoutEntry(document, pointerTo("/models/routes", name), name),
    ]),
  ];
}
