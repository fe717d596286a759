import { maxContentBytes, maxRejectionReason } from "../../base/vocabulary/bounds.ts";
import { Type } from "typebox";
import { Action } from "../../base/vocabulary/action.ts";
import { ActionQuery, Approval } from "../../base/vocabulary/action-requests.ts";
import { EffectIndex } from "../../base/vocabulary/approval.ts";
import { define } from "../define.ts";
import { ActionId, Base64, Eof } from "../../base/vocabulary/request-fields.ts";

const noEffect = "The action has no such effect. Also as for any request.";
const noAction = "There is no action with this `id`.";

export const actionRequests = define({
  "lares/actions/list": {
    about: "Returns actions that match every given field, newest first. The effects come without `diff`.",
    errors: {},
    params: ActionQuery,
    result: Type.Array(Action, {
      description:
        "Newest first. Fewer than `limit` where they would take more than 2 MiB together, but at least one: ask again with `before` until none comes",
    }),
  },
  "lares/actions/get": {
    about:
      "Returns an action with the diffs of its effects. Where the diffs are over 4 MiB together, the last ones are left out; `lares/actions/diff` has each.",
    errors: { NotFound: noAction },
    params: Type.Object({ id: ActionId }),
    result: Action,
  },
  "lares/actions/content": {
    about: "Returns a piece of the content before or after one effect. Read on until `eof`.",
    errors: {
      NotFound: "There is no such action, that side has no content, or the contents are no longer kept.",
      InvalidParams: noEffect,
      Stale: "The content before was only in the file, and the file has changed.",
    },
    params: Type.Object({
      id: ActionId,
      effect: EffectIndex,
      side: Type.Union([Type.Literal("before"), Type.Literal("after")], {
        description: "What the effect starts from, or what it leaves",
      }),
      offset: Type.Optional(
        Type.Integer({ minimum: 0, default: 0, description: "Where the piece begins, bytes" }),
      ),
      length: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: maxContentBytes,
          default: maxContentBytes,
          description: "How long the piece is at most, bytes",
        }),
      ),
    }),
    result: Type.Object({ base64: Base64, eof: Eof }),
  },
  "lares/actions/diff": {
    about:
      "Returns the unified diff of one effect, also where the action comes without it. For a field or sidecar it is the new value as JSON.",
    errors: {
      NotFound: "There is no such action, or its contents are no longer kept.",
      InvalidParams: noEffect,
      Stale: "The content before was only in the file, and the file has changed.",
    },
    params: Type.Object({ id: ActionId, effect: EffectIndex }),
    result: Type.Object({
      diff: Type.Union([Type.String(), Type.Null()], {
        description:
          "Null where a side is not text or is over 256 KiB, or where the effect has no content; `lares/actions/content` has the bytes",
      }),
    }),
  },
  "lares/actions/approve": {
    about:
      'Approves an action and returns it once it has ended. The digest says what the person was shown. All chosen effects are made or none. If the workspace has changed meanwhile, the answer is the action in the state `Stale`, and not an error. A file with unsaved changes in an editor counts as changed.\n\nWith `edits` the kernel plans the action again, from the same bases, and approves that: it has `edited_by` and a new digest. With "always" the approval is remembered for later proposals.',
    errors: {
      NotFound: `${noAction} Or its agent is no longer enabled.`,
      IllegalTransition: "The action does not wait for a person. `data.state` says what became of it.",
      DigestMismatch: "The action is another than the one that was shown. Show it again.",
      PermissionDenied: "Policy forbids the action with these `edits`. The action waits on, unchanged.",
    },
    params: Type.Object({
      id: ActionId,
      ...Approval.properties,
    }),
    result: Action,
  },
  "lares/actions/reject": {
    about:
      "Rejects an action and returns it. The agent that proposed it is told, with the reason, by the event `ActionEnded`.",
    errors: {
      NotFound: noAction,
      IllegalTransition: "The action does not wait for a person. `data.state` says what became of it.",
    },
    params: Type.Object({
      id: ActionId,
      reason: Type.Optional(
        Type.String({ maxLength: maxRejectionReason, description: "Why, for the agent that proposed it" }),
      ),
    }),
    result: Action,
  },
  "lares/actions/rebase": {
    about:
      "Makes a new action of a stale one and returns it: the same changes, with each text merged by lines into what the file holds now. The new action has a digest of its own and always waits for a person, since nobody has seen the merged text. It supersedes the stale one. It is refused where the agent could conclude from it that something hidden is there: a move of a folder is rebased only where the agent sees everything in the folder, when it proposed and now. An action says with `rebasable` whether this is worth offering.",
    errors: {
      NotFound: `${noAction} Or its contents are no longer kept.`,
      IllegalTransition: "The action is not `Stale`, or another one has superseded it.",
      Stale: "The changes no longer apply; the message says why.",
      PermissionDenied: "Policy forbids the merged changes.",
    },
    params: Type.Object({ id: ActionId }),
    result: Action,
  },
  "lares/actions/undo": {
    about:
      "Takes back a committed action and returns it in the state `Undone`. Contents, times and modes are as before the action.",
    errors: {
      NotFound: `${noAction} Or what it replaced is no longer kept.`,
      IllegalTransition: "The action is not `Committed`; `data.state` says what it is.",
      Stale: "Something that the action touched has changed since. Nothing is changed.",
    },
    params: Type.Object({ id: ActionId }),
    result: Action,
  },
});
