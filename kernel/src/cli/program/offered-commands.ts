import type { Command } from "commander";
import type { AgentCommandsOptions } from "../commands/agent-commands.ts";
import type { CliPorts } from "../ports.ts";
import { examples, execute, json } from "./command-parts.ts";

/** Adds the command for the commands that extensions offer. */
export function addOfferedCommands(program: Command, ports: CliPorts): void {
  program
    .command("commands")
    .description("list and run the commands that extensions offer")
    .usage("[folder] [list | run <agent>/<command> [arguments]] [options]")
    .argument("[words...]")
    .option("--agent <id>", "list: only this agent")
    .addOption(json())
    .addHelpText(
      "after",
      `
The arguments are JSON, or the text of the only parameter that has to be given. A command that is a text for a mind begins
a conversation with it. lares chat offers the same commands after a slash.

The exit code is 0; or 1 if the command failed, 2 if it was wrong, 3 if a change that it proposed waits for you.
${examples([
  ["lares commands", "what can be run in this folder"],
  [`lares commands run dev.lares.photos/create_album '{"name": "Summer"}'`, "run one"],
])}`,
    )
    .action((words: string[], options: AgentCommandsOptions) =>
      execute(ports, async (context) =>
        (await import("../commands/agent-commands.ts")).agentCommands(context, words, options),
      ),
    );
}
