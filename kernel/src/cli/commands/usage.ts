import type { UsageGrouping } from "../../base/vocabulary/usage.ts";
import { exitCodes, type CommandContext } from "../command.ts";
import { renderUsage } from "../render/usage.ts";

interface UsageOptions {
  readonly by?: UsageGrouping;
  readonly since?: string;
  readonly until?: string;
  readonly json?: boolean;
}

/** Prints what requests to language models used, of all workspaces of this user. */
export async function usage(
  { ports, terminal }: CommandContext,
  { by = "day", since, until, json }: UsageOptions,
): Promise<number> {
  return ports.withUserServices(async ({ usage }) => {
    const groups = await usage.sums({
      groupBy: by,
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
    });
    if (json === true) terminal.json({ groups });
    else terminal.print(renderUsage(by, groups, terminal.surface));
    return exitCodes.ok;
  });
}
