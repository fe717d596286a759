import { workspace } from "vscode";
import type { AgentNotification } from "../protocol.ts";

/** The least first. A setting of "none" is above all of them. */
export const severities = ["info", "warning", "error"] as const;

/** True if the person lets the editor show messages of this severity. */
export function isToShow(severity: AgentNotification["severity"]): boolean {
  const level = workspace.getConfiguration("lares").get<string>("notifications.level", "info");
  if (level === "none") return false;
  return severities.indexOf(severity) >= severities.findIndex((one) => one === level);
}
