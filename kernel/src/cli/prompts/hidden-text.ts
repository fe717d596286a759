import { UsageError } from "../command.ts";
import { hiddenFrom } from "./prompts.ts";
import type { Terminal } from "../terminal.ts";

/**
 * Reads a text that is not shown, from the terminal or from standard input: never from the command line, where other
 * programs can read it. Returns null if the person cancelled.
 */
export async function readHidden(
  terminal: Terminal,
  options: {
    readonly message: string;
    /** The noun for it in messages, as in "The value is empty". */
    readonly wanted: string;
    readonly maxBytes: number;
    readonly isJson: boolean;
  },
): Promise<string | null> {
  const { message, wanted, maxBytes, isJson } = options;
  // Not only where standard output is a terminal too: one that is read directly would show what is typed.
  if (process.stdin.isTTY) {
    const typed = await hiddenFrom(terminal, {
      message,
      output: terminal.isTerminal && !isJson ? process.stdout : process.stderr,
      empty: `Paste or type the ${wanted}.`,
    });
    return typed === null ? null : typed.trim();
  }
  let length = 0;
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > maxBytes) throw new UsageError(`The ${wanted} has at most ${maxBytes} bytes.`);
    pieces.push(piece);
  }
  // The line break that `echo` adds.
  const value = Buffer.concat(pieces)
    .toString("utf8")
    .replace(/\r?\n$/, "");
  if (value === "")
    throw new UsageError(`The ${wanted} is empty. Pipe it in, or run the command in a terminal.`);
  return value;
}
