import { maxVariantLength } from "../../../../kernel/src/base/vocabulary/bounds.ts";
import * as v from "valibot";
import { readAs } from "../shared/channel.ts";
import { Text } from "../shared/common-state.ts";

export const tabs = ["timeline", "knowledge", "working", "witness"] as const;
export type Tab = (typeof tabs)[number];

/** The part of the view's state that is kept while it is hidden. */
export const Kept = v.object({
  agent: v.optional(Text(256)),
  /** Empty: the agent's own memory. */
  namespace: v.optional(Text(128), ""),
  tab: v.optional(v.picklist(tabs), "timeline"),
  text: v.optional(Text(1_000), ""),
  variant: v.optional(Text(maxVariantLength), ""),
  /** UTC days, both inclusive. */
  days: v.optional(v.object({ from: Text(10), to: Text(10) })),
  search: v.optional(Text(1_000), ""),
  by: v.optional(v.picklist(["meaning", "words"]), "meaning"),
  itemVariant: v.optional(Text(maxVariantLength), ""),
});
export type Kept = v.InferOutput<typeof Kept>;

export function keptOf(value: unknown): Kept {
  return readAs(Kept, value)?.value ?? v.parse(Kept, {});
}
