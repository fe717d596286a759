import { canonicalJson, type JsonObject } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Behaviour } from "../decisions/behaviour.ts";
import type { ExtensionConfiguration } from "../documents/configuration.ts";
import { defaultAgentLimits } from "../documents/limits.ts";
import type { ResolvedManifest } from "../documents/resolved-manifest.ts";
import { sha256 } from "../platform/files/hash.ts";

/**
 * Returns the behaviour of an extension's agent from its manifest and its entry: everything but permissions and
 * texts for people.
 */
export function behaviourOf(
  manifest: ResolvedManifest,
  entry: ExtensionConfiguration,
): { readonly behaviour: Behaviour; readonly behaviourDigest: Hash } {
  const { hooks, tools, models, resources, permissions: _asked, ...more } = manifest;
  // For people only: they do not change what the agent does.
  const { description: _description, author: _author, license: _license, ...others } = more;
  const { allowed_hosts: hosts = [], ...caps } = resources;
  // Requested separately: the path as the origin, the grants as permissions and locations. The models are the manifest's by now.
  const {
    path: _path,
    id: _id,
    from: _from,
    enabled: _enabled,
    grants: _grants,
    models: _models,
    ...settings
  } = entry;
  const behaviour = JSON.parse(
    JSON.stringify({
      hooks,
      tools,
      models,
      hosts,
      caps: { ...defaultAgentLimits, ...caps } satisfies Record<string, number>,
      settings: { ...others, ...settings },
    }),
  ) as Behaviour;
  return { behaviour, behaviourDigest: sha256(canonicalJson(behaviour)) };
}

/** Returns the manifest and config of an agent from its behaviour in force. */
export function fromBehaviour({ hooks, tools, models, hosts, caps, settings }: Behaviour): {
  readonly manifest: Omit<ResolvedManifest, "permissions" | "description">;
  readonly config: JsonObject;
} {
  const { config, ...others } = settings;
  // The user may edit decisions.yaml; a field that was removed there has its default.
  const agent = { enableMemory: true, activation: "on_event", ...(others["agent"] as object | undefined) };
  const manifest = { ...others, agent, hooks, tools, models, resources: { ...caps, allowed_hosts: hosts } };
  return {
    manifest: manifest as unknown as Omit<ResolvedManifest, "permissions" | "description">,
    config: (config ?? {}) as JsonObject,
  };
}
