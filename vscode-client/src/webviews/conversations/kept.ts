import * as v from "valibot";
import { Text } from "../shared/common-state.ts";
import { Attached, maxAttached } from "./messages.ts";

/** Drafts that are kept; of more, the oldest are dropped. */
const maxDrafts = 20;

/** The page's selection and its unsent draft; it outlives the page. */
const Kept = v.object({
  id: v.optional(Text(256)),
  drafts: v.fallback(
    v.pipe(
      v.array(
        v.object({
          id: Text(256),
          text: Text(200_000),
          attached: v.pipe(v.array(Attached), v.maxLength(maxAttached)),
        }),
      ),
      v.maxLength(maxDrafts),
    ),
    [],
  ),
});
type Kept = v.InferOutput<typeof Kept>;
type KeptDraft = Kept["drafts"][number];

export function keptFrom(value: unknown): Kept {
  const read = v.safeParse(Kept, value);
  return read.success ? read.output : { drafts: [] };
}

/** Returns what is kept beyond the page: drafts without their pictures, which are too large to be written at each key. */
export function keptOf(kept: Kept): Kept {
  return {
    ...kept,
    drafts: kept.drafts.map((draft) => ({
      ...draft,
      attached: draft.attached.filter(({ kind }) => kind !== "picture"),
    })),
  };
}

/** Returns the drafts with this one instead of the one of its conversation. */
export function withDraft(drafts: readonly KeptDraft[], draft: KeptDraft): KeptDraft[] {
  const others = drafts.filter(({ id }) => id !== draft.id);
  const isEmpty = draft.text === "" && draft.attached.length === 0;
  return [...others, ...(isEmpty ? [] : [draft])].slice(-maxDrafts);
}
