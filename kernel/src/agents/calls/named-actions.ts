import { LaresError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import { filledTitle, type NamedAction } from "../../base/vocabulary/named-action.ts";

/** The answer of a named action's handler. */
interface ActionProposal {
  readonly effects: readonly unknown[];
  readonly title: string;
  readonly reason: string;
}

/**
 * Returns the proposal from the answer of an action's handler. The title defaults to the manifest's, with the parameters
 * filled in. Throws ToolError if the answer is not `{ effects, title, reason }`.
 */
export function proposalOf(
  agent: string,
  { name, title: template }: NamedAction,
  parameters: Record<string, unknown>,
  answer: unknown,
): ActionProposal {
  const { effects, title, reason } = isJsonObject(answer) ? answer : {};
  const wrong = (what: string): LaresError =>
    new LaresError(
      "ToolError",
      `The action ${agent}/${name} has to return { effects, title, reason }: ${what}.`,
    );
  if (!Array.isArray(effects)) throw wrong("effects is not a list");
  if (title !== undefined && typeof title !== "string") throw wrong("title is not a text");
  if (typeof reason !== "string" || reason.trim() === "") throw wrong("reason is not a text");
  const written = title === undefined || title.trim() === "" ? filledTitle(template, parameters) : title;
  return { effects, title: written, reason };
}
