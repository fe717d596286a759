import * as v from "valibot";
import { readAs } from "../shared/channel.ts";
import { periods } from "./messages.ts";

const Kept = v.object({ days: v.picklist(periods), measure: v.picklist(["tokens", "dollars"]) });
export type Kept = v.InferOutput<typeof Kept>;

/** Returns what the page kept when it was hidden, or how it begins. */
export function keptOf(state: unknown): Kept {
  return readAs(Kept, state)?.value ?? { days: 30, measure: "tokens" };
}
