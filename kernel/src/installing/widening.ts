import { behaviourChanges, type Behaviour } from "../decisions/behaviour.ts";
import { describePermissions } from "../decisions/describe-permission.ts";
import { permissionParts } from "../decisions/parts.ts";
import type { ResolvedManifest } from "../documents/resolved-manifest.ts";
import { behaviourOf } from "../configuration/behaviours.ts";
import { canonicalJson } from "../base/json.ts";
import { visibleText } from "../base/visible-text.ts";

/** Fields that every version changes, or that widen nothing. */
const unasked = new Set(["version", "name", "main"]);

const unreadable = "Its manifest cannot be read, so everything above may be more than it requested.";

/**
 * Returns what a version of an extension requests beyond another one, a sentence each; empty if it is nothing. `before`: null if
 * the other one's manifest cannot be read.
 */
export function wideningOf(fresh: ResolvedManifest, before: ResolvedManifest | null): string[] {
  if (before === null) return [unreadable];
  const known = new Set(
    permissionParts(before.permissions).map(({ permissions }) => canonicalJson(permissions)),
  );
  const permissions = permissionParts(fresh.permissions)
    .filter((part) => !known.has(canonicalJson(part.permissions)))
    .flatMap((part) => describePermissions(part.permissions));
  return [
    ...permissions,
    ...behaviourChanges(comparable(fresh), comparable(before)).map((text) => visibleText(text)),
  ];
}

function comparable(manifest: ResolvedManifest): Behaviour {
  const { behaviour } = behaviourOf(manifest, {
    from: { source: "workspace", file: "" },
    enabled: true,
    grants: { locations: ["."], allow: ["*"], deny: [] },
    config: {},
  });
  const settings = Object.entries(behaviour.settings).filter(([name]) => !unasked.has(name));
  return { ...behaviour, settings: Object.fromEntries(settings) };
}
