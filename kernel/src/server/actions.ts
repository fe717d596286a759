import { notFound } from "../base/errors.ts";
import type { Action } from "../base/vocabulary/action.ts";
import { maxContentBytes } from "../base/vocabulary/bounds.ts";
import type { Handlers } from "./handlers.ts";

/** `lares/actions/*`: the proposals of agents, and a person's decisions about them. */
export const actionHandlers = {
  "lares/actions/list": async (query, { client }) => client.services.actions.list(query),
  "lares/actions/get": async ({ id }, { client }) => {
    const action = await client.services.actions.get(id);
    if (action === null) throw notFound("action", id);
    return action;
  },
  "lares/actions/content": async ({ id, effect, side, offset, length }, { client }) => {
    const { actions } = client.services;
    const { bytes, eof } = await actions.content(id, effect, side, offset ?? 0, length ?? maxContentBytes);
    return {
      base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
      eof,
    };
  },
  "lares/actions/diff": async ({ id, effect }, { client }) => ({
    diff: await client.services.actions.diff(id, effect),
  }),
  "lares/actions/approve": async ({ id, ...approval }, { client }) =>
    client.services.actions.approve(client.principal, id, approval),
  "lares/actions/reject": async ({ id, reason }, { client }) =>
    client.services.actions.reject(client.principal, id, reason),
  "lares/actions/rebase": async ({ id }, { client }) => client.services.actions.rebase(client.principal, id),
  "lares/actions/undo": async ({ id }, { client }) => client.services.actions.undo(client.principal, id),
} satisfies Partial<Handlers>;

/** Returns an action without its diffs, as lists and notifications carry it. */
export function withoutDiffs(action: Action): Action {
  return { ...action, effects: action.effects.map(({ diff: _diff, ...effect }) => effect) };
}
