import { invalidParams, LaresError } from "../base/errors.ts";
import type { Action, EffectInput, ProposalRequest } from "../base/vocabulary/action.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { fileToolBounds as bounds } from "./bounds.ts";
import { type ChangingTool, effectKinds } from "./definitions.ts";
import { jsonBytes } from "./names.ts";
import type { FilesOfCall } from "./ports.ts";

/** The fields of the tool's kind of effect, as its schema has checked them, and the reason. */
export interface ChangeArguments {
  readonly reason?: string;
  readonly [field: string]: unknown;
}

/** The length of an action's title. Characters. */
const maxTitle = 200;

const verbs: Readonly<Record<ChangingTool, string>> = {
  "files/write": "Write",
  "files/edit": "Edit",
  "files/move": "Move",
  "files/delete": "Delete",
  "files/create_folder": "Create the folder",
};

/**
 * Proposes one change, and returns what became of it. Throws what the kernel refuses. The paths of a change are those that
 * the caller named; what the kernel says of a refusal may name others, or what is in them.
 */
export async function changeFile(
  files: Pick<FilesOfCall, "propose" | "settled" | "show">,
  tool: ChangingTool,
  { reason = "", ...fields }: ChangeArguments,
  key: string,
): Promise<ToolResult> {
  if (tool === "files/write" && "content" in fields === "content_base64" in fields)
    throw invalidParams('Give either "content" or "content_base64".', { path: "content" });
  const effect = { kind: effectKinds[tool], ...fields } as EffectInput;
  const proposed = await proposedBy(files, { effects: [effect], title: titleOf(tool, effect), reason, key });
  const isUnderWay = proposed.state === "Approved" || proposed.state === "Committing";
  const result = resultOf(isUnderWay ? await files.settled(proposed.id) : proposed);
  for (const { path, from, before } of proposed.effects)
    if (result.status === "error")
      for (const named of from === undefined ? [path] : [from, path]) files.show({ path: named });
    // The summary of a change that was made has the size of what was there before.
    else if (result.status === "success" && from === undefined && before !== null)
      files.show({ path, read: before });
  return result;
}

async function proposedBy(
  files: Pick<FilesOfCall, "propose" | "show">,
  proposal: ProposalRequest,
): Promise<Action> {
  try {
    return await files.propose(proposal);
  } catch (error) {
    // Some facts are names of parameters, which are never paths of files.
    if (error instanceof LaresError)
      for (const named of [error.facts["path"], error.facts["name"]])
        if (typeof named === "string") files.show({ path: named });
    throw error;
  }
}

function titleOf(tool: ChangingTool, effect: EffectInput): string {
  const what = effect.kind === "file.move" ? `${effect.from} to ${effect.to}` : effect.path;
  const title = `${verbs[tool]} ${what}`;
  return title.length <= maxTitle ? title : `${title.slice(0, maxTitle - 1).toWellFormed()}…`;
}

/** Returns what a process is told about its action. */
function resultOf(action: Action): ToolResult {
  const { id, state, title, reason, effects } = action;
  const failed = (why: string): ToolResult => ({
    status: "error",
    message: `${title}: ${why} The action ${id} is ${state}.`,
    recoverable: true,
  });
  switch (state) {
    case "PendingApproval":
    case "Approved":
    case "Committing":
      return {
        status: "needs_approval",
        action: withinBounds(action),
        reason: reason === "" ? title : reason,
      };
    case "Committed":
      return {
        status: "success",
        value: {
          action: id,
          state,
          changes: effects.map(({ kind, path, from, summary }) => ({
            kind,
            ...(from === undefined ? {} : { from }),
            path,
            summary,
          })),
        },
      };
    case "Rejected":
      return failed(
        action.rejected_reason === undefined
          ? (action.error ?? "It was rejected.")
          : `The person rejected it: ${action.rejected_reason}`,
      );
    case "Failed":
    case "Stale":
    case "Expired":
      return failed(action.error ?? "Nothing was changed.");
    case "Undone":
      return failed("It was made, and a person has undone it.");
  }
}

/** Leaves out the differences between contents if they are long. They can be asked for by the action's id. */
function withinBounds(action: Action): Action {
  if (jsonBytes(action) <= bounds.itemsBytes) return action;
  return { ...action, effects: action.effects.map(({ diff: _diff, ...effect }) => effect) };
}
