import { commands, Disposable } from "vscode";
import { agentArgument } from "../deciding/arguments.ts";
import type { Feature } from "../feature.ts";
import { tracesContract } from "../webviews/traces/messages.ts";
import { TracePage } from "./trace-page.ts";
import { registerView } from "./webview-host.ts";

/**
 * The list of traces in the panel, and `lares.showTraces`, which opens it (with an agent's id, filtered by that agent).
 */
export const traces: Feature = (context) => {
  const page = new TracePage(context);
  const view = registerView(context, {
    id: "lares.traces",
    name: "traces",
    title: "Lares Traces",
    contract: tracesContract,
    answers: page.answers,
    whileSeen: ({ channel }) => page.show(channel),
  });
  const show = commands.registerCommand("lares.showTraces", async (agent?: unknown) => {
    const id = agentArgument(agent);
    await commands.executeCommand("lares.traces.focus");
    if (id !== undefined) page.focus.set(id);
  });
  return Disposable.from(view, show, page);
};
