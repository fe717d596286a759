import type { AdoptedState, CliPorts } from "./ports.ts";
import { oneLine } from "./render/foreign.ts";
import type { Surface } from "./render/style.ts";
import { wrap } from "./render/width.ts";
import type { Terminal } from "./terminal.ts";

/**
 * Returns ports that notice, before they first use the state of a folder, that it has one from before it was renamed: a person at
 * a terminal is asked whether to bring it over if the folder has no other yet; otherwise it is said.
 */
export function noticingAdoption(ports: CliPorts, terminal: Terminal): CliPorts {
  const noticed = new Map<string, Promise<void>>();
  const notice = (folder: string): Promise<void> => {
    let noticing = noticed.get(folder);
    if (noticing === undefined) {
      noticing = offer(ports, terminal, folder);
      noticed.set(folder, noticing);
    }
    return noticing;
  };
  return {
    ...ports,
    connect: async (options) => {
      await notice(options.folder);
      return ports.connect(options);
    },
    stateOf: async (folder) => {
      await notice(folder);
      return ports.stateOf(folder);
    },
  };
}

async function offer(ports: CliPorts, terminal: Terminal, folder: string): Promise<void> {
  // The command itself says what is wrong with the folder.
  const found = await ports.adoptableState(folder).catch(() => null);
  if (found === null) return;
  const { errorSurface } = terminal;
  const was = `This folder was ${oneLine(found.before)} when it was last used.`;
  if (!terminal.isInteractive || !found.isOnly)
    return terminal.warn(
      wrap(
        `${was} Its conversations and memories from then: lares adopt brings them over.`,
        errorSurface.width,
      ),
    );
  terminal.warn(
    wrap(
      `${was} Its conversations, changes and memories can be brought over; what you allowed is asked again.`,
      errorSurface.width,
    ),
  );
  if (await terminal.confirm("Bring them over?"))
    terminal.warn(adoptedLines(await ports.adoptState(folder), errorSurface));
  else terminal.warn("They stay where they are. lares adopt brings them over later.");
}

/** Returns what was done. */
export function adoptedLines({ before, setAside }: AdoptedState, { style, width }: Surface): string[] {
  return [
    `${style.green("✓")} The state of ${oneLine(before)} belongs to this folder now.`,
    ...(setAside === null
      ? []
      : wrap(`What it had before is in ${oneLine(setAside)}`, width - 2).map((line) => `  ${line}`)),
  ];
}
