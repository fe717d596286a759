import {
  errorLines,
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
  type CommandContext,
} from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { argumentsOf, commandOutcome, namesIn, saidBy, type OfferedCommand } from "../offered-commands.ts";
import { manyLines, oneLine } from "../render/foreign.ts";
import { wrap } from "../render/width.ts";

export interface AgentCommandsOptions {
  readonly agent?: string;
  readonly json?: boolean;
}

/** Lists and runs the commands that extensions offer. */
export async function agentCommands(
  context: CommandContext,
  words: readonly string[],
  options: AgentCommandsOptions,
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, ["list", "run"], "list");
  const asked = verb === "run" ? askedFor(rest) : null;
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    const offered = await kernel.commands();
    if (asked === null) return list(context, offered, options);
    return run(context, kernel, { ...asked, command: commandNamed(offered, asked) }, options);
  });
}

function list(
  { terminal }: CommandContext,
  offered: readonly OfferedCommand[],
  { agent, json }: AgentCommandsOptions,
): number {
  const found = offered.filter((command) => agent === undefined || command.agent === agent);
  if (json === true) {
    terminal.json(found);
    return exitCodes.ok;
  }
  const { style, width } = terminal.surface;
  if (found.length === 0) terminal.print(style.dim("No extension in this folder offers a command."));
  for (const command of found) {
    const names = oneLine(namesIn(command));
    const parameters = names === "" ? "" : `  ${style.dim(`{ ${names} }`)}`;
    const { description } = command;
    const what = `${oneLine(command.title)}${description === "" ? "" : `. ${oneLine(description)}`}`;
    terminal.print([
      `${style.cyan(oneLine(command.agent))}/${style.bold(oneLine(command.name))}${parameters}`,
      ...wrap(what, width - 2).map((line) => `  ${line}`),
    ]);
  }
  return exitCodes.ok;
}

interface Asked {
  readonly agent: string;
  readonly name: string;
  readonly text: string;
}

async function run(
  { terminal }: CommandContext,
  kernel: KernelClient,
  { agent, name, text, command }: Asked & { readonly command: OfferedCommand },
  { json }: AgentCommandsOptions,
): Promise<number> {
  const given = argumentsOf(command, text);
  if (given.kind === "wrong") throw new UsageError(oneLine(given.message));
  const result = await terminal.progress(
    `${oneLine(name)} runs`,
    kernel.runCommand(agent, name, given.value),
  );
  const outcome = commandOutcome(result);
  const code =
    outcome.kind === "failed"
      ? exitCodes.failed
      : outcome.kind === "waits"
        ? exitCodes.waiting
        : exitCodes.ok;
  if (json === true) {
    terminal.json(result);
    return code;
  }
  switch (outcome.kind) {
    case "failed":
      terminal.warn(errorLines(outcome.message, terminal));
      break;
    case "waits":
      terminal.print(`A change waits for you: lares actions show ${oneLine(outcome.action)}`);
      break;
    case "conversation":
      terminal.print(`A conversation has begun: lares chat --resume ${oneLine(outcome.id).slice(-8)}`);
      break;
    case "done":
      terminal.print(manyLines(saidBy(command, outcome.value)));
  }
  return code;
}

function askedFor([named, ...words]: readonly string[]): Asked {
  const slash = named?.indexOf("/") ?? -1;
  if (named === undefined || slash < 1 || slash === named.length - 1)
    throw new UsageError(
      `The name of a command is missing. Write lares commands run <agent>/<command> ['{"argument": 1}'].`,
    );
  return { agent: named.slice(0, slash), name: named.slice(slash + 1), text: words.join(" ") };
}

function commandNamed(offered: readonly OfferedCommand[], { agent, name }: Asked): OfferedCommand {
  const found = offered.find((command) => command.agent === agent && command.name === name);
  if (found !== undefined) return found;
  throw new UsageError(`No extension offers the command "${agent}/${name}". "lares commands" lists them.`);
}
