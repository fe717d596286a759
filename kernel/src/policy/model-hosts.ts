import { type DeclaredModel, sourceOfModel } from "../base/vocabulary/declared-model.ts";
import { placeName, targetOf } from "./egress.ts";

/** Returns the hosts that fetching a model may reach: that of its address, and those that it may redirect to. */
export function hostsOfModel(model: DeclaredModel): string[] {
  const source = sourceOfModel(model);
  if ("lacks" in source) return [];
  const target = targetOf(source.url);
  return [...new Set(["reason" in target ? [] : [placeName(target)], source.redirectHosts].flat())];
}
