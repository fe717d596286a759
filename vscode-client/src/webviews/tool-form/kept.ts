import * as v from "valibot";
import { isWithin, readAs, type Bounds } from "../shared/channel.ts";
import { Id, Text } from "../shared/common-state.ts";
import { maxDepth } from "./fields.ts";
import { maxArgumentsCharacters } from "./messages.ts";
import type { Draft } from "./values.ts";

/** The limits of a form's kept state; a larger one is not restored when the window reloads. */
export const keptBounds: Bounds = { maxValues: 10_000, maxCharacters: maxArgumentsCharacters };

/** As deep as a form, so that validation goes no deeper. */
function draftOfDepth(depth: number): v.GenericSchema<Draft> {
  const scalars = [v.string(), v.array(v.string())] as const;
  return depth === 0
    ? v.union(scalars)
    : v.union([...scalars, v.record(v.string(), draftOfDepth(depth - 1))]);
}

/**
 * The tool of a form, and what was typed and not run yet. It survives the window and is validated when it is restored.
 */
export const Kept = v.object({
  agent: Id,
  name: Id,
  json: v.optional(Text(maxArgumentsCharacters)),
  /** If absent, the form begins with the arguments of the last run. */
  draft: v.optional(v.record(v.string(), draftOfDepth(maxDepth))),
});
export type Kept = v.InferOutput<typeof Kept>;

/** Returns undefined for a value that no form has kept, or that exceeds the limits. */
export function keptOf(value: unknown): Kept | undefined {
  return isWithin(value, keptBounds) ? readAs(Kept, value)?.value : undefined;
}
