import { closest } from "../../../base/suggest.ts";

/** The commands of a conversation, each with what follows it and what it does. */
export const slashCommands = [
  { name: "help", rest: "", about: "Keys and commands" },
  { name: "stop", rest: "", about: "Stop what runs in this conversation" },
  { name: "undo", rest: "", about: "Undo the last change that was made here" },
  { name: "model", rest: "provider/model", about: "Use another model; without a name, the route's" },
  { name: "title", rest: "text", about: "Give the conversation another title" },
  { name: "fork", rest: "", about: "Continue in a copy of this conversation" },
  { name: "compact", rest: "", about: "Summarise earlier turns, so that the context gets smaller" },
  { name: "context", rest: "", about: "What the model sees, with tokens" },
  {
    name: "pin",
    rest: "",
    about: "Keep the last answer in the context whatever is summarised; again: no longer",
  },
  { name: "workers", rest: "", about: "Branches and workers, with what they found" },
  { name: "resume", rest: "", about: "Go to another conversation" },
  { name: "new", rest: "", about: "Begin another conversation" },
  { name: "quit", rest: "", about: "Leave; the conversation can be resumed" },
] as const;

export type SlashName = (typeof slashCommands)[number]["name"];

export type Slash =
  | { readonly kind: "command"; readonly name: SlashName; readonly rest: string }
  | { readonly kind: "unknown"; readonly message: string };

/** Returns the command that a text is; null for a message. A path such as "/etc/hosts" is a message. */
export function slashOf(text: string): Slash | null {
  const match = /^\/([a-z]*)(?:\s+([^]*))?$/.exec(text.trim());
  if (match === null) return null;
  const [, word = "", rest = ""] = match;
  const known = slashCommands.find(({ name }) => name === word);
  if (known === undefined) {
    const meant = closest(
      word,
      slashCommands.map(({ name }) => name),
    );
    const hint = meant === undefined ? "/help lists the commands." : `Did you mean /${meant}?`;
    return { kind: "unknown", message: `There is no command "/${word}". ${hint}` };
  }
  if (rest !== "" && known.rest === "")
    return {
      kind: "unknown",
      message: `/${known.name} takes nothing after it. Remove ${JSON.stringify(rest)}.`,
    };
  if (rest === "" && known.name === "title")
    return { kind: "unknown", message: "Write the title after /title." };
  return { kind: "command", name: known.name, rest: rest.trim() };
}

/** The word to complete at the cursor. */
export interface Completion {
  readonly kind: "command" | "file";
  /** The place in the text where the completed word begins, with its sign. */
  readonly start: number;
  readonly word: string;
  readonly choices: readonly { readonly value: string; readonly about: string }[];
  readonly selected: number;
}

/** Returns the word at the cursor that can be completed: a command at the beginning, or "@" and a part of a path. */
export function wordAt(
  text: string,
  cursor: number,
): { readonly kind: "command" | "file"; readonly start: number; readonly word: string } | null {
  const head = text.slice(0, cursor);
  const command = /^\/([a-z]*)$/.exec(head);
  if (command !== null) return { kind: "command", start: 0, word: command[1] ?? "" };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(head);
  if (file === null) return null;
  const word = file[1] ?? "";
  return { kind: "file", start: cursor - word.length - 1, word };
}

export function commandChoices(word: string): Completion["choices"] {
  return slashCommands
    .filter(({ name }) => name.startsWith(word))
    .map(({ name, rest, about }) => ({
      value: `/${name}`,
      about: rest === "" ? about : `${about} (/${name} ${rest})`,
    }));
}

/** How a file is written in a message. A path with blanks is in quotation marks. */
export function fileWord(path: string): string {
  return /\s/.test(path) ? `@"${path}"` : `@${path}`;
}

export type MessagePart =
  { readonly type: "text"; readonly text: string } | { readonly type: "file"; readonly path: string };

/** Returns the paths that a message names by "@", each once. */
export function filesIn(text: string): string[] {
  const named = [...text.matchAll(/(?:^|\s)@(?:"([^"\n]+)"|(\S+))/g)];
  return [...new Set(named.map(([, quoted, bare]) => quoted ?? bare ?? ""))];
}

/** Splits a message into its text and the files that it names, of those that there are. */
export function partsOf(text: string, files: ReadonlySet<string>): MessagePart[] {
  const known = filesIn(text).filter((path) => files.has(path));
  return [{ type: "text", text }, ...known.map((path) => ({ type: "file" as const, path }))];
}
