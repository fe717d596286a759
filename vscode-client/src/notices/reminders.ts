import { commands, window } from "vscode";
import type { Feature } from "../feature.ts";

const show = "Show What Waits";
const answeredBy = { changes: "lares.approvals.focus", permissions: "lares.trustWorkspace" } as const;

/**
 * Reminds in the window that changes, or a question of permissions, have waited for long. The editor keeps such a
 * message on the screen while its window is in the background. Extensions cannot send desktop notifications, but the
 * Activity page does if its environment permits it.
 */
export const reminders: Feature = ({ models }) =>
  models.reminders.onDidRemind(({ about, title, body }) => {
    void window.showInformationMessage(`${title}. ${body}`, show).then((answer) => {
      if (answer === show) return commands.executeCommand(answeredBy[about]);
      return undefined;
    });
  });
