import type { Command } from "commander";
import type { CliPorts } from "../ports.ts";
import { examples, execute, json } from "./command-parts.ts";

/** Adds the command for what agents said to the person. */
export function addNotifications(program: Command, ports: CliPorts): void {
  program
    .command("notifications")
    .description("list what agents said to you, dismiss it, and use its buttons")
    .usage("[folder] [list | dismiss [<id>] | act <id>] [options]")
    .argument("[words...]")
    .option("--all", "list: also what you have seen; dismiss: everything that is new")
    .addOption(json())
    .addHelpText(
      "after",
      `
The last characters of an id, as the list shows them, or the beginning of a title are enough. Notifications wait here
while no client is connected. What one proposes waits for your approval, as any other action: act shows it, and has it
proposed again if it has expired.
${examples([
  ["lares notifications", "what is new, the latest first"],
  ["lares notifications act 5c1f9e20", "show what it proposes; lares review decides it"],
  ["lares notifications dismiss --all", "mark everything as seen"],
])}`,
    )
    .action((words: string[], options: object) =>
      execute(ports, async (context) =>
        (await import("../commands/notifications.ts")).notifications(context, words, options),
      ),
    );
}
