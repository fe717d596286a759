import { isCancel, password, select, text } from "@clack/prompts";
import { createInterface } from "node:readline/promises";
import { readKeys } from "../keyboard/keys.ts";
import { wrap } from "../render/width.ts";
import type { Terminal } from "../terminal.ts";

interface Option<Value> {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
}

/** Returns the person's choice from a list; null if they chose nothing. Without a cursor, the list is numbered. */
export async function chooseFrom<Value>(
  terminal: Terminal,
  question: {
    readonly message: string;
    readonly options: readonly Option<Value>[];
  },
): Promise<Value | null> {
  const { message, options } = question;
  if (!terminal.canDraw) return numbered(terminal, message, options);
  using _held = terminal.hold();
  const chosen = await select<number>({
    message,
    signal: terminal.interrupted,
    options: options.map(({ label, hint }, value) => ({
      value,
      label,
      ...(hint === undefined ? {} : { hint }),
    })),
  });
  return isCancel(chosen) ? null : (options[chosen]?.value ?? null);
}

async function numbered<Value>(
  terminal: Terminal,
  message: string,
  options: readonly Option<Value>[],
): Promise<Value | null> {
  const { width } = terminal.surface;
  terminal.print([
    ...wrap(message, width),
    ...options.flatMap(({ label, hint }, index) =>
      wrap(`${index + 1}  ${label}${hint === undefined ? "" : ` (${hint})`}`, width - 2).map(
        (line) => `  ${line}`,
      ),
    ),
  ]);
  for (;;) {
    const answer = await lineAsked(terminal, `Write a number, or nothing for none: `);
    if (answer === null || answer.trim() === "") return null;
    const option = /^\d+$/.test(answer.trim()) ? options[Number(answer) - 1] : undefined;
    if (option !== undefined) return option.value;
  }
}

/** Returns the line that the person writes, which may be empty; null if they went back. */
export async function lineFrom(terminal: Terminal, message: string): Promise<string | null> {
  if (!terminal.canDraw) return lineAsked(terminal, `${message}\n> `);
  using _held = terminal.hold();
  const written = await text({ message, signal: terminal.interrupted });
  return isCancel(written) ? null : (written ?? "");
}

async function lineAsked(terminal: Terminal, prompt: string): Promise<string | null> {
  using _held = terminal.hold();
  using lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const closed = new Promise<null>((resolve) => lines.once("close", () => resolve(null)));
  const answer = lines.question(prompt, { signal: terminal.interrupted }).catch(() => null);
  return await Promise.race([answer, closed]);
}

/** Returns the text that the person writes, without showing it; null if they went back. */
export async function hiddenFrom(
  terminal: Terminal,
  question: { readonly message: string; readonly output: NodeJS.WriteStream; readonly empty: string },
): Promise<string | null> {
  const { message, output, empty } = question;
  if (!terminal.canDraw) return unseenLine(terminal, `${message}: `, output);
  using _held = terminal.hold();
  const typed = await password({
    message,
    output,
    signal: terminal.interrupted,
    validate: (value) => (value === undefined || value === "" ? empty : undefined),
  });
  return isCancel(typed) ? null : typed;
}

async function unseenLine(
  terminal: Terminal,
  prompt: string,
  output: NodeJS.WriteStream,
): Promise<string | null> {
  using _held = terminal.hold();
  const { stdin } = process;
  const done = Promise.withResolvers<string | null>();
  let typed = "";
  output.write(prompt);
  using _reading = readKeys(stdin, {
    key: ({ name, text: written, isControl }) => {
      if (isControl && name === "c") terminal.interrupt();
      else if (name === "escape" || (isControl && name === "d")) done.resolve(null);
      else if ((name === "return" || name === "enter") && typed !== "") done.resolve(typed);
      else if (name === "backspace") typed = Array.from(typed).slice(0, -1).join("");
      else typed += written;
    },
    paste: (pasted) => (typed += pasted),
  });
  const aborted = (): void => done.resolve(null);
  terminal.interrupted.addEventListener("abort", aborted);
  const wasRaw = stdin.isRaw;
  stdin.setRawMode(true);
  stdin.resume();
  try {
    return await done.promise;
  } finally {
    terminal.interrupted.removeEventListener("abort", aborted);
    stdin.setRawMode(wasRaw);
    stdin.pause();
    output.write("\n");
  }
}
