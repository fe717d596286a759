import { commands, window } from "vscode";
import type { Feature } from "./feature.ts";

const show = "Show What Waits";

/**
 * Says in the window that changes have waited for long. The editor keeps such a message on the screen while its window
 * is not looked at; it gives extensions no notification of the desktop, and the Activity page sends one where its
 * surroundings let a page do that.
 */
export const reminders: Feature = ({ models }) =>
  models.reminders.onDidRemind(({ title, body }) => {
    void window.showInformationMessage(`${title}. ${body}`, show).then((answer) => {
      if (answer === show) return commands.executeCommand("lares.approvals.focus");
      return undefined;
    });
  });
