import { Option } from "commander";
import { isLaresError } from "../../base/errors.ts";
import { exitCodes, renderError, UsageError, type CommandContext } from "../command.ts";
import { noticingAdoption } from "../adoption.ts";
import type { CliPorts, SilentKernel } from "../ports.ts";
import { manyLines, oneLine } from "../render/foreign.ts";
import { Terminal } from "../terminal.ts";

/** Runs the body of a command: prints its error as a sentence, sets the exit code, and restores the terminal. */
export async function execute(
  ports: CliPorts,
  body: (context: CommandContext) => Promise<number>,
): Promise<void> {
  using terminal = new Terminal();
  try {
    const connect: CliPorts["connect"] = (options) =>
      ports.connect({
        silence: (kernel) => terminal.silence(kernel === null ? null : silenceSentence(kernel)),
        ...options,
      });
    process.exitCode = await body({ ports: noticingAdoption({ ...ports, connect }, terminal), terminal });
  } catch (error) {
    terminal.status(null);
    // A request that was interrupted by the person fails, which is not an error to report.
    if (terminal.interrupted.aborted) process.exitCode = terminal.interruptedCode;
    else {
      terminal.warn(renderError(error, terminal));
      if (process.env["LARES_DEBUG"] && error instanceof Error) terminal.warn(manyLines(error.stack ?? ""));
      const isUsage = error instanceof UsageError || isLaresError(error, "InvalidParams");
      process.exitCode = isUsage ? exitCodes.usage : exitCodes.failed;
    }
  }
}

function silenceSentence({ folder, pid }: SilentKernel): string {
  const which = pid === null ? "" : ` (process ${pid})`;
  return `The kernel of ${oneLine(folder)}${which} does not answer: it is busy, or something stopped it. Wait, or end it with "lares stop"; nothing that it has acknowledged is lost.`;
}

export const json = (): Option => new Option("--json", "print JSON for programs");

/** Returns the examples under a command's help: commands to copy, each with its purpose. */
export function examples(list: readonly (readonly [command: string, what: string])[]): string {
  const width = Math.max(...list.map(([command]) => command.length));
  const lines = list.map(
    ([command, what]) => `  ${what === "" ? command : `${command.padEnd(width)}  # ${what}`}`,
  );
  return `\nExamples:\n${lines.join("\n")}\n`;
}
