import { commands, Disposable, ProgressLocation, window, type QuickPickItem } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { label, message } from "../model/text.ts";
import type { ResultOf } from "../protocol.ts";
import { reporting } from "../deciding/explain.ts";

type Offered = ResultOf<"lares/commands/list">[number];

const what = "The command was not run";
const maxShownCharacters = 500;

/** The commands that extensions offer, for those who do not write to a conversation. */
export const offeredCommands: Feature = (context) =>
  Disposable.from(
    commands.registerCommand("lares.runCommand", () => reporting(what, () => runOffered(context))),
  );

async function runOffered({ kernel, models }: ClientContext): Promise<void> {
  const offered = await kernel.request("lares/commands/list", {});
  if (offered.length === 0) return void window.showInformationMessage("No extension here offers a command.");
  const picked = await window.showQuickPick(
    offered.map((command) => ({
      command,
      label: label(command.title),
      description: label(models.agents.nameOf(command.agent)),
      detail: message(command.description, 200),
    })),
    { title: "Run a Command of an Extension", matchOnDescription: true, matchOnDetail: true },
  );
  if (picked === undefined) return;
  const { agent, name, title } = picked.command;
  const args = await askedArguments(picked.command);
  if (args === undefined) return;
  const result = await window.withProgress(
    { location: ProgressLocation.Notification, title: label(title) },
    () => kernel.request("lares/commands/run", { agent, name, arguments: args }),
  );
  if (result.status === "error") throw new Error(result.message);
  if (result.status === "needs_approval") return showWaiting();
  const value = result.value;
  const { conversation, state } = isObject(value) ? value : {};
  if (typeof conversation === "string")
    return void (await commands.executeCommand("lares.openConversation", conversation));
  if (state === "PendingApproval") return showWaiting();
  const said = typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
  void window.showInformationMessage(
    said === undefined || said === "" ? `${label(title)}: done.` : message(said, maxShownCharacters),
  );
}

function showWaiting(): void {
  void window.showInformationMessage("It proposes a change, which waits for you.");
}

/** One parameter, as far as a person can be asked for it. */
interface Parameter {
  readonly name: string;
  readonly about: string;
  readonly isRequired: boolean;
  /** Null: none of the simple types. */
  readonly type: "string" | "number" | "integer" | "boolean" | null;
  /** The values to choose from; undefined: any of the type. */
  readonly choices?: readonly unknown[];
}

/** Returns the parameters of a command, in the order of its schema. */
export function parametersOf({ parameters }: Pick<Offered, "parameters">): readonly Parameter[] {
  const { properties, required } = parameters ?? {};
  if (!isObject(properties)) return [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, property]) => {
    const { type, description, enum: listed } = isObject(property) ? property : {};
    const simple = (["string", "number", "integer", "boolean"] as const).find((each) => each === type);
    const choices =
      Array.isArray(listed) && listed.length > 0 && listed.every((value) => typeof value !== "object")
        ? (listed as readonly unknown[])
        : type === "boolean"
          ? [true, false]
          : undefined;
    return {
      name,
      about: typeof description === "string" ? description : "",
      isRequired: needed.includes(name),
      type: simple ?? null,
      ...(choices === undefined ? {} : { choices }),
    };
  });
}

/** Asks for the arguments one after the other; undefined if the person leaves. An Error if one cannot be asked for. */
async function askedArguments(command: Offered): Promise<Record<string, unknown> | undefined> {
  const parameters = parametersOf(command);
  const isAskable = ({ type, choices }: Parameter): boolean => type !== null || choices !== undefined;
  const unknown = parameters.find((parameter) => parameter.isRequired && !isAskable(parameter));
  if (unknown !== undefined)
    throw new Error(
      `it needs “${label(unknown.name, 80)}”, which is not a simple value. Use “lares commands run” in a terminal.`,
    );
  const asked = parameters.filter(isAskable);
  const args: Record<string, unknown> = {};
  for (const [index, parameter] of asked.entries()) {
    const title = `${label(command.title, 80)} (${index + 1} of ${asked.length})`;
    const value = await askedValue(parameter, title);
    if (value === undefined) return undefined;
    if (value.given !== undefined)
      Object.defineProperty(args, parameter.name, { value: value.given, enumerable: true });
  }
  return args;
}

interface ValueRow extends QuickPickItem {
  readonly given: unknown;
}

/** Returns what the person gave for a parameter, which may be nothing; undefined if they left. */
async function askedValue(
  { name, about, isRequired, type, choices }: Parameter,
  title: string,
): Promise<{ readonly given: unknown } | undefined> {
  const prompt = `${label(name, 80)}${about === "" ? "" : `: ${message(about, 200)}`}`;
  if (choices !== undefined) {
    const rows: ValueRow[] = choices.map((given) => ({ given, label: label(String(given)) }));
    const none: ValueRow = { given: undefined, label: "Leave it out" };
    return await window.showQuickPick<ValueRow>(isRequired ? rows : [none, ...rows], {
      title,
      placeHolder: prompt,
      ignoreFocusOut: true,
    });
  }
  const text = await window.showInputBox({
    title,
    prompt: isRequired ? prompt : `${prompt} (may be left empty)`,
    ignoreFocusOut: true,
    validateInput: (given) => faultOf(given.trim(), isRequired, type),
  });
  if (text === undefined) return undefined;
  const given = text.trim();
  if (given === "" && !isRequired) return { given: undefined };
  return { given: type === "string" ? given : Number(given) };
}

/** Returns what is wrong with a text that is given for a parameter; undefined if nothing is. */
export function faultOf(given: string, isRequired: boolean, type: Parameter["type"]): string | undefined {
  if (given === "") return isRequired ? "Type a value." : undefined;
  if (type === "string") return undefined;
  const value = Number(given);
  if (!Number.isFinite(value)) return "Type a number.";
  return type === "integer" && !Number.isInteger(value) ? "Type a whole number." : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
