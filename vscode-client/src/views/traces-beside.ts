import { commands, Disposable, Uri, ViewColumn, window, type WebviewPanel } from "vscode";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { agentOfFile } from "../model/agent-files.ts";
import { label } from "../model/text.ts";
import { keptOf } from "../webviews/traces/kept.ts";
import { tracesContract } from "../webviews/traces/messages.ts";
import { onCommonState } from "./common-state.ts";
import { TracePage } from "./trace-page.ts";
import { openPage } from "./webview-host.ts";

/** As named in package.json among the activation events. */
const panelType = "lares.tracesBeside";
/** Set if the active editor shows a file of an agent. */
const fileContext = "lares.isAgentFile";
const where = { viewColumn: ViewColumn.Beside, preserveFocus: true };

interface Beside {
  readonly panel: WebviewPanel;
  readonly page: TracePage;
}

/**
 * `lares.tracesBeside`: the live traces of an agent in a column beside its program or manifest. At most one is open, and
 * shows the agent of the file that it was asked for last.
 */
export const tracesBeside: Feature = (context) => {
  let open: Beside | null = null;
  const fill = (panel: WebviewPanel): Beside => {
    const beside = { panel, page: fillPanel(context, panel) };
    open = beside;
    panel.onDidDispose(() => {
      if (open === beside) open = null;
    });
    return beside;
  };
  const show = async (argument: unknown): Promise<void> => {
    const uri = argument instanceof Uri ? argument : window.activeTextEditor?.document.uri;
    const agent = uri === undefined ? undefined : await agentOfFile(uri);
    if (agent === undefined || context.models.agents.get(agent) === undefined)
      throw new Error("This file belongs to no agent of the workspace. Open its program or manifest first.");
    const title = titleOf(context, agent);
    open?.panel.reveal(undefined, true);
    const beside = open ?? fill(window.createWebviewPanel(panelType, title, where));
    beside.panel.title = title;
    beside.page.focus.set(agent);
  };

  // The manifest is read for the last file only, however fast the editors change.
  let looks = 0;
  const look = async (): Promise<void> => {
    const turn = ++looks;
    const uri = window.activeTextEditor?.document.uri;
    const agent = uri === undefined ? undefined : await agentOfFile(uri).catch(() => undefined);
    if (turn !== looks) return;
    const isAgentFile = agent !== undefined && context.models.agents.get(agent) !== undefined;
    void commands.executeCommand("setContext", fileContext, isAgentFile);
  };
  // Agents change with each event; only a new or removed one changes whose file it is.
  const idsOf = (): string => context.models.agents.all.map(({ id }) => id).join("\n");
  let ids = idsOf();
  const agentsChanged = (): void => {
    const now = idsOf();
    if (now === ids) return;
    ids = now;
    void look();
  };
  void look();
  return Disposable.from(
    commands.registerCommand("lares.tracesBeside", (argument?: unknown) =>
      reporting("The traces cannot be shown", () => show(argument)),
    ),
    window.registerWebviewPanelSerializer(panelType, {
      async deserializeWebviewPanel(panel: WebviewPanel, state: unknown) {
        const { agent } = keptOf(state);
        // Without an agent it would be the view of all traces.
        if (agent === undefined || open !== null) return panel.dispose();
        panel.title = titleOf(context, agent);
        fill(panel);
      },
    }),
    window.onDidChangeActiveTextEditor(() => void look()),
    context.models.agents.onDidChange(agentsChanged),
    {
      dispose: () => {
        looks += 1;
        open?.panel.dispose();
        void commands.executeCommand("setContext", fileContext, undefined);
      },
    },
  );
};

function titleOf({ models }: ClientContext, agent: string): string {
  return `Traces: ${label(models.agents.nameOf(agent), 40)}`;
}

function fillPanel(context: ClientContext, panel: WebviewPanel): TracePage {
  const page = new TracePage(context, columnOf);
  const channel = openPage(
    panel.webview,
    context,
    { name: "traces", title: "Traces" },
    tracesContract,
    page.answers,
  );
  // The editor discards the page of a hidden panel; a visible one follows again.
  let shown: Disposable | undefined;
  const look = (): void => {
    if (panel.visible) shown ??= page.show(channel);
    else {
      shown?.dispose();
      shown = undefined;
    }
  };
  look();
  const parts = Disposable.from(
    channel,
    page,
    panel.onDidChangeViewState(look),
    onCommonState(context, (commonState) => channel.push("commonState", commonState)),
  );
  panel.onDidDispose(() => {
    shown?.dispose();
    parts.dispose();
  });
  return page;
}

/** The column that shows the file already; otherwise the first, so that the traces stay where they are. */
function columnOf(uri: Uri): ViewColumn {
  const shown = window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
  return shown?.viewColumn ?? ViewColumn.One;
}
