import { exitCodes, folderNamed, requireConfirmation, type CommandContext } from "../command.ts";
import { oneLine } from "../render/foreign.ts";
import { wrap } from "../render/width.ts";
import { adoptedLines } from "../adoption.ts";

interface AdoptOptions {
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Brings the state of a renamed folder over to its new path. Exits with 1 if there is none. */
export async function adopt(context: CommandContext, name: string, options: AdoptOptions): Promise<number> {
  const { ports, terminal } = context;
  const folder = await folderNamed(name);
  const found = await ports.adoptableState(folder);
  if (found === null) {
    terminal.warn(
      wrap(
        `No state was found that belongs to ${oneLine(folder)} and was last used under another path. A copy, and a folder that was moved to another disk, are folders of their own.`,
        terminal.errorSurface.width,
      ),
    );
    return exitCodes.failed;
  }
  requireConfirmation(terminal, options, "Bringing a state over");
  if (options.yes !== true) {
    const has = found.isOnly ? "" : " The state that this folder has now is set aside.";
    terminal.print(
      wrap(
        `Conversations, changes and memories of ${oneLine(found.before)} become those of ${oneLine(folder)}. What you allowed there is asked again.${has}`,
        terminal.surface.width,
      ),
    );
    if (!(await terminal.confirm("Bring it over?"))) {
      terminal.warn("Nothing was changed.");
      return exitCodes.failed;
    }
  }
  const adopted = await terminal.progress("bringing the state over", ports.adoptState(folder));
  if (options.json === true) terminal.json({ folder, ...adopted });
  else terminal.print(adoptedLines(adopted, terminal.surface));
  return exitCodes.ok;
}
