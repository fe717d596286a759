import type { AgentNotification } from "../../base/vocabulary/notification.ts";
import { renderNotice } from "./agents.ts";
import { oneLine } from "./foreign.ts";
import { counted, dayAndTime } from "./quantities.ts";
import type { Surface } from "./style.ts";

/** Renders what agents said, each as its headline, its message, and when it was said. */
export function renderNotifications(items: readonly AgentNotification[], surface: Surface): string[] {
  const { style } = surface;
  if (items.length === 0) return [style.dim("No notification is new.")];
  const proposing = items.find(({ action, state }) => action !== undefined && state === "New");
  return [
    ...items.flatMap((item, index) => [...(index === 0 ? [] : [""]), ...renderNotification(item, surface)]),
    ...(proposing === undefined
      ? []
      : ["", style.dim(`Show what it proposes with: lares notifications act ${proposing.id.slice(-8)}`)]),
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

export function renderDismissed(dismissed: number, { style }: Surface): string {
  return dismissed === 0
    ? style.dim("No notification was new.")
    : `${style.green("✓")} dismissed ${counted(dismissed, "notification")}`;
}

/** Returns the sentence that says how many wait. */
export function waitingNotifications(total: number): string {
  return `${counted(total, "notification")} from before: lares notifications lists ${total === 1 ? "it" : "them"}.`;
}
