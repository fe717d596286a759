import { exitCodes, folderNamed, type CommandContext } from "../command.ts";

/** Stops the kernel of the workspace that consists of `folders`. */
export async function stop(
  { ports, terminal }: CommandContext,
  folders: readonly string[],
  { json }: { readonly json?: boolean },
): Promise<number> {
  const named = await Promise.all((folders.length === 0 ? ["."] : folders).map(folderNamed));
  const stopped = await terminal.progress("ending the kernel", ports.stopKernel(named));
  if (json === true) terminal.json(stopped);
  else if (stopped.pid === null) terminal.print("No kernel runs for this workspace.");
  else
    terminal.print(
      stopped.killed
        ? `The kernel (process ${stopped.pid}) did not answer and was killed.`
        : `The kernel (process ${stopped.pid}) has ended.`,
    );
  return exitCodes.ok;
}
