import { performance } from "node:perf_hooks";
import { commands, Disposable, TabInputWebview, window, workspace } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { decisionWords, saidBy } from "../model/decision-words.ts";
import { extentText, weightOf, weightText } from "../model/weight.ts";
import { isToShow } from "../model/notification-level.ts";
import { count, label, message } from "../model/text.ts";
import { ToastGate } from "../model/toast-gate.ts";
import type { Action, NotificationParamsOf } from "../protocol.ts";
import { reviewPanel } from "../views/review.ts";
import { keptNotifications, markSeen, ShownNotifications, timesText } from "./kept-notifications.ts";

const approve = "Approve";
const reject = "Reject";
const showChanges = "Show Changes";
const showApprovals = "Show Approvals";
/** Limits on an agent's message: characters of the text, characters of a button, number of buttons. */
const maxMessage = 300;
const maxButton = 40;
const maxButtons = 2;
const tooMany = "More changes than a message names.";
const defaultNotifyAbove = 0.5;

/** Shows messages of agents, and large waiting changes, as notifications of the editor. */
export const notifications: Feature = (context) => {
  const { kernel, models } = context;
  const timers = new Set<NodeJS.Timeout>();
  const shown = new ShownNotifications();
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
  /** Actions that were announced, as long as they wait. */
  let announced = new Set<string>();
  const consider = (): void => {
    const { pending } = models.actions;
    const above = workspace.getConfiguration("lares").get("approvals.notifyAbove", defaultNotifyAbove);
    const news = pending.filter(({ id, impact_score }) => impact_score >= above && !announced.has(id));
    announced = new Set(pending.map(({ id }) => id).filter((id) => announced.has(id)));
    for (const action of news) {
      announced.add(action.id);
      if (!isReviewing() && gate.admits()) void tellWaiting(context, action);
    }
  };
  return Disposable.from(
    models.actions.onDidChange(consider),
    kernel.on("lares/notify", (notice) => {
      for (const { actionId } of notice.actions ?? []) announced.add(actionId);
      // One that is not shown waits in the list; suspended schedules are told by `suspendedSchedules`.
      if (notice.schedule !== undefined) return;
      if (!isToShow(notice.severity) || !gate.admits()) return;
      if (notice.id !== undefined) shown.add(notice.id);
      void tellNotice(context, notice);
    }),
    keptNotifications(context, shown),
    { dispose: () => timers.forEach((timer) => clearTimeout(timer)) },
  );
};

/** True if the person is looking at the review page, which shows the same: a notification would only cover it. */
function isReviewing(): boolean {
  const input = window.tabGroups.activeTabGroup.activeTab?.input;
  // The editor adds its own prefix to the type.
  return window.state.focused && input instanceof TabInputWebview && input.viewType.endsWith(reviewPanel);
}

/**
 * A notification stays on the screen after its action was decided elsewhere, because the editor cannot withdraw a
 * message with buttons. It can only withdraw progress notifications, which have no button but Cancel and look like work
 * in progress. So a late answer is sent like any other, and is reported as late.
 */
async function tellWaiting({ models }: ClientContext, { id, digest, ...action }: Action): Promise<void> {
  const words = decisionWords(action);
  const said = saidBy(models.agents.nameOf(action.agent), action.title, action.reason);
  const { showsFirst, isAlone } = weightOf(action);
  const text = `${words ?? tooMany} ${extentOf(action)}. ${said}`;
  // The first button is the default. A change that the message does not fully name, or that is large, is opened before
  // it can be approved.
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

/** Describes an action in words that no agent chooses. */
function extentOf(action: Pick<Action, "effects" | "impact_score">): string {
  return `${extentText(action.effects)}, ${weightText(action)}`;
}

async function tellNotice(
  context: ClientContext,
  notice: NotificationParamsOf<"lares/notify">,
): Promise<void> {
  const { models } = context;
  const { id, agent, title, message: words, severity, actions } = notice;
  const name = label(models.agents.nameOf(agent), 80);
  const [first] = actions ?? [];
  // The label is fixed, so that a button that an agent names “Close” cannot approve. It includes the size of the
  // change; an action that is not known here gets no button, because its size is unknown.
  const offers = (actions ?? []).slice(0, maxButtons).flatMap((action) => {
    const known = models.actions.get(action.actionId);
    if (known === undefined || known.digest !== action.digest) return [];
    const does = decisionWords(known);
    if (does === null || weightOf(known).isAlone) return [];
    const button = `${approve}: ${message(action.title, maxButton)}`;
    return [{ title: button, action, extent: `${button} does this: ${does} ${extentOf(known)}. ` }];
  });
  // The fixed text comes first: what a button does is said before the agent's text.
  const extents = offers.map(({ extent }) => extent).join("");
  const said = message([title, words].filter(Boolean).join(". "), maxMessage);
  const text = `${extents}${name}: ${said}${timesText(notice)}`;
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
  // The editor answers once the person has closed it, also where it was in the editor's list for a while.
  if (id !== undefined) markSeen(context, [id]);
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
