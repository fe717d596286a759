import type { CodeLens } from "vscode-languageserver";
import type { Session } from "../session/session.ts";
import { decisionLine, partOf, shortTitle } from "./action-words.ts";
import type { FileProposal, FileProposals } from "../../services/file-proposals.ts";
import { documentUriOf } from "../session/params.ts";
import { tooLong, type ShownChanges } from "./shown-changes.ts";

/** `textDocument/codeLens`: above each place that an action waits to change, the commands to decide on it. */
export async function approvalLenses(
  proposals: FileProposals,
  shown: ShownChanges,
  params: unknown,
  session: Session,
): Promise<CodeLens[]> {
  const uri = documentUriOf(params);
  if (uri === null || !session.trusted) return [];
  const waiting = await proposals.waitingFor(uri);
  const lenses = await Promise.all(
    waiting.map(async (proposal) => {
      const canShow = (await shown.placeOf(proposal.action, session)) !== "nowhere";
      return lensesOf(proposal, waiting.length > 1, canShow);
    }),
  );
  return lenses.flat();
}

/** Editors show all lenses of a line in one row, so if several actions wait, each place names its action. */
function lensesOf(
  { action, path, lines, standing }: FileProposal,
  isAmongOthers: boolean,
  canShow: boolean,
): CodeLens[] {
  const { id, digest } = action;
  const title = shortTitle(action);
  // Approves only the changes in this file, because the others are not visible here; code actions offer the whole.
  const part = partOf(action, path);
  const approve = {
    title: part === null ? "Approve" : "Approve in this file only",
    command: "lares.action.approve",
    arguments: [part === null ? { id, digest } : { id, digest, effects: part.indices }],
  };
  const reject = { title: "Reject", command: "lares.action.reject", arguments: [{ id }] };
  const show = { title: "Show changes", command: "lares.action.show", arguments: [{ id }] };
  if (standing !== "ready") {
    const why =
      standing === "unsaved"
        ? `Lares: '${title}' waits: save the file first`
        : `Lares: '${title}' is stale: the file has changed since`;
    return [{ ...show, title: why }, reject, show].map((command) => lens(0, command));
  }
  const words = decisionLine(action, path);
  if (!canShow) {
    const heading = { ...show, title: `Lares: ${words} Approve is missing: ${tooLong(action)}` };
    return [heading, reject, show].map((command) => lens(lines[0] ?? 0, command));
  }
  return lines.flatMap((line, index) => {
    const heading = { ...show, title: `Lares: ${words}` };
    return [...(index === 0 || isAmongOthers ? [heading] : []), approve, reject, show].map((command) =>
      lens(line, command),
    );
  });
}

function lens(line: number, command: NonNullable<CodeLens["command"]>): CodeLens {
  const start = { line, character: 0 };
  return { range: { start, end: start }, command };
}
