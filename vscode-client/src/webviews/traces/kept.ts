import * as v from "valibot";
import { readAs } from "../shared/channel.ts";
import { Text } from "../shared/situation.ts";
import { Level } from "./messages.ts";

/** How far back is looked; the kernel reads ages as these. */
export const ages = ["15m", "1h", "24h", "7d"] as const;

/** What of the view is kept while it is hidden. */
export const Kept = v.object({
  agent: v.optional(Text(256)),
  level: v.optional(Level),
  text: Text(256),
  /** Absent: the newest, however old. */
  age: v.optional(v.picklist(ages)),
  /** Instead of an age; what its two inputs have. */
  range: v.optional(v.object({ from: Text(32), to: Text(32) })),
});
export type Kept = v.InferOutput<typeof Kept>;

export function keptOf(value: unknown): Kept {
  return readAs(Kept, value)?.value ?? { text: "", level: "info" };
}
