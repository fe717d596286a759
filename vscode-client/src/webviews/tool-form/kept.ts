import * as v from "valibot";
import { isWithin, readAs, type Bounds } from "../shared/channel.ts";
import { Id, Text } from "../shared/situation.ts";
import { maxDepth } from "./fields.ts";
import { maxArgumentsCharacters } from "./messages.ts";
import type { Draft } from "./values.ts";

/** Of what a form keeps; what is larger is not there any more when the window was loaded again. */
export const keptBounds: Bounds = { maxValues: 10_000, maxCharacters: maxArgumentsCharacters };

/** As deep as a form is, so that nothing that was kept is followed deeper. */
function draftOfDepth(depth: number): v.GenericSchema<Draft> {
  const scalars = [v.string(), v.array(v.string())] as const;
  return depth === 0
    ? v.union(scalars)
    : v.union([...scalars, v.record(v.string(), draftOfDepth(depth - 1))]);
}

/** Which tool a form is of, and what was typed and not run yet: it survives the window, and is held against this then. */
export const Kept = v.object({
  agent: Id,
  name: Id,
  json: v.optional(Text(maxArgumentsCharacters)),
  /** Absent: the form begins with the arguments of the last time. */
  draft: v.optional(v.record(v.string(), draftOfDepth(maxDepth))),
});
export type Kept = v.InferOutput<typeof Kept>;

/** Undefined for what no form kept, or for more than one keeps. */
export function keptOf(value: unknown): Kept | undefined {
  return isWithin(value, keptBounds) ? readAs(Kept, value)?.value : undefined;
}
