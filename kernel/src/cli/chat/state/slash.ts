import { closest } from "../../../base/suggest.ts";
import { namesIn, type OfferedCommand } from "../../offered-commands.ts";

/** The commands of a conversation, each with what follows it and what it does. */
export const slashCommands = [
  { name: "help", rest: "", about: "Keys and commands" },
  {
    name: "stop",
    rest: "worker",
    about: "Stop what runs here, and reject what waits; with the name or id of a worker, that one alone",
  },
  { name: "undo", rest: "", about: "Undo the last change that was made here" },
  { name: "model", rest: "provider/model", about: "Use another model; without a name, the route's" },
  { name: "title", rest: "text", about: "Give the conversation another title" },
  { name: "redact", rest: "text", about: "Remove a text from this conversation and its forks, for good" },
  { name: "fork", rest: "", about: "Continue in a copy of this conversation" },
  { name: "compact", rest: "", about: "Summarise earlier turns, so that the context gets smaller" },
  { name: "context", rest: "", about: "What the model sees, with tokens" },
  {
    name: "pin",
    rest: "",
    about: "Keep the last answer in the context whatever is summarised; again: no longer",
  },
  { name: "why", rest: "number", about: "What the last answer rests on; 2: the answer before it" },
  { name: "memories", rest: "words", about: "What the mind remembers; with words, what fits them" },
  { name: "correct", rest: "words", about: "Choose a memory, and say what it should be" },
  { name: "forget", rest: "words", about: "Choose a memory, and remove it for good" },
  { name: "blocks", rest: "", about: "What the mind always has before it; change or forget it" },
  { name: "workers", rest: "", about: "Branches and workers, with what they found" },
  { name: "resume", rest: "", about: "Go to another conversation" },
  { name: "new", rest: "", about: "Begin another conversation" },
  { name: "quit", rest: "", about: "Leave; the conversation can be resumed" },
] as const;

export type SlashName = (typeof slashCommands)[number]["name"];

type Slash =
  | { readonly kind: "command"; readonly name: SlashName; readonly rest: string }
  | { readonly kind: "offered"; readonly command: OfferedCommand; readonly rest: string }
  | { readonly kind: "unknown"; readonly message: string };

/** A command of an extension, with the word that calls it in a chat. */
export interface OfferedWord {
  readonly word: string;
  readonly command: OfferedCommand;
}

const builtIn: ReadonlySet<string> = new Set(slashCommands.map(({ name }) => name));

/**
 * Returns the commands that can be called in a chat with an agent. Those of other agents, and those that are named like one of
 * the chat, are called with the last word of the agent's id before them; with all of it where several would be called alike.
 */
export function offeredWords(commands: readonly OfferedCommand[], agent: string): OfferedWord[] {
  const words = commands
    .filter(({ name }) => /^[A-Za-z][\w.-]*$/.test(name))
    .map((command) => {
      const isPlain = command.agent === agent && !builtIn.has(command.name);
      return { word: isPlain ? command.name : `${lastWord(command.agent)}:${command.name}`, command };
    });
  return words.map(({ word, command }) => {
    const isAmbiguous = words.some((other) => other.word === word && other.command !== command);
    return { word: isAmbiguous ? `${command.agent}:${command.name}` : word, command };
  });
}

const lastWord = (agent: string): string => agent.slice(agent.lastIndexOf(".") + 1);

/** Returns the command that a text is; null for a message. A path such as "/etc/hosts" is a message. */
export function slashOf(text: string, offered: readonly OfferedWord[] = []): Slash | null {
  const called = /^\/([A-Za-z][\w.:-]*)(?:\s([^]*))?$/.exec(text.trim());
  const found = offered.find(({ word }) => word === called?.[1]);
  if (found !== undefined)
    return { kind: "offered", command: found.command, rest: called?.[2]?.trim() ?? "" };
  const match = /^\/([a-z]*|[\w.-]+:[\w.-]+)(?:\s([^]*))?$/.exec(text.trim());
  if (match === null) return null;
  const [, word = "", behind = ""] = match;
  const rest = behind.trimStart();
  const known = slashCommands.find(({ name }) => name === word);
  if (known === undefined) {
    const meant = closest(word, [...builtIn, ...offered.map((each) => each.word)]);
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
  if (rest.trim().length < 4 && known.name === "redact")
    return { kind: "unknown", message: "Write the text to remove after /redact, at least four characters." };
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
  const command = /^\/([\w.:-]*)$/.exec(head);
  if (command !== null) return { kind: "command", start: 0, word: command[1] ?? "" };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(head);
  if (file === null) return null;
  const word = file[1] ?? "";
  return { kind: "file", start: cursor - word.length - 1, word };
}

/** Returns the commands of a conversation, and behind them those of extensions, each with what follows it and what it does. */
export function allCommands(
  offered: readonly OfferedWord[],
): readonly { readonly name: string; readonly rest: string; readonly about: string }[] {
  return [
    ...slashCommands,
    ...offered.map(({ word, command }) => ({ name: word, rest: namesIn(command), about: command.title })),
  ];
}

export function commandChoices(word: string, offered: readonly OfferedWord[] = []): Completion["choices"] {
  return allCommands(offered)
    .filter(({ name }) => name.startsWith(word))
    .map(({ name, rest, about }) => ({
      value: `/${name}`,
      about: rest === "" ? about : `${about} (/${name} ${rest})`,
    }));
}

/** How a file is written in a message. A path with blanks is in quotation marks, with a backslash before those it has itself. */
export function fileWord(path: string): string {
  return /\s|^"/.test(path) ? `@"${path.replaceAll(/["\\]/g, "\\$&")}"` : `@${path}`;
}

type MessagePart =
  { readonly type: "text"; readonly text: string } | { readonly type: "file"; readonly path: string };

/** Returns the paths that a message names by "@", each once; `quoted`: only those in quotation marks, which mean nothing else. */
export function filesIn(text: string, { quoted: isOnly = false } = {}): string[] {
  const named = [...text.matchAll(/(?:^|\s)@(?:"((?:\\["\\]|[^"\n])+)"|(\S+))/g)];
  const paths = named.flatMap(([, quoted, bare = ""]) =>
    quoted !== undefined ? [quoted.replaceAll(/\\(["\\])/g, "$1")] : isOnly ? [] : [bare],
  );
  return [...new Set(paths)];
}

/** Splits a message into its text and the files that it names, of those that there are. */
export function partsOf(text: string, files: ReadonlySet<string>): MessagePart[] {
  const known = filesIn(text).filter((path) => files.has(path));
  return [{ type: "text", text }, ...known.map((path) => ({ type: "file" as const, path }))];
}
