import { performance } from "node:perf_hooks";
import { commands, Disposable, window, workspace } from "vscode";
import type { ClientContext, Feature } from "./feature.ts";
import { decisionWords, saidBy } from "./model/decision-words.ts";
import { impactText } from "./model/impact.ts";
import { extentText, weightOf } from "./model/weight.ts";
import { count, label, message } from "./model/text.ts";
import { ToastGate } from "./model/toast-gate.ts";
import type { Action, NotificationParamsOf } from "./protocol.ts";

const approve = "Approve";
const reject = "Reject";
const showChanges = "Show Changes";
const showApprovals = "Show Approvals";
/** Of what an agent says, and of its buttons: so many characters, so many buttons. */
const maxMessage = 300;
const maxButton = 40;
const maxButtons = 2;
const tooMany = "More changes than a message names.";
const defaultNotifyAbove = 0.5;

/** What agents say, and what waits and would change much, as notifications of the editor. */
export const notifications: Feature = (context) => {
  const { kernel, models } = context;
  const timers = new Set<NodeJS.Timeout>();
  const gate = new ToastGate(
    () => performance.now(),
    (run, inMs) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        run();
      }, inMs);
      timers.add(timer);
    },
    (held) => void tellHeld(held),
  );
  /** Actions that were told of, as long as they wait. */
  let told = new Set<string>();
  const consider = (): void => {
    const { pending } = models.actions;
    const above = workspace.getConfiguration("lares").get("approvals.notifyAbove", defaultNotifyAbove);
    const news = pending.filter(({ id, impact_score }) => impact_score >= above && !told.has(id));
    told = new Set(pending.map(({ id }) => id).filter((id) => told.has(id)));
    for (const action of news) {
      told.add(action.id);
      if (gate.admits()) void tellWaiting(context, action);
    }
  };
  return Disposable.from(
    models.actions.onDidChange(consider),
    kernel.on("lares/notify", (notice) => {
      for (const { actionId } of notice.actions ?? []) told.add(actionId);
      if (gate.admits()) void tellNotice(context, notice);
    }),
    { dispose: () => timers.forEach((timer) => clearTimeout(timer)) },
  );
};

/**
 * One that is answered elsewhere stays on the screen: the editor takes no message with buttons back. What it does take
 * back is a progress, which has no button but Cancel, and looks like work that goes on; a person could not answer it.
 * So a late answer goes the way of all, and is told there that it is one.
 */
async function tellWaiting({ models }: ClientContext, { id, digest, ...action }: Action): Promise<void> {
  const words = decisionWords(action);
  const said = saidBy(models.agents.nameOf(action.agent), action.title, action.reason);
  const { showsFirst, isAlone } = weightOf(action);
  const text = `${words ?? tooMany} ${extentOf(action)}. ${said}`;
  // The first button is the default. What the message does not name, or is large, is looked at before it is approved.
  const buttons =
    words === null || isAlone
      ? [showChanges, reject]
      : showsFirst
        ? [showChanges, approve, reject]
        : [approve, reject, showChanges];
  const answer = await window.showWarningMessage(text, ...buttons);
  if (answer === approve) await commands.executeCommand("lares.approve", { id, digest });
  if (answer === reject) await commands.executeCommand("lares.reject", { id, digest });
  if (answer === showChanges) await commands.executeCommand("lares.showChanges", { id });
}

/** Of an action, in words that no agent chooses. */
function extentOf({ effects, impact_score }: Pick<Action, "effects" | "impact_score">): string {
  return `${extentText(effects)}, ${impactText(impact_score)}`;
}

async function tellNotice(
  { models }: ClientContext,
  { agent, title, message: words, severity, actions }: NotificationParamsOf<"lares/notify">,
): Promise<void> {
  const name = message(models.agents.nameOf(agent), 80);
  const [first] = actions ?? [];
  // The word is ours: a button that an agent names “Close” must not approve. And so is how much it would change; of
  // what is not known here, nothing could be said, and nothing is approved.
  const offers = (actions ?? []).slice(0, maxButtons).flatMap((action) => {
    const known = models.actions.get(action.actionId);
    if (known === undefined || known.digest !== action.digest) return [];
    const does = decisionWords(known);
    if (does === null || weightOf(known).isAlone) return [];
    const button = `${approve}: ${label(action.title, maxButton)}`;
    return [{ title: button, action, extent: `${button} does this: ${does} ${extentOf(known)}. ` }];
  });
  // Ours first: what a button does is said before what the agent says of it.
  const extents = offers.map(({ extent }) => extent).join("");
  const text = `${extents}${name}: ${message([title, words].filter(Boolean).join(". "), maxMessage)}`;
  const show = first === undefined ? [] : [{ title: showChanges, action: null }];
  const shown = {
    info: window.showInformationMessage,
    warning: window.showWarningMessage,
    error: window.showErrorMessage,
  }[severity];
  const answer = await shown<{ title: string; action: (typeof offers)[number]["action"] | null }>(
    text,
    ...offers,
    ...show,
  );
  if (answer === undefined) return;
  if (answer.action === null) await commands.executeCommand("lares.showChanges", { id: first?.actionId });
  else
    await commands.executeCommand("lares.approve", {
      id: answer.action.actionId,
      digest: answer.action.digest,
    });
}

async function tellHeld(held: number): Promise<void> {
  const answer = await window.showInformationMessage(
    `Lares: ${count(held, "more notification")} in the last seconds.`,
    showApprovals,
  );
  if (answer === showApprovals) await commands.executeCommand("lares.approvals.focus");
}
