import * as v from "valibot";
import { readAs } from "../shared/channel.ts";
import { Text } from "../shared/common-state.ts";
import { Level } from "./messages.ts";

/** The age filters; the kernel accepts ages in this form. */
export const ages = ["15m", "1h", "24h", "7d"] as const;

/** The part of the view's state that is kept while it is hidden. */
export const Kept = v.object({
  agent: v.optional(Text(256)),
  level: v.optional(Level),
  text: Text(256),
  /** If absent, the newest entries, however old. */
  age: v.optional(v.picklist(ages)),
  /** Used instead of an age; the contents of its two inputs. */
  range: v.optional(v.object({ from: Text(32), to: Text(32) })),
});
export type Kept = v.InferOutput<typeof Kept>;

export function keptOf(value: unknown): Kept {
  return readAs(Kept, value)?.value ?? { text: "", level: "info" };
}
