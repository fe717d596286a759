import { isCancel, password } from "@clack/prompts";
import { personAt } from "../../base/vocabulary/principal.ts";
import { minFoundSecretBytes } from "../../base/vocabulary/secret.ts";
import { exitCodes, UsageError, type CommandContext } from "../command.ts";
import { oneLine } from "../render/foreign.ts";
import { renderSecrets } from "../render/secrets.ts";
import type { Terminal } from "../terminal.ts";

export interface SecretsOptions {
  readonly host?: readonly string[];
  readonly in?: string;
  readonly json?: boolean;
}

/** A longer value is not a key. Bytes. */
const maxValueBytes = 64 * 1024;

/** Lists, stores or removes secrets. A value comes from a prompt or from standard input, never from the command line. */
export async function secrets(
  { ports, terminal }: CommandContext,
  [verb = "list", name, ...more]: readonly string[],
  { host, in: place, json }: SecretsOptions,
): Promise<number> {
  if (!["list", "set", "remove"].includes(verb))
    throw new UsageError(`There is no command "${verb}" here. Use one of list, set, remove.`);
  if (verb === "list" && name !== undefined) throw new UsageError(`"list" takes no name. Remove "${name}".`);
  if (verb !== "list" && name === undefined)
    throw new UsageError(`The name of the secret is missing. Write: lares secrets ${verb} <name>`);
  if (more.length > 0)
    throw new UsageError(
      verb === "set"
        ? "The value of a secret is not written on the command line, where other programs can read it. Leave it out; you are asked for it."
        : `Only one name is allowed. Remove ${more.join(" ")}.`,
    );
  if (verb === "set" && (host === undefined || host.length === 0))
    throw new UsageError(
      `A secret is sent only to hosts that you name. Add --host, such as: lares secrets set ${name} --host api.example.com`,
    );
  return ports.withUserServices(async ({ secrets }) => {
    if (name === undefined) {
      const items = await secrets.list();
      if (json === true) terminal.json({ items });
      else terminal.print(renderSecrets(items, terminal.surface));
      return exitCodes.ok;
    }
    if (verb === "remove") {
      await secrets.remove(personAt("lares"), name);
      if (json === true) terminal.json({ removed: name });
      else terminal.print(`The secret ${oneLine(name)} is removed.`);
      return exitCodes.ok;
    }
    // Before the person pastes a value, which would be lost.
    secrets.check(name, host ?? [], place);
    const value = await readValue(terminal, name, json === true);
    if (value === null) return 130;
    const item = await secrets.set(personAt("lares"), name, value, host ?? [], place);
    if (Buffer.byteLength(value) < minFoundSecretBytes)
      terminal.warn(
        `This value has fewer than ${minFoundSecretBytes} bytes: where a server repeats it, it cannot be told from other text, and agents see it.`,
      );
    if (json === true) terminal.json(item);
    else
      terminal.print(`The secret ${oneLine(name)} is stored. It is sent only to ${item.hosts.join(", ")}.`);
    return exitCodes.ok;
  });
}

/** Returns null if the person cancelled. */
async function readValue(terminal: Terminal, name: string, isJson: boolean): Promise<string | null> {
  // Not only where standard output is a terminal too: one that is read directly would show what is typed.
  if (process.stdin.isTTY) {
    using _held = terminal.hold();
    const typed = await password({
      message: `The value of ${oneLine(name)} (it is not shown):`,
      output: terminal.isTerminal && !isJson ? process.stdout : process.stderr,
      signal: terminal.interrupted,
      validate: (value) => (value === undefined || value === "" ? "Paste or type the value." : undefined),
    });
    return isCancel(typed) ? null : typed.trim();
  }
  let length = 0;
  const pieces: Buffer[] = [];
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > maxValueBytes) throw new UsageError(`A secret has at most ${maxValueBytes} bytes.`);
    pieces.push(piece);
  }
  // The line break that `echo` adds.
  const value = Buffer.concat(pieces)
    .toString("utf8")
    .replace(/\r?\n$/, "");
  if (value === "") throw new UsageError("The value is empty. Pipe it in, or run the command in a terminal.");
  return value;
}
