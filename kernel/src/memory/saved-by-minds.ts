import { otherSources } from "../base/vocabulary/bounds.ts";
import { isJsonObject } from "../base/json.ts";
import { type Foreign, foreignFrom, nothingForeign } from "../base/vocabulary/foreign.ts";

/**
 * Returns what the data of an item says of texts that nobody vouches for. Earlier kernels wrote the mark of what a mind saved
 * nowhere else, and the agent's program may change data. An item of the program itself names no call.
 */
export function foreignInSaved(data: unknown): Foreign {
  if (!isJsonObject(data) || data["tainted"] !== true) return nothingForeign;
  const { conversation, call, sources } = data;
  if (typeof conversation !== "string" || typeof call !== "string") return nothingForeign;
  const named = Array.isArray(sources) ? sources.filter((source) => typeof source === "string") : [];
  return foreignFrom(named.length === 0 ? [otherSources] : named, "all");
}
