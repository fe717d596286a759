import * as v from "valibot";
import { commonPushes, commonRequests, Count, Nothing, Text } from "../shared/common-state.ts";

/** Characters of one line of the question; nothing that the person decides on is cut. */
const maxLine = 100_000;
const Line = Text(maxLine);
const Change = v.picklist(["new", "changed", "unchanged"]);

export const Part = v.object({
  id: Line,
  group: v.picklist(["see", "change", "other"]),
  title: Line,
  detail: v.optional(Line),
  permission: v.optional(Line),
  change: Change,
  granted: v.boolean(),
  answered: v.boolean(),
});
export type Part = v.InferOutput<typeof Part>;

const Folder = v.object({
  path: Line,
  title: Line,
  requested: v.boolean(),
  change: Change,
  granted: v.boolean(),
  answered: v.boolean(),
  files: v.optional(Count),
});
type Folder = v.InferOutput<typeof Folder>;

export const Card = v.object({
  extension: Line,
  name: Line,
  description: v.optional(Line),
  version: Line,
  origin: Line,
  state: Change,
  granted: v.boolean(),
  answered: v.boolean(),
  changes: v.array(Line),
  program: v.object({
    change: Change,
    fault: v.optional(Line),
    diff: v.optional(v.object({ files: Count, added: Count, removed: Count })),
  }),
  parts: v.array(Part),
  folders: v.array(Folder),
  facts: v.array(
    v.object({
      kind: v.picklist(["trigger", "mind", "tool", "model", "host", "memory", "file", "setting"]),
      text: Line,
      change: Change,
    }),
  ),
  cannot: v.array(Line),
});
export type Card = v.InferOutput<typeof Card>;

export const Question = v.object({
  /** The digest that an answer is bound to. */
  digest: Text(128),
  trusted: v.boolean(),
  answered: v.boolean(),
  since: v.nullable(Text(64)),
  extensions: v.array(Card),
  workspace: v.array(Part),
  /** The names of the editor's folders, separated by commas. */
  folder: Text(1_000),
});
export type Question = v.InferOutput<typeof Question>;

export const Program = v.object({
  kept: v.boolean(),
  reason: v.optional(Line),
  files: v.array(
    v.object({
      path: Line,
      change: v.picklist(["added", "removed", "changed", "unchanged"]),
      added: Count,
      removed: Count,
      diff: v.optional(v.string()),
    }),
  ),
});
export type Program = v.InferOutput<typeof Program>;

/** The number of subfolders that are offered. */
export const maxSubfolders = 200;

const Path = Text(4_096);

const Grants = v.object({
  extensions: v.array(v.object({ extension: Text(256), parts: v.array(Line), folders: v.array(Path) })),
  workspace: v.array(Line),
});

export const consentContract = {
  requests: {
    ...commonRequests,
    question: { params: Nothing, result: Question },
    program: { params: v.object({ extension: Text(256), path: v.optional(Path) }), result: Program },
    /** The names of the folders inside one folder, without hidden ones. */
    subfolders: {
      params: v.object({ path: Path }),
      result: v.object({ names: v.pipe(v.array(Text(1_000)), v.maxLength(maxSubfolders)), more: Count }),
    },
    /** False if the question has changed meanwhile. */
    answer: {
      params: v.object({ digest: Text(128), grants: Grants }),
      result: v.object({ accepted: v.boolean() }),
    },
    notNow: { params: v.object({ digest: Text(128) }), result: Nothing },
  },
  pushes: {
    ...commonPushes,
    /** The documents, or the answer to them, may have changed. */
    changed: Nothing,
  },
};
export type ConsentContract = typeof consentContract;
