import { commands, Disposable, window, type QuickPickItem } from "vscode";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext } from "../feature.ts";
import { isToShow, severities } from "../model/notification-level.ts";
import { count, label, message, when } from "../model/text.ts";
import type { AgentNotification } from "../protocol.ts";

const show = "Show";
const dismiss = "Dismiss";
const resume = "Resume";
const showChanges = "Show Changes";
/** As many as the kernel keeps. */
const maxListed = 200;
/** Headlines that the summary names. */
const maxNamed = 3;
/** Ids of notifications that this window has shown; more than the kernel keeps. */
const maxShown = 1_000;

/** The notifications that this window has shown. Each is shown once, whatever becomes of its kernel. */
export class ShownNotifications {
  readonly #ids = new Set<string>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  add(id: string): void {
    this.#ids.add(id);
    if (this.#ids.size <= maxShown) return;
    const [oldest] = this.#ids;
    if (oldest !== undefined) this.#ids.delete(oldest);
  }
}

/** Says once what agents said while no window was open; `lares.openNotifications` lists it. */
export function keptNotifications(context: ClientContext, shown: ShownNotifications): Disposable {
  const { kernel } = context;
  const look = (): void => {
    if (kernel.state.kind !== "running") return;
    kernel
      .request("lares/notifications/list", { state: "New", limit: maxListed })
      .then(({ items }) => {
        const missed = items.filter(
          ({ id, severity, channels, schedule }) =>
            // Suspended schedules are told as what they are, by `suspendedSchedules`.
            schedule === undefined &&
            !shown.has(id) &&
            isToShow(severity) &&
            channels?.includes("editor") !== false,
        );
        for (const { id } of missed) shown.add(id);
        if (missed.length > 0) void tellMissed(context, missed);
      })
      // The kernel is shutting down or gone; its next state asks again.
      .catch(() => undefined);
  };
  look();
  return Disposable.from(
    kernel.onDidChangeState(look),
    commands.registerCommand("lares.openNotifications", () =>
      reporting("The notifications cannot be shown", () => open(context)),
    ),
  );
}

/** Marks them as seen. If that fails, the person sees them once more in another window. */
export function markSeen({ kernel }: ClientContext, ids: readonly string[]): void {
  if (ids.length > 0) kernel.request("lares/notifications/dismiss", { ids: [...ids] }).catch(() => undefined);
}

/** Returns how often it was said, where that is more than once. */
export function timesText({ count: times = 1 }: { readonly count?: number }): string {
  return times > 1 ? ` (${times.toLocaleString("en")} times)` : "";
}

async function tellMissed(context: ClientContext, missed: readonly AgentNotification[]): Promise<void> {
  const worst = severities.findLast((severity) => missed.some((one) => one.severity === severity));
  const titles = missed
    .slice(0, maxNamed)
    .map((one) => `${message(one.title, 80)}${timesText(one)}`)
    .join(", ");
  const more = missed.length > maxNamed ? ", …" : "";
  const tell = {
    info: window.showInformationMessage,
    warning: window.showWarningMessage,
    error: window.showErrorMessage,
  }[worst ?? "info"];
  const text = `${count(missed.length, "notification")} while you were away: ${titles}${more}`;
  const answer = await tell(text, show, dismiss);
  if (answer === dismiss)
    markSeen(
      context,
      missed.map(({ id }) => id),
    );
  if (answer === show) await commands.executeCommand("lares.openNotifications");
}

interface Row extends QuickPickItem {
  readonly notification: AgentNotification | null;
}

/** Lists what is new, or what was seen before if nothing is; one of them can be read. */
async function open(context: ClientContext): Promise<void> {
  const { kernel, models } = context;
  const { items } = await kernel.request("lares/notifications/list", { limit: maxListed });
  const fresh = items.filter(({ state }) => state === "New");
  if (items.length === 0) {
    void window.showInformationMessage("No agent has sent a notification.");
    return;
  }
  const now = Date.now();
  const rows = (fresh.length > 0 ? fresh : items).map((one): Row => ({
    notification: one,
    label: `${message(one.title, 200)}${timesText(one)}`,
    description: `${label(models.agents.nameOf(one.agent), 80)}, ${when(one.updated, now)}`,
    detail: message(one.message, 400),
  }));
  const all: Row = { notification: null, label: `Dismiss All ${fresh.length}` };
  const picked = await window.showQuickPick<Row>(fresh.length > 1 ? [...rows, all] : rows, {
    title: "Notifications of Agents",
    placeHolder: fresh.length > 0 ? "What agents said" : "Nothing is new. What agents said before",
    matchOnDetail: true,
  });
  if (picked === undefined) return;
  if (picked.notification !== null) return await read(context, picked.notification);
  markSeen(
    context,
    fresh.map(({ id }) => id),
  );
}

/** Shows one as a whole. Its proposal is opened, not approved. */
async function read(context: ClientContext, one: AgentNotification): Promise<void> {
  const { kernel, models } = context;
  const name = label(models.agents.nameOf(one.agent), 80);
  const tell = {
    info: window.showInformationMessage,
    warning: window.showWarningMessage,
    error: window.showErrorMessage,
  }[one.severity];
  const answer = await tell(
    message(one.title, 200),
    {
      modal: true,
      detail: `${message(one.message, 4_000)}\n\n${name} said it ${when(one.updated, Date.now())}${timesText(one)}.`,
    },
    ...(one.schedule !== undefined ? [resume] : one.action === undefined ? [] : [showChanges]),
  );
  if (answer !== showChanges && answer !== resume) return markSeen(context, [one.id]);
  const acted = await kernel.request("lares/notifications/act", { id: one.id });
  if ("resumed" in acted) return;
  const { id } = acted;
  await commands.executeCommand("lares.showChanges", { id });
}
