import * as v from "valibot";
import { commonPushes, commonRequests, Count, Id, Nothing, Text } from "../shared/common-state.ts";

/** Characters of a tool's schema, as JSON; with a larger one, the arguments are edited as JSON. */
export const maxSchemaCharacters = 200_000;
/** Characters of arguments, as JSON, that are sent, and kept for the next time. */
export const maxArgumentsCharacters = 200_000;
/** Characters of a result, as JSON, that are shown. */
export const maxResultCharacters = 500_000;
/** Effects of an action that are named. */
export const maxEffects = 50;

export const Form = v.object({
  agent: Id,
  name: Id,
  description: Text(8_000),
  /** JSON Schema. */
  parameters: v.record(v.string(), v.unknown()),
  /** The last arguments of this tool in this workspace. */
  last: v.optional(v.record(v.string(), v.unknown())),
});
export type Form = v.InferOutput<typeof Form>;

export const Outcome = v.variant("status", [
  v.object({
    status: v.literal("success"),
    value: v.unknown(),
    /** The value is longer, and this is the beginning of its JSON. */
    cut: v.optional(v.boolean()),
  }),
  v.object({ status: v.literal("error"), message: Text(20_000), recoverable: v.boolean() }),
  v.object({
    status: v.literal("needs_approval"),
    reason: Text(4_000),
    action: v.object({
      id: Id,
      /** The digest that an approval is bound to. */
      digest: Text(128),
      title: Text(200),
      impact: v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
      /** What each effect would do. */
      effects: v.pipe(v.array(Text(400)), v.maxLength(maxEffects)),
      moreEffects: Count,
    }),
  }),
]);
export type Outcome = v.InferOutput<typeof Outcome>;

export const toolFormContract = {
  requests: {
    ...commonRequests,
    form: { params: Nothing, result: Form },
    run: { params: v.object({ arguments: v.unknown() }), result: Outcome },
    showChanges: { params: v.object({ id: Id }), result: Nothing },
    /** Approves an action with the editor's own command, including its questions. */
    approve: { params: v.object({ id: Id, digest: Text(128) }), result: Nothing },
    copy: { params: v.object({ text: Text(maxResultCharacters * 2) }), result: Nothing },
  },
  pushes: {
    ...commonPushes,
    /** The outcome of an action that was waiting: its state as the kernel names it. */
    settled: v.object({ id: Id, state: Text(32) }),
  },
};
export type ToolFormContract = typeof toolFormContract;
