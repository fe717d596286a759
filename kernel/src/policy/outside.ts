import { invalidParams, LaresError, permissionDenied } from "../base/errors.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { namesTarget, placeName, targetOf } from "./egress.ts";
import { refusalOf } from "./refusal.ts";

/** Returns the error for a request that may not leave the machine. */
export function egressDenied(host: string, reason: string): LaresError {
  return new LaresError("EgressDenied", reason, { host, reason });
}

/** Decides whether the agent may send a request to this address at all; the address itself is decided by `egress.ts`. */
export function fetching(authority: Authority, { url }: Record<string, unknown>): LaresError | null {
  if (typeof url !== "string") return invalidParams('"url" must be a string.', { path: "url" });
  const target = targetOf(url);
  if ("reason" in target) return egressDenied(target.host, target.reason);
  const { extension, hosts = [] } = authority;
  if (namesTarget(target, hosts)) return null;
  const reason = `${extension} may not reach ${placeName(target)}. List it under resources.allowed_hosts in its manifest; a person has to accept it.`;
  return egressDenied(target.host, reason);
}

/** Returns the hosts that the agent may reach for all on whose behalf it acts. */
export function reachableHosts({ hosts = [], onBehalfOf = [] }: Authority): readonly string[] {
  return onBehalfOf.reduce<readonly string[]>(
    (common, caller) => common.filter((host) => caller.hosts?.includes(host) === true),
    hosts,
  );
}

export function usingCredential(authority: Authority, { name }: Record<string, unknown>): LaresError | null {
  const refusal = refusalOf(authority, "use_credentials");
  if (refusal !== null) return refusal;
  if (typeof name !== "string") return invalidParams('"name" must be a string.', { path: "name" });
  if (authority.effective.use_credentials?.includes(name) === true) return null;
  return permissionDenied(
    authority.extension,
    "use_credentials",
    `${authority.extension} may use_credentials, but not ${JSON.stringify(name)}; list it in its manifest.`,
  );
}

/** The category of a request that names none. */
export const defaultModelCategory = "chat";
/** What `use_models` lists for `ai/embed`, which names no category itself. */
export const embeddingCategory = "embedding";

export function usingModels(
  authority: Authority,
  { category = defaultModelCategory }: Record<string, unknown>,
): LaresError | null {
  const refusal = refusalOf(authority, "use_models");
  if (refusal !== null) return refusal;
  if (typeof category !== "string")
    return invalidParams('"category" must be a string.', { path: "category" });
  if (category === embeddingCategory)
    return invalidParams(`"${embeddingCategory}" is the category of ai/embed, and no model answers it.`, {
      path: "category",
    });
  return usingCategory(authority, category);
}

/** Decides whether the agent may have texts turned into vectors. */
export function embedding(authority: Authority): LaresError | null {
  return refusalOf(authority, "use_models") ?? usingCategory(authority, embeddingCategory);
}

function usingCategory(authority: Authority, category: string): LaresError | null {
  if (authority.effective.use_models?.some((model) => model.category === category) === true) return null;
  return permissionDenied(
    authority.extension,
    "use_models",
    `${authority.extension} may not use models of the category ${JSON.stringify(category)}. List the category under use_models in its manifest.`,
  );
}

/**
 * Decides whether the agent may run a model that its manifest, or its entry in `lares.yaml`, declares. A person accepts the declaration, with its address and
 * digest, as a part of what the agent is; `use_models` is for models of the person's settings, but whoever denies it means these
 * too.
 */
export function inferring(authority: Authority, { model }: Record<string, unknown>): LaresError | null {
  if (typeof model !== "string") return invalidParams('"model" must be a string.', { path: "model" });
  const { extension, models = [], denied } = authority;
  if (denied.includes("use_models"))
    return permissionDenied(
      extension,
      "use_models",
      `use_models was denied to ${extension}, which includes its own models; remove it from "deny" in its grants.`,
    );
  if (models.includes(model)) return null;
  return permissionDenied(
    extension,
    "models",
    `${extension} has no model ${JSON.stringify(model)}. Declare it under models in its manifest or in its entry in lares.yaml; a person has to accept it.`,
  );
}

export const knowingModels = (authority: Authority): LaresError | null => refusalOf(authority, "use_models");

/** Returns true if a request of this category may not leave the machine, for the agent or for one it acts for. */
export function isLocalOnly({ effective, onBehalfOf = [] }: Authority, category: string): boolean {
  const models = effective.use_models?.filter((model) => model.category === category) ?? [];
  // The widest of several entries for a category holds.
  const isLocal = models.every((model) => model.local_only === true);
  return isLocal || onBehalfOf.some((caller) => isLocalOnly(caller, category));
}
