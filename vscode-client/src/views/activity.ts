import { commands, Disposable, Range, Uri, window } from "vscode";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { isToShow } from "../model/notification-level.ts";
import { label, message } from "../model/text.ts";
import type { Action } from "../protocol.ts";
import {
  activityContract,
  maxActions,
  type ActivityContract,
  type Overview,
} from "../webviews/activity/messages.ts";
import { overviewOf } from "./activity-overview.ts";
import type { PageChannel } from "./page-channel.ts";
import { lookAgain } from "./look-again.ts";
import { commonAnswers, openPath } from "./common-state.ts";
import { registerView } from "./webview-host.ts";

/** The number of errors that are considered, newest first. */
const maxErrors = 1_000;

/** The sidebar's Activity view, and `lares.showActivity`. */
export const activity: Feature = (context) => {
  const { kernel, models } = context;
  let seen: PageChannel<ActivityContract> | undefined;
  const run = async (id: string, ...values: readonly unknown[]) => {
    await commands.executeCommand(id, ...values);
    return {};
  };
  const view = registerView(context, {
    id: "lares.activity",
    name: "activity",
    title: "Lares Activity",
    contract: activityContract,
    answers: {
      ...commonAnswers(context),
      overview,
      showChanges: ({ id }) => run("lares.showChanges", id),
      openFile: async ({ id, file }) => {
        await reporting("The file cannot be opened", async () => openFile(await actionOf(context, id), file));
        return {};
      },
      openRule: async ({ id }) => {
        await reporting("The rule cannot be opened", async () => openRule(await actionOf(context, id)));
        return {};
      },
      undo: ({ id }) => run("lares.undo", { id }),
      showProblem: ({ agent }) => run("lares.agentShowProblem", { id: agent }),
      resume: ({ agent }) => run("lares.agentResume", { id: agent }),
      showTraces: ({ agent }) => run("lares.showTraces", agent),
      showApprovals: () => run("lares.approvals.focus"),
    },
    whileSeen: ({ channel }) => {
      seen = channel;
      const { agents, actions, status, jobs } = models;
      return Disposable.from(
        lookAgain([agents.onDidChange, actions.onDidChange, status.onDidChange, jobs.onDidChange], () =>
          channel.push("changed", {}),
        ),
        { dispose: () => void (seen = undefined) },
      );
    },
  });
  return Disposable.from(
    view,
    commands.registerCommand("lares.showActivity", () => commands.executeCommand("lares.activity.focus")),
    models.reminders.onDidRemind(({ title, body }) => {
      if (!window.state.focused) seen?.push("remind", { title, body });
    }),
    // Only a page can use the notifications of the desktop.
    kernel.on("lares/notify", ({ agent, title, message: words, severity }) => {
      if (severity === "info" || !isToShow(severity) || window.state.focused) return;
      const name = label(models.agents.nameOf(agent), 80);
      seen?.push("remind", { title: `${name}: ${message(title, 100)}`, body: message(words, 400) });
    }),
  );

  async function overview(): Promise<Overview> {
    const [agents, actions, errors] = await Promise.all([
      kernel.request("lares/agents/list", {}),
      kernel.request("lares/actions/list", { limit: maxActions }),
      kernel.request("lares/traces/query", { level: "error", limit: maxErrors }),
    ]);
    return overviewOf({
      actions,
      agents: agents.toSorted((one, other) => one.name.localeCompare(other.name)),
      jobsOf: (agent) => models.jobs.of(agent),
      errors,
      now: Date.now(),
    });
  }
};

async function actionOf({ kernel, models }: ClientContext, id: string): Promise<Action> {
  return models.actions.get(id) ?? (await kernel.request("lares/actions/get", { id }));
}

async function openFile({ effects }: Action, index: number): Promise<void> {
  const effect = effects[index];
  if (effect === undefined) throw new Error(`The change has no file number ${index + 1}.`);
  await openPath(effect.path);
}

async function openRule({ rule }: Action): Promise<void> {
  if (rule?.place === undefined) throw new Error("It is a setting that is in no document.");
  const line = rule.place.line - 1;
  await window.showTextDocument(Uri.file(rule.place.path), { selection: new Range(line, 0, line, 0) });
}
