import { commands, Disposable, ProgressLocation, window } from "vscode";
import type { ClientContext } from "../feature.ts";
import { pathMovedOn } from "../model/drift.ts";
import { effectPaths } from "../model/effect-text.ts";
import { hashOfFile } from "../model/file-hash.ts";
import { label, message } from "../model/text.ts";
import { extentText, weightText } from "../model/weight.ts";
import type { Action } from "../protocol.ts";

/** How long to wait for the agent to react to a save; a later proposal is shown like any other. */
export const freshMs = 10_000;

const approve = "Approve";
const showApprovals = "Show Approvals";

/** A proposal that was about to be approved when its files were saved. */
export interface Outdated {
  readonly action: Action;
  /** Actions that waited before the files were saved. */
  readonly known: ReadonlySet<string>;
  /** The command that handles the approval of the fresh proposal. */
  readonly answeredBy: "lares.approve" | "lares.approveSome" | "lares.approveAlways";
}

/**
 * After a save: waits for the agent's proposal for the new text, shows it, and asks about it under its own digest. The
 * proposal for the old text is not approved any more.
 */
export async function approveFresh(
  context: ClientContext,
  { action, known, answeredBy }: Outdated,
): Promise<void> {
  const agent = label(context.models.agents.nameOf(action.agent), 80);
  const before = `“${message(action.title, 80)}”`;
  const fresh = await freshProposal(context, action, known, agent);
  if (fresh === undefined) {
    const answer = await window.showInformationMessage(
      `It is saved. ${before} was for the text before, so it was not applied, and ${agent} has not proposed anything for the new text yet.`,
      showApprovals,
    );
    if (answer === showApprovals) await commands.executeCommand("lares.approvals.focus");
    return;
  }
  const { id, digest, title, effects } = fresh;
  await commands.executeCommand("lares.showChanges", { id });
  const answer = await window.showWarningMessage(
    `It is saved, and ${agent} proposes “${message(title, 80)}” for the new text instead: ${extentText(effects)}, ${weightText(fresh)}. Look at it, and then decide.`,
    approve,
  );
  if (answer === approve) await commands.executeCommand(answeredBy, { id, digest });
}

/** Resolves with undefined if there was no proposal in time, or if the person does not want to wait. */
function freshProposal(
  { models: { actions } }: ClientContext,
  { agent, effects }: Action,
  known: ReadonlySet<string>,
  name: string,
): Thenable<Action | undefined> {
  const paths = new Set(effects.flatMap(effectPaths));
  const isCandidate = (one: Action): boolean =>
    one.agent === agent &&
    !known.has(one.id) &&
    one.effects.some((effect) => effectPaths(effect).some((path) => paths.has(path)));
  return window.withProgress(
    {
      location: ProgressLocation.Notification,
      cancellable: true,
      title: `Waiting for what ${name} proposes now`,
    },
    async (_progress, token) => {
      let resolve: (proposal: Action | undefined) => void = () => undefined;
      const promise = new Promise<Action | undefined>((settle) => (resolve = settle));
      const look = async (): Promise<void> => {
        for (const candidate of actions.pending.filter(isCandidate).toReversed())
          // A proposal that was made while the file was being saved is outdated, too.
          if ((await pathMovedOn(candidate.effects, hashOfFile)) === undefined) return resolve(candidate);
      };
      const looking = (): void => void look().catch(() => resolve(undefined));
      const timer = setTimeout(() => resolve(undefined), freshMs);
      const listening = Disposable.from(
        actions.onDidChange(looking),
        token.onCancellationRequested(() => resolve(undefined)),
        { dispose: () => clearTimeout(timer) },
      );
      looking();
      return promise.finally(() => listening.dispose());
    },
  );
}
