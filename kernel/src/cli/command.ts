import { existsSync } from "node:fs";
import { stat, realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isLaresError, messageOf } from "../base/errors.ts";
import { KernelClient } from "./kernel-client.ts";
import type { CliPorts, ConnectOptions } from "./ports.ts";
import { oneLine } from "./render/foreign.ts";
import { wrap } from "./render/width.ts";
import type { Terminal } from "./terminal.ts";

export { exitCodes } from "./exit-codes.ts";

/** What every command receives. */
export interface CommandContext {
  readonly ports: CliPorts;
  readonly terminal: Terminal;
}

/** The command line makes no sense; the process exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Returns the real path of a folder that a person named. */
export async function folderNamed(name: string): Promise<string> {
  const path = resolve(name);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new UsageError(`The folder "${name}" does not exist.`);
  if (!found.isDirectory()) throw new UsageError(`"${name}" is a file. Name the folder that contains it.`);
  return realpath(path);
}

/** Runs `use` in a session with the folder's kernel, and closes the session afterwards in any case. */
export async function withKernel<Result>(
  { ports, terminal }: CommandContext,
  options: ConnectOptions,
  use: (kernel: KernelClient) => Promise<Result>,
): Promise<Result> {
  await using connection = await terminal.progress("starting the kernel", ports.connect(options));
  return await use(new KernelClient(connection));
}

const readyPollMs = 50;

/**
 * As `withKernel`, but waits first until a trusted kernel has loaded and indexed, because one that was just started has
 * nothing to report yet.
 */
export function withReadyKernel<Result>(
  context: CommandContext,
  options: ConnectOptions,
  use: (kernel: KernelClient) => Promise<Result>,
): Promise<Result> {
  const { terminal } = context;
  return withKernel(context, options, async (kernel) => {
    await terminal.progress("indexing", whenReady(kernel, terminal.interrupted));
    return use(kernel);
  });
}

/** Resolves when a trusted kernel has loaded and indexed. */
export async function whenReady(kernel: KernelClient, signal: AbortSignal): Promise<void> {
  for (;;) {
    const { ready, trusted } = await kernel.status();
    // An untrusted workspace never gets ready; the request itself reports what is missing.
    if (ready || !trusted) return;
    await pause(readyPollMs, undefined, { signal });
  }
}

/**
 * Splits `[folder] [verb] [rest…]`, all of them optional: the first word is the folder unless it is one of the verbs.
 */
export function folderAndVerb<Verb extends string>(
  words: readonly string[],
  verbs: readonly Verb[],
  verbOtherwise: Verb,
): { folder: string; verb: Verb; rest: readonly string[] } {
  const isVerb = (word: string | undefined): word is Verb => verbs.some((verb) => verb === word);
  const [first, second] = words;
  if (first === undefined) return { folder: ".", verb: verbOtherwise, rest: [] };
  if (isVerb(first)) return { folder: ".", verb: first, rest: words.slice(1) };
  if (second === undefined) {
    if (/^\w[\w-]*$/.test(first) && !existsSync(first))
      throw new UsageError(`"${first}" is neither a folder nor one of ${verbs.join(", ")}.`);
    return { folder: first, verb: verbOtherwise, rest: [] };
  }
  if (isVerb(second)) return { folder: first, verb: second, rest: words.slice(2) };
  throw new UsageError(`There is no command "${second}" here. Use one of ${verbs.join(", ")}.`);
}

/** Called before any request: an operation that cannot be undone needs a confirmation. */
export function requireConfirmation(
  terminal: Terminal,
  { yes, json }: { readonly yes?: boolean; readonly json?: boolean },
  what: string,
): void {
  if (yes !== true && (json === true || !terminal.isInteractive))
    throw new UsageError(`${what} needs your confirmation at a terminal. In a script, add --yes.`);
}

/** Formats an error in the form that commander uses for its own: on one line, or wrapped at a terminal. */
export function errorLines(message: string, { errorSurface, isErrorTerminal }: Terminal): string[] {
  const { style, width } = errorSurface;
  const label = "error: ";
  const text = oneLine(message);
  const [first = "", ...rest] = isErrorTerminal ? wrap(text, width - label.length) : [text];
  return [`${style.red(label.trimEnd())} ${first}`, ...rest.map((line) => " ".repeat(label.length) + line)];
}

/** Returns the lines of an error for standard error. */
export function renderError(error: unknown, terminal: Terminal): string[] {
  // The kernel's own sentence names methods of the protocol.
  const message = isLaresError(error, "Untrusted")
    ? "This workspace is not trusted: you have not accepted its requests yet. `lares run` shows them and asks you; `lares chat` does, where you only want to talk."
    : messageOf(error);
  return errorLines(message, terminal);
}
