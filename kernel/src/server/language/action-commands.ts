import { isLaresError, notFound } from "../../base/errors.ts";
import { plainMessage } from "../../base/plain-text.ts";
import { actionIs } from "../../base/vocabulary/action-words.ts";
import type { Action, ActionState } from "../../base/vocabulary/action.ts";
import type { Session } from "../session/session.ts";
import { shortTitle } from "./action-words.ts";
import { command, type Command } from "./command.ts";
import type { ShownChanges } from "./shown-changes.ts";

const messageType = { warning: 2, info: 3 } as const;

/**
 * The commands of lenses and code actions for proposed changes. Each returns what the request of the same name
 * returns. If the client has no view for approvals, a message also shows the result.
 */
export function actionCommands(shown: ShownChanges) {
  return {
    "lares.action.approve": command("lares.action.approve", ({ id, ...approval }, session) =>
      withMessage(session, async () =>
        session.client.services.actions.approve(session.client.principal, id, approval),
      ),
    ),
    "lares.action.reject": command("lares.action.reject", ({ id, reason }, session) =>
      withMessage(session, async () =>
        session.client.services.actions.reject(session.client.principal, id, reason),
      ),
    ),
    "lares.action.undo": command("lares.action.undo", ({ id }, session) =>
      withMessage(session, async () => session.client.services.actions.undo(session.client.principal, id)),
    ),
    "lares.action.rebase": command("lares.action.rebase", ({ id }, session) =>
      withMessage(session, async () => session.client.services.actions.rebase(session.client.principal, id)),
    ),
    "lares.action.show": command("lares.action.show", async ({ id, effect }, session) => {
      const action = await session.client.services.actions.get(id);
      if (action === null) throw notFound("action", id);
      if (session.options.approvals !== "client") await shown.show(action, session, effect);
      return action;
    }),
  } satisfies Record<string, Command>;
}

async function withMessage(session: Session, run: () => Promise<Action>): Promise<Action> {
  try {
    const action = await run();
    showMessage(session, outcome(action));
    return action;
  } catch (error) {
    // Some editors only log a command's error, so the person would not see it.
    if (isLaresError(error))
      showMessage(session, { type: messageType.warning, message: `Lares: ${plainMessage(error.message)}` });
    throw error;
  }
}

function showMessage(session: Session, message: { type: number; message: string }): void {
  if (session.options.approvals === "client") return;
  session.endpoint.notifyStandard("window/showMessage", message);
}

/** The expected results of the commands. An action that waits afterwards was made by a rebase. */
const expectedEnds: Partial<Record<ActionState, string>> = {
  PendingApproval:
    "was rebased on the new text; check it, then approve or reject it by a code action of the file",
  Committed: "is done; a code action of the file undoes it",
  Rejected: "is rejected; nothing was changed",
  Undone: "is undone",
};

function outcome(action: Action): { type: number; message: string } {
  const title = `Lares: '${shortTitle(action)}'`;
  const end = expectedEnds[action.state];
  if (end !== undefined) return { type: messageType.info, message: `${title} ${end}.` };
  const is = `${actionIs(action.state)}${action.state === "Stale" ? ", and nothing was changed" : ""}`;
  const because = action.error === undefined ? "." : `: ${plainMessage(action.error)}`;
  return { type: messageType.warning, message: `${title} ${is}${because}` };
}
