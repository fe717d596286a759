import type { AgentNotification } from "../../base/vocabulary/notification.ts";
import {
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
  type CommandContext,
} from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { oneNamed, onlyOne } from "../one-named.ts";
import { renderActionLine } from "../render/action.ts";
import { renderDismissed, renderNotifications, renderResumed } from "../render/notifications.ts";

interface NotificationsOptions {
  readonly all?: boolean;
  readonly json?: boolean;
}

/** As many as a kernel keeps. */
const listLimit = 200;

/** Lists what agents said to the person, dismisses it, or uses the button of one. */
export async function notifications(
  context: CommandContext,
  words: readonly string[],
  options: NotificationsOptions,
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, ["list", "dismiss", "act"], "list");
  const [given, ...more] = rest;
  if (more.length > 0) throw new UsageError(onlyOne(more));
  if (verb === "list" && given !== undefined) throw new UsageError(`"list" takes no id. Remove "${given}".`);
  if (verb === "act" && options.all === true) throw new UsageError('--all goes with "list" or "dismiss".');
  if (verb === "dismiss" && (given === undefined) !== (options.all === true))
    throw new UsageError(
      given === undefined
        ? 'An id is missing. Write lares notifications dismiss <id>, or --all; "lares notifications" lists the ids.'
        : `An id and --all cannot be combined. Use one of them.`,
    );
  if (verb === "act" && given === undefined)
    throw new UsageError(
      'An id is missing. Write lares notifications act <id>; "lares notifications" lists the ids.',
    );
  return withReadyKernel(context, { folder: await folderNamed(folder) }, (kernel) =>
    verb === "list"
      ? list(context, kernel, options)
      : verb === "dismiss"
        ? dismiss(context, kernel, given, options)
        : act(context, kernel, given ?? "", options),
  );
}

async function list(
  { terminal }: CommandContext,
  kernel: KernelClient,
  { all, json }: NotificationsOptions,
): Promise<number> {
  const found = await kernel.notifications({ limit: listLimit, ...(all === true ? {} : { state: "New" }) });
  if (json === true) terminal.json(found);
  else terminal.print(renderNotifications(found.items, terminal.surface));
  return exitCodes.ok;
}

async function dismiss(
  { terminal }: CommandContext,
  kernel: KernelClient,
  given: string | undefined,
  { json }: NotificationsOptions,
): Promise<number> {
  const ids =
    given === undefined
      ? (await kernel.notifications({ limit: listLimit, state: "New" })).items.map(({ id }) => id)
      : [(await find(kernel, given)).id];
  const answer = ids.length === 0 ? { dismissed: 0 } : await kernel.dismissNotifications(ids);
  if (json === true) terminal.json(answer);
  else terminal.print([renderDismissed(answer.dismissed, terminal.surface)]);
  return exitCodes.ok;
}

async function act(
  { terminal }: CommandContext,
  kernel: KernelClient,
  given: string,
  { json }: NotificationsOptions,
): Promise<number> {
  const found = await kernel.actOnNotification((await find(kernel, given)).id);
  if (json === true) terminal.json(found);
  else if ("resumed" in found) terminal.print([renderResumed(found.resumed, terminal.surface)]);
  else {
    terminal.print(renderActionLine(found, terminal.surface));
    if (found.state === "PendingApproval")
      terminal.print([terminal.surface.style.dim(`Decide it with: lares review`)]);
  }
  return exitCodes.ok;
}

async function find(kernel: KernelClient, given: string): Promise<AgentNotification> {
  return oneNamed((await kernel.notifications({ limit: listLimit })).items, given, {
    noun: "notification",
    nouns: "notifications",
    listing: "lares notifications --all",
    id: ({ id }) => id,
    title: ({ title }) => title,
  });
}
