import { Type } from "typebox";
import {
  Action,
  ActionState,
  maxEffectsPerAction,
  maxRejectionReason,
  RememberedRule,
} from "../../base/vocabulary/action.ts";
import { closed, Hash } from "../../base/vocabulary/common.ts";
import { define } from "../define.ts";
import { Base64, Limit, Name } from "./fields.ts";

export const EffectIndex = Type.Integer({ minimum: 0, maximum: maxEffectsPerAction - 1 });

/** Largest piece of an effect's content in one answer, in bytes. */
export const maxContentBytes = 1024 * 1024;

const ofEffect = { effect: EffectIndex };

/** The content that a person wants a file to have instead of the proposed one. */
export const ContentEdit = Type.Union([
  Type.Object({ ...ofEffect, content: Type.String() }, closed),
  Type.Object({ ...ofEffect, content_base64: Base64 }, closed),
]);

export const actionRequests = define({
  "lares/actions/list": {
    params: Type.Object({
      state: Type.Optional(ActionState),
      agent: Type.Optional(Name),
      limit: Type.Optional(Limit),
    }),
    result: Type.Array(Action, { description: "Newest first, effects without diff" }),
  },
  "lares/actions/get": { params: Type.Object({ id: Name }), result: Action },
  "lares/actions/content": {
    params: Type.Object({
      id: Name,
      effect: EffectIndex,
      side: Type.Union([Type.Literal("before"), Type.Literal("after")]),
      offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: "Bytes" })),
      length: Type.Optional(Type.Integer({ minimum: 1, maximum: maxContentBytes, description: "Bytes" })),
    }),
    result: Type.Object({ base64: Base64, eof: Type.Boolean() }),
  },
  /**
   * One effect's diff, also where the action comes without it because the diffs of its effects are too large together.
   * Of a field or sidecar, its new value as JSON.
   */
  "lares/actions/diff": {
    params: Type.Object({ id: Name, effect: EffectIndex }),
    result: Type.Object({
      diff: Type.Union([Type.String(), Type.Null()], {
        description: "Unified; null where a side is no text, or longer than 256 KiB, or there is no content",
      }),
    }),
  },
  /**
   * Answers once the action has ended; with `edits`, its digest is that of what was made. Drift found on the way is a result with state Stale, not an error.
   */
  "lares/actions/approve": {
    params: Type.Object({
      id: Name,
      digest: Hash,
      effects: Type.Optional(
        Type.Array(EffectIndex, {
          minItems: 1,
          maxItems: maxEffectsPerAction,
          uniqueItems: true,
          description: "Only these; the others are dropped",
        }),
      ),
      remember: Type.Optional(
        Type.Union([Type.Literal("once"), Type.Literal("always")], {
          description:
            '"always" without `rules` remembers one rule for each effect and its exact paths; refused where an effect is asked each time',
        }),
      ),
      rules: Type.Optional(
        Type.Array(RememberedRule, {
          minItems: 1,
          maxItems: maxEffectsPerAction,
          description:
            'What "always" remembers: rules of the action\'s `scopes`, unchanged. Any other rule is refused',
        }),
      ),
      edits: Type.Optional(
        Type.Array(ContentEdit, {
          minItems: 1,
          maxItems: maxEffectsPerAction,
          description:
            "The action is planned anew with these contents, for effects of the kinds file.write and file.edit, and that is approved. What policy forbids stays forbidden (PermissionDenied, and the action waits on)",
        }),
      ),
    }),
    result: Action,
  },
  "lares/actions/reject": {
    params: Type.Object({
      id: Name,
      reason: Type.Optional(
        Type.String({ maxLength: maxRejectionReason, description: "The agent that proposed it is told" }),
      ),
    }),
    result: Action,
  },
  /**
   * Makes a new action of one that is Stale: the same changes, merged into the files as they are now. It has a digest of
   * its own and always waits for a person, since nobody has seen the merged text; the stale one is superseded by it.
   * Stale (-33006) where the change no longer applies.
   */
  "lares/actions/rebase": { params: Type.Object({ id: Name }), result: Action },
  "lares/actions/undo": { params: Type.Object({ id: Name }), result: Action },
});
