import { canonicalJson, type JsonObject } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { Behaviour } from "../decisions/behaviour.ts";
import type { ExtensionConfiguration } from "../documents/configuration.ts";
import { defaultAgentLimits } from "../documents/limits.ts";
import type { ResolvedManifest } from "../documents/resolved-manifest.ts";
import { sha256 } from "../platform/hash.ts";

/** What the documents say an extension's agent does: all of them, but for what is asked for beside it or says nothing. */
export function behaviourOf(
  manifest: ResolvedManifest,
  entry: ExtensionConfiguration,
): { readonly behaviour: Behaviour; readonly behaviourDigest: Hash } {
  const { hooks, tools, models, resources, permissions: _asked, ...more } = manifest;
  // For people only: no agent is another for them.
  const { description: _description, author: _author, license: _license, ...others } = more;
  const { allowed_hosts: hosts = [], ...caps } = resources;
  // Where it lies is its origin, whether it is there at all its wish, and its grants are permissions and locations.
  const { path: _path, id: _id, from: _from, enabled: _enabled, grants: _grants, ...settings } = entry;
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

/** The manifest and the config that an agent is made of, from the behaviour that counts. */
export function fromBehaviour({ hooks, tools, models, hosts, caps, settings }: Behaviour): {
  readonly manifest: Omit<ResolvedManifest, "permissions" | "description">;
  readonly config: JsonObject;
} {
  const { config, ...others } = settings;
  // decisions.yaml is a person's to edit: what is gone there has its default.
  const agent = { enableMemory: true, activation: "on_event", ...(others["agent"] as object | undefined) };
  const manifest = { ...others, agent, hooks, tools, models, resources: { ...caps, allowed_hosts: hosts } };
  return {
    manifest: manifest as unknown as Omit<ResolvedManifest, "permissions" | "description">,
    config: (config ?? {}) as JsonObject,
  };
}
