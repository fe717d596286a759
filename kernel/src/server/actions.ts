import { notFound } from "../base/errors.ts";
import type { Action } from "../base/vocabulary/action.ts";
import { maxContentBytes } from "../protocol/v1/actions.ts";
import type { Handlers } from "./handlers.ts";
import type { KernelServices } from "./ports.ts";

/** `lares/actions/*`: what agents propose, and a person's answer to it. */
export function actionHandlers({ actions }: KernelServices): Handlers {
  return {
    "lares/actions/list": (query) => actions.list(query),
    "lares/actions/get": async ({ id }) => {
      const action = await actions.get(id);
      if (action === null) throw notFound("action", id);
      return action;
    },
    "lares/actions/content": async ({ id, effect, side, offset, length }) => {
      const { bytes, eof } = await actions.content(id, effect, side, offset ?? 0, length ?? maxContentBytes);
      return {
        base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
        eof,
      };
    },
    "lares/actions/diff": async ({ id, effect }) => ({ diff: await actions.diff(id, effect) }),
    "lares/actions/approve": ({ id, ...options }) => actions.approve(id, options),
    "lares/actions/reject": ({ id, reason }) => actions.reject(id, reason),
    "lares/actions/rebase": ({ id }) => actions.rebase(id),
    "lares/actions/undo": ({ id }) => actions.undo(id),
  };
}

/** An action as lists and notifications carry it: what it does, without the texts. */
export function withoutDiffs(action: Action): Action {
  return { ...action, effects: action.effects.map(({ diff: _diff, ...effect }) => effect) };
}
