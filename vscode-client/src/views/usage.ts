import { commands, Disposable, ViewColumn, window, type WebviewPanel } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { usageContract } from "../webviews/usage/messages.ts";
import { lookAgain } from "./look-again.ts";
import { commonAnswers, onCommonState } from "./common-state.ts";
import { catalogOf, lastDays, usageOf } from "./usage-overview.ts";
import { openPage } from "./webview-host.ts";

/** As named in package.json among the activation events. */
const usagePanel = "lares.usage";

/** `lares.showUsage`: what language models used, and which there are, in an editor of its own. At most one is open. */
export const usage: Feature = (context) => {
  let open: WebviewPanel | null = null;
  const fill = (panel: WebviewPanel): void => {
    open = panel;
    panel.onDidDispose(() => {
      if (open === panel) open = null;
    });
    fillPage(context, panel);
  };
  return Disposable.from(
    commands.registerCommand("lares.showUsage", () => {
      if (open !== null) return open.reveal();
      fill(
        window.createWebviewPanel(usagePanel, "Language Models", ViewColumn.Active, {
          enableFindWidget: true,
        }),
      );
    }),
    window.registerWebviewPanelSerializer(usagePanel, {
      deserializeWebviewPanel: async (panel) => (open === null ? fill(panel) : panel.dispose()),
    }),
    { dispose: () => open?.dispose() },
  );
};

function fillPage(context: ClientContext, panel: WebviewPanel): void {
  const { kernel, models } = context;
  const channel = openPage(
    panel.webview,
    context,
    { name: "usage", title: "Language Models" },
    usageContract,
    {
      ...commonAnswers(context),
      usage: async ({ days }) => {
        const names = lastDays(days, Date.now());
        const since = `${names[0]}T00:00:00.000Z`;
        const by = async (group: "day" | "model" | "agent") =>
          (await kernel.request("lares/usage", { since, group_by: group })).groups;
        const [byDay, byModel, byAgent] = await Promise.all([by("day"), by("model"), by("agent")]);
        return usageOf(names, { byDay, byModel, byAgent });
      },
      catalog: async ({ refresh }) => catalogOf(await kernel.request("lares/models/list", { refresh })),
      test: async ({ model }) => {
        const { ok, first_token_ms: ms = 0, error } = await kernel.request("lares/models/test", { model });
        if (ok) return { ok, firstTokenMs: Math.round(ms) };
        return { ok, message: (error?.message ?? "The model did not answer.").slice(0, 1_000) };
      },
      storeSecret: async () => {
        await commands.executeCommand("lares.storeSecret");
        return {};
      },
    },
  );
  // The editor discards the page of a hidden panel, and the next one asks again.
  const changed = (): void => {
    if (panel.visible) channel.push("changed", {});
  };
  const parts = Disposable.from(
    channel,
    onCommonState(context, (commonState) => channel.push("commonState", commonState)),
    lookAgain([models.agents.onDidChange], changed),
  );
  panel.onDidDispose(() => parts.dispose());
}
