import { grantedChoice } from "../../base/consent-choice.ts";
import { exitCodes, folderNamed, UsageError, withKernel, type CommandContext } from "../command.ts";
import { drawQuestion } from "../render/consent.ts";
import { askForConsent, ensureTrust } from "../run/trust.ts";

interface PermissionsOptions {
  readonly grant?: readonly string[];
  readonly revoke?: boolean;
  readonly json?: boolean;
}

/** Shows what the agents of a folder may do, and lets the person change it. */
export async function permissions(
  context: CommandContext,
  folder: string,
  { grant, revoke, json }: PermissionsOptions,
): Promise<number> {
  if (grant !== undefined && revoke === true)
    throw new UsageError("--grant and --revoke cannot be combined. Use one of them.");
  const { terminal } = context;
  return withKernel(context, { folder: await folderNamed(folder) }, async (kernel) => {
    if (revoke === true) await kernel.distrust();
    else if (grant !== undefined) await ensureTrust(context, kernel, await kernel.status(), grant);
    const question = await kernel.question();
    if (json === true) terminal.json(question);
    else if (grant === undefined && revoke !== true && terminal.isInteractive)
      await askForConsent(context, kernel, question);
    else terminal.print(drawQuestion(question, grantedChoice(question), terminal.surface).lines);
    return exitCodes.ok;
  });
}
