import type { JsonObject } from "../base/json.ts";
import { named } from "../base/named.ts";
import type { DeclaredModel } from "../base/vocabulary/declared-model.ts";
import { hostsOfModel } from "../policy/model-hosts.ts";

/**
 * Returns a model that an extension declares, for a person who decides about it: `faces, up to 12 MiB, downloaded from
 * models.example.com`, and whose `lares.yaml` names it if the manifest does not. The hosts are reached for this download alone.
 */
export function modelWords(model: JsonObject | DeclaredModel): string {
  const { name, size_mb: megabytes, named_in: namedIn } = model;
  // A behaviour that was stored may be edited by the person.
  const hosts = hostsOfModel(model as DeclaredModel);
  return [
    typeof name === "string" ? named(name) : "a model without a name",
    ...(typeof megabytes === "number" ? [`up to ${megabytes} MiB`] : []),
    hosts.length === 0
      ? "which is not downloaded"
      : `downloaded from ${hosts.map((host) => named(host)).join(" and ")}`,
    ...(namedIn === undefined
      ? []
      : [`named in ${namedIn === "user" ? "your own" : "this workspace's"} lares.yaml`]),
  ].join(", ");
}
