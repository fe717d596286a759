import type { Agent } from "../../base/vocabulary/agent.ts";
import type { AgentNotification } from "../../base/vocabulary/notification.ts";
import { renderNotice } from "./agents.ts";
import { oneLine } from "./foreign.ts";
import { counted, dayAndTime } from "./quantities.ts";
import type { Notice } from "./model.ts";
import type { Surface } from "./style.ts";
import { truncate, wrap } from "./width.ts";
import { hint } from "./hint.ts";

/** Renders what agents said, each as its headline, its message, and when it was said. */
export function renderNotifications(items: readonly AgentNotification[], surface: Surface): string[] {
  const { style } = surface;
  if (items.length === 0) return [style.dim("No notification is new.")];
  const isNew = items.filter(({ state }) => state === "New");
  const proposing = isNew.find(({ action }) => action !== undefined);
  const suspended = isNew.find(({ schedule }) => schedule !== undefined);
  return [
    ...items.flatMap((item, index) => [...(index === 0 ? [] : [""]), ...renderNotification(item, surface)]),
    ...(proposing === undefined
      ? []
      : [
          "",
          ...hint(`Show what it proposes with: lares notifications act ${proposing.id.slice(-8)}`, surface),
        ]),
    ...(suspended === undefined
      ? []
      : [
          "",
          ...hint(`Resume the schedule with: lares notifications act ${suspended.id.slice(-8)}`, surface),
        ]),
  ];
}

function renderNotification(item: AgentNotification, surface: Surface): string[] {
  const { id, state, updated, action } = item;
  const facts = [
    dayAndTime(updated),
    ...(action === undefined ? [] : ["proposes a change"]),
    ...(state === "New" ? [] : ["seen"]),
  ];
  return [
    ...renderNotice(item, surface),
    // The end of an id: its start is the time, which notifications of the same period share.
    surface.style.dim(`  ${oneLine(id).slice(-8)}  ${facts.join(", ")}`),
  ];
}

export function renderResumed(agent: Agent, { style }: Surface): string {
  return `${style.green("✓")} the schedule of ${oneLine(agent.id)} runs again`;
}

export function renderDismissed(dismissed: number, { style }: Surface): string {
  return dismissed === 0
    ? style.dim("No notification was new.")
    : `${style.green("✓")} dismissed ${counted(dismissed, "notification")}`;
}

/** The rows of a notification beside other things; `lares notifications --all` shows the whole of it. */
const maxRows = 3;

/** Renders what an agent says in the middle of something else, quietly and on a few rows. */
export function noticeLines(notice: Notice, { style, width }: Surface): string[] {
  const { agent, title, message, severity } = notice;
  const sign = severity === "error" ? "✗" : severity === "warning" ? "!" : "i";
  const text = [
    oneLine(agent),
    [title, message]
      .map(oneLine)
      .filter((part) => part !== "")
      .join(": "),
  ];
  const lines = wrap(text.join("  "), Math.max(8, width - 2));
  return [
    ...lines.slice(0, maxRows - 1),
    ...(lines.length < maxRows ? [] : [truncate(lines.slice(maxRows - 1).join(" "), Math.max(8, width - 2))]),
  ].map((line, row) => style.dim(`${row === 0 ? sign : " "} ${line}`));
}

/** Returns the sentence that says how many wait. */
export function waitingNotifications(total: number): string {
  return `${counted(total, "notification")} from before: lares notifications lists ${total === 1 ? "it" : "them"}.`;
}
