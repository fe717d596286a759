import { Type, type Static } from "typebox";
import type { DeepReadonly } from "../deep-readonly.ts";
import { ActionState } from "./action.ts";
import { RememberedRule } from "./approval-rule.ts";
import { ContentEdit, EffectIndex } from "./approval.ts";
import { maxEffectsPerAction } from "./bounds.ts";
import { HashOf } from "./common.ts";
import { Limit, Named, OfAgent } from "./request-fields.ts";

/** Which actions are listed. */
export const ActionQuery = Type.Object({
  state: Type.Optional(Type.Union(ActionState.anyOf, { description: "Only actions in this state" })),
  agent: OfAgent,
  before: Type.Optional(Named("Only actions that are older than the one with this id")),
  limit: Type.Optional(Limit),
});
export type ActionQuery = Readonly<Static<typeof ActionQuery>>;

/** What a person approves of an action, and what "always" remembers. */
export const Approval = Type.Object({
  digest: HashOf("The `digest` of the action as it was shown"),
  effects: Type.Optional(
    Type.Array(EffectIndex, {
      minItems: 1,
      maxItems: maxEffectsPerAction,
      uniqueItems: true,
      description: "Makes only these effects and drops the others; default all",
    }),
  ),
  remember: Type.Optional(
    Type.Union([Type.Literal("once"), Type.Literal("always")], {
      default: "once",
      description:
        '"always" without `rules` remembers one rule for each chosen effect and its exact paths. It is InvalidParams where a chosen effect is asked each time',
    }),
  ),
  rules: Type.Optional(
    Type.Array(RememberedRule, {
      minItems: 1,
      maxItems: maxEffectsPerAction,
      description:
        'What "always" remembers: the rules of one of the action\'s `scopes`, unchanged. Any other rule is InvalidParams, and so are rules with `remember: "once"`',
    }),
  ),
  edits: Type.Optional(
    Type.Array(ContentEdit, {
      minItems: 1,
      maxItems: maxEffectsPerAction,
      description:
        "Contents that the person wants instead, for effects of the kinds `file.write` and `file.edit`",
    }),
  ),
});
export type Approval = DeepReadonly<Static<typeof Approval>>;
