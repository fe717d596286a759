import { exitCodes, folderAndVerb, folderNamed, withReadyKernel, type CommandContext } from "../command.ts";
import { oneLine } from "../render/foreign.ts";
import { bytes, counted } from "../render/quantities.ts";

export interface MemoryOptions {
  readonly agent?: string;
  readonly json?: boolean;
}

/** `verify` exits with 1 when a chain is broken, so that a script can tell. */
export async function memory(
  context: CommandContext,
  words: readonly string[],
  options: MemoryOptions,
): Promise<number> {
  const { folder: before, verb, rest } = folderAndVerb(words, ["verify", "stats"], "verify");
  const folder = rest[0] ?? before;
  return withReadyKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    const { terminal } = context;
    const { style } = terminal.surface;
    const ids = options.agent === undefined ? (await kernel.agents()).map(({ id }) => id) : [options.agent];
    let allSound = true;
    for (const agent of ids) {
      if (verb === "stats") {
        const stats = await kernel.memoryStats(agent);
        if (options.json === true) terminal.json({ agent, ...stats });
        else
          terminal.print([
            style.bold(oneLine(agent)),
            ...Object.entries(stats).map(([key, value]) => statLine(key, value)),
          ]);
        continue;
      }
      const result = await terminal.progress(`verifying ${agent}`, kernel.verifyMemory(agent));
      allSound &&= result.ok;
      if (options.json === true) terminal.json({ agent, ...result });
      else if (result.ok) {
        const head = style.dim(`head ${result.head.slice(0, 19)}…`);
        terminal.print(
          `${style.green("✓")} ${oneLine(agent)}  ${counted(result.records, "record")}, chain whole  ${head}`,
        );
      } else {
        const { firstBad } = result;
        const where = firstBad === undefined ? "" : ` at record ${firstBad.seq}: ${oneLine(firstBad.reason)}`;
        terminal.print(`${style.red("✗")} ${oneLine(agent)}  chain broken${where}`);
      }
    }
    if (ids.length === 0 && options.json !== true) terminal.print(style.dim("No agent has a memory here."));
    return allSound ? exitCodes.ok : exitCodes.failed;
  });
}

function statLine(key: string, value: unknown): string {
  const text =
    typeof value === "number" && /bytes/i.test(key) ? bytes(value) : oneLine(JSON.stringify(value) ?? "–");
  return `  ${oneLine(key)}: ${text}`;
}
