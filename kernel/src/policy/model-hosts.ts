import { type DeclaredModel, sourceOfModel } from "../base/vocabulary/declared-model.ts";
import { placeName, targetOf } from "./egress.ts";

/** Returns the hosts that a fetch of a model may reach: its address's host, and the hosts of its redirects. */
export function hostsOfModel(model: DeclaredModel): string[] {
  const source = sourceOfModel(model);
  if ("lacks" in source) return [];
  const target = targetOf(source.url);
  return [...new Set(["reason" in target ? [] : [placeName(target)], source.redirectHosts].flat())];
}
