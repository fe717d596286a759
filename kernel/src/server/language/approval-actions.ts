import type { CodeAction, Command } from "vscode-languageserver";
import { isJsonObject } from "../../base/json.ts";
import { visibleText } from "../../base/visible-text.ts";
import { approvalActionKind } from "../../protocol/v1/capabilities.ts";
import type { Session } from "../session/session.ts";
import { decisionLine, inMessage, partOf, shortTitle } from "./action-words.ts";
import type { FileProposal, FileProposals } from "../../services/file-proposals.ts";
import { capability, documentUriOf, supports } from "../session/params.ts";
import { tooLong, type ShownChanges } from "./shown-changes.ts";

/** LSP code actions have no text field, so the person chooses one of these reasons; the agent receives it. */
export const rejectReasons = ["This is not right.", "I do not want changes like this.", "Not now."] as const;

/** `textDocument/codeAction`: for a file that an action waits to change, or has changed. */
export async function approvalActions(
  proposals: FileProposals,
  shown: ShownChanges,
  params: unknown,
  session: Session,
): Promise<(Command | CodeAction)[]> {
  const uri = documentUriOf(params);
  if (uri === null || !session.trusted || !isRequested(params)) return [];
  const waiting = await proposals.waitingFor(uri);
  const rebases = (await proposals.rebasableFor(uri)).map(({ action, path }) =>
    codeAction("rebase", `Lares: rebase, to fit the new text: ${decisionLine(action, path)}`, {
      id: action.id,
    }),
  );
  const undoable = await proposals.undoableFor(uri);
  const undo: CodeAction[] =
    undoable === null
      ? []
      : [codeAction("undo", `Lares: undo: ${decisionLine(undoable)}`, { id: undoable.id })];
  const answers = await Promise.all(
    waiting.map(async (proposal) =>
      actionsOf(proposal, session, (await shown.placeOf(proposal.action, session)) !== "nowhere"),
    ),
  );
  const actions = [...answers.flat(), ...rebases, ...undo];
  // Older editors support commands only.
  if (isJsonObject(capability(session, "textDocument", "codeAction", "codeActionLiteralSupport")))
    return actions;
  return actions.flatMap(({ command }) => command ?? []);
}

function actionsOf(
  { action, path, standing }: FileProposal,
  session: Session,
  canShow: boolean,
): CodeAction[] {
  const { id, digest } = action;
  const title = `'${shortTitle(action)}'`;
  const words = decisionLine(action, path);
  const part = partOf(action, path);
  const rejections = [
    codeAction("reject", `Lares: reject: ${words}`, { id }),
    ...rejectReasons.map((reason) =>
      codeAction("reject", `Lares: reject, "${reason}": ${words}`, { id, reason }),
    ),
  ];
  const show = codeAction("show", `Lares: show changes: ${words}`, { id });
  // A stale action can never be applied, so it cannot be approved, and a rejection needs no reason.
  if (standing === "stale") return [...rejections.slice(0, 1), show];
  if (standing === "ready" && canShow)
    return [
      codeAction("approve", `Lares: approve: ${words}`, { id, digest }),
      ...(part === null
        ? []
        : [
            codeAction(
              "approve",
              `Lares: approve in this file only: ${decisionLine({ ...action, effects: part.effects })}`,
              { id, digest, effects: part.indices },
            ),
          ]),
      ...(action.scopes ?? []).map(({ title: scope, rules }) =>
        codeAction("approve", inMessage(`Lares: approve, and always from now on: ${visibleText(scope)}`), {
          id,
          digest,
          remember: "always",
          rules,
        }),
      ),
      ...rejections,
      show,
    ];
  const reason =
    standing === "ready" ? `${title}: ${tooLong(action)}` : `${title} waits: save the file first.`;
  const disabled: CodeAction[] = supports(session, "textDocument", "codeAction", "disabledSupport")
    ? [{ title: `Lares: approve: ${words}`, kind: approvalActionKind, disabled: { reason } }]
    : [];
  return [...disabled, ...rejections, show];
}

function codeAction(
  verb: "approve" | "reject" | "rebase" | "show" | "undo",
  title: string,
  argument: Readonly<Record<string, unknown>>,
): CodeAction {
  return {
    title,
    kind: approvalActionKind,
    command: { title, command: `lares.action.${verb}`, arguments: [argument] },
  };
}

/** Kinds are hierarchical: "lares" includes "lares.action". Without kinds, all are requested. */
function isRequested(params: unknown): boolean {
  const context = isJsonObject(params) ? params["context"] : null;
  const only = isJsonObject(context) ? context["only"] : undefined;
  if (!Array.isArray(only)) return true;
  return only.some(
    (kind) => kind === "" || kind === approvalActionKind || approvalActionKind.startsWith(`${kind}.`),
  );
}
