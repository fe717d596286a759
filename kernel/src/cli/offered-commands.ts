import { isJsonObject } from "../base/json.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import type { ResultOf } from "../protocol/v1/requests.ts";

/** A command that an extension offers. */
export type OfferedCommand = ResultOf<"lares/commands/list">[number];

type Arguments =
  | { readonly kind: "arguments"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "wrong"; readonly message: string };

/** Returns the arguments that a text behind a command's name means: JSON, or the only parameter that has to be given. */
export function argumentsOf(command: OfferedCommand, text: string): Arguments {
  const given = text.trim();
  if (given === "") return { kind: "arguments", value: {} };
  if (given.startsWith("{")) {
    try {
      return { kind: "arguments", value: JSON.parse(given) as Record<string, unknown> };
    } catch (error) {
      return { kind: "wrong", message: `The arguments are not valid JSON: ${(error as Error).message}` };
    }
  }
  const names = parametersOf(command);
  const [only, ...others] = names.filter(({ isRequired }) => isRequired);
  if (only?.type === "string" && others.length === 0)
    return { kind: "arguments", value: { [only.name]: given } };
  const message =
    names.length === 0
      ? `${command.name} takes nothing after it. Remove ${JSON.stringify(given)}.`
      : `${command.name} takes its arguments as JSON: { ${namesIn(command)} }.`;
  return { kind: "wrong", message };
}

interface Parameter {
  readonly name: string;
  readonly type: unknown;
  readonly isRequired: boolean;
}

function parametersOf({ parameters }: OfferedCommand): readonly Parameter[] {
  const properties = isJsonObject(parameters?.["properties"]) ? parameters["properties"] : {};
  const required: readonly unknown[] = Array.isArray(parameters?.["required"]) ? parameters["required"] : [];
  return Object.entries(properties).map(([name, property]) => ({
    name,
    type: isJsonObject(property) ? property["type"] : undefined,
    isRequired: required.includes(name),
  }));
}

/** Returns the names of a command's parameters in one line; those that may be left out have a question mark. */
export function namesIn(command: OfferedCommand): string {
  return parametersOf(command)
    .map(({ name, isRequired }) => (isRequired ? name : `${name}?`))
    .join(", ");
}

/** What a command came to. */
type CommandOutcome =
  | { readonly kind: "conversation"; readonly id: string }
  /** A change of this id waits for the person. */
  | { readonly kind: "waits"; readonly action: string }
  | { readonly kind: "done"; readonly value: unknown }
  | { readonly kind: "failed"; readonly message: string };

/** Returns the text that shows the value of a command that is done. */
export function saidBy({ name }: Pick<OfferedCommand, "name">, value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  return value === undefined || value === null || value === ""
    ? `${name} is done.`
    : JSON.stringify(value, null, 2);
}

/** Returns what the result of a command says. */
export function commandOutcome(result: ToolResult): CommandOutcome {
  if (result.status === "error") return { kind: "failed", message: result.message };
  if (result.status === "needs_approval") return { kind: "waits", action: result.action.id };
  const { conversation, action, state } = isJsonObject(result.value) ? result.value : {};
  if (typeof conversation === "string") return { kind: "conversation", id: conversation };
  if (typeof action === "string" && state === "PendingApproval") return { kind: "waits", action };
  return { kind: "done", value: result.value };
}
