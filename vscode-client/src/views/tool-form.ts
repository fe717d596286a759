import { commands, Disposable, env, ViewColumn, window, type Memento, type WebviewPanel } from "vscode";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext, Feature } from "../feature.ts";
import type { StatusModel } from "../model/ports.ts";
import { label, message } from "../model/text.ts";
import type { Tool, ToolResult } from "../protocol.ts";
import { keptOf } from "../webviews/tool-form/kept.ts";
import {
  maxArgumentsCharacters,
  maxEffects,
  maxResultCharacters,
  maxSchemaCharacters,
  toolFormContract,
  type Form,
  type Outcome,
} from "../webviews/tool-form/messages.ts";
import { commonAnswers, onCommonState } from "./common-state.ts";
import { openPage } from "./webview-host.ts";

/** As named in package.json among the activation events. */
const toolFormType = "lares.toolForm";

/** How long a form that was restored before its kernel waits for it. */
export const readyMs = 20_000;

type NamedTool = Pick<Tool, "agent" | "name">;

/**
 * `lares.runTool`: runs any agent's tool with a form built from its schema; one form per tool. Forms are restored with
 * their window.
 */
export const toolForms: Feature = (context) => {
  const shown = new Map<string, WebviewPanel>();
  const fill = (panel: WebviewPanel, tool: NamedTool): void => {
    const key = keyOf(tool);
    shown.set(key, panel);
    panel.onDidDispose(() => {
      if (shown.get(key) === panel) shown.delete(key);
    });
    fillForm(context, panel, tool);
  };
  return Disposable.from(
    commands.registerCommand("lares.runTool", async (argument?: unknown) => {
      await reporting("No tool can be run", async () => {
        const tool = await wantedTool(context, argument);
        if (tool === undefined) return;
        const before = shown.get(keyOf(tool));
        if (before !== undefined) return before.reveal();
        const panel = window.createWebviewPanel(
          toolFormType,
          label(tool.name, 40),
          ViewColumn.Active,
          // Only the page itself has a run's result; it is small, and the person may return to it.
          { retainContextWhenHidden: true },
        );
        fill(panel, tool);
      });
    }),
    window.registerWebviewPanelSerializer(toolFormType, {
      async deserializeWebviewPanel(panel: WebviewPanel, state: unknown) {
        const tool = keptOf(state);
        // The tool is unknown, so nothing could be run from this form.
        if (tool === undefined) return panel.dispose();
        panel.title = label(tool.name, 40);
        fill(panel, tool);
      },
    }),
  );
};

/** Returns the tool of a tree item, or the one that the person chooses. */
async function wantedTool({ kernel, models }: ClientContext, argument: unknown): Promise<Tool | undefined> {
  const { agent, tool } =
    typeof argument === "object" && argument !== null
      ? (argument as { readonly agent?: unknown; readonly tool?: unknown })
      : {};
  const tools = await kernel.request("lares/tools/list", typeof agent === "string" ? { agent } : {});
  const named = tools.find(({ name }) => name === tool);
  if (named !== undefined) return named;
  if (tools.length === 0) {
    void window.showInformationMessage("No agent that is loaded offers a tool.");
    return undefined;
  }
  const picks = tools.map((tool) => ({
    label: label(tool.name),
    description: label(models.agents.nameOf(tool.agent)),
    detail: message(tool.description, 200),
    tool,
  }));
  const options = {
    title: "Run Tool",
    placeHolder: "Which tool?",
    matchOnDescription: true,
    matchOnDetail: true,
  };
  return (await window.showQuickPick(picks, options))?.tool;
}

/**
 * Returns the current version of the tool. A form may be older than the kernel, which may not have loaded its agents
 * yet.
 */
async function toolNamed({ kernel, models }: ClientContext, { agent, name }: NamedTool): Promise<Tool> {
  const find = async (): Promise<Tool | undefined> => {
    const tools = await kernel.request("lares/tools/list", { agent });
    return tools.find((one) => one.name === name);
  };
  const wasReady = models.status.current?.ready === true;
  let tool = await find();
  if (tool === undefined && !wasReady && (await becomesReady(models.status))) tool = await find();
  if (tool === undefined)
    throw new Error(`${label(models.agents.nameOf(agent))} offers no tool “${label(name)}” now.`);
  return tool;
}

/** Waits at most `readyMs` for a starting kernel; returns false if it is not ready in time. */
async function becomesReady(status: StatusModel): Promise<boolean> {
  const isReady = (): boolean => status.current?.ready === true;
  if (isReady()) return true;
  return new Promise((resolve) => {
    const settle = (ready: boolean): void => {
      clearTimeout(timer);
      listening.dispose();
      resolve(ready);
    };
    const timer = setTimeout(() => settle(false), readyMs);
    const listening = status.onDidChange(() => {
      if (isReady()) settle(true);
    });
  });
}

function fillForm(context: ClientContext, panel: WebviewPanel, tool: NamedTool): void {
  const { extension, kernel, models } = context;
  /** Waiting actions that this form proposed; their outcome is shown in the form. */
  const waiting = new Set<string>();
  const channel = openPage(
    panel.webview,
    context,
    { name: "tool-form", title: "Run Tool" },
    toolFormContract,
    {
      ...commonAnswers(context),
      form: async () => formOf(await toolNamed(context, tool), lastArguments(extension.workspaceState, tool)),
      run: async ({ arguments: given }) => {
        await rememberArguments(extension.workspaceState, tool, given);
        const result = await kernel.request("lares/tools/call", {
          agent: tool.agent,
          name: tool.name,
          arguments: given,
        });
        if (result.status === "needs_approval") waiting.add(result.action.id);
        return outcomeOf(result);
      },
      showChanges: async ({ id }) => {
        await commands.executeCommand("lares.showChanges", { id });
        return {};
      },
      approve: async ({ id, digest }) => {
        await commands.executeCommand("lares.approve", { id, digest });
        return {};
      },
      copy: async ({ text }) => {
        await env.clipboard.writeText(text);
        return {};
      },
    },
  );
  const parts = Disposable.from(
    channel,
    onCommonState(context, (commonState) => channel.push("commonState", commonState)),
    models.actions.onDidChange(() => {
      for (const id of waiting) {
        const state = models.actions.get(id)?.state;
        if (state !== undefined) channel.push("settled", { id, state });
      }
    }),
  );
  panel.onDidDispose(() => parts.dispose());
}

export function formOf(tool: Tool, last: Record<string, unknown> | undefined): Form {
  const small = JSON.stringify(tool.parameters).length <= maxSchemaCharacters;
  return {
    agent: tool.agent,
    name: tool.name,
    description: tool.description.slice(0, 8_000),
    // Without a schema, the form is a single JSON field, which the kernel checks.
    parameters: small ? tool.parameters : { type: "unknown" },
    ...(last === undefined ? {} : { last }),
  };
}

export function outcomeOf(result: ToolResult): Outcome {
  switch (result.status) {
    case "success": {
      const json = JSON.stringify(result.value) ?? "";
      return json.length <= maxResultCharacters
        ? { status: "success", value: result.value }
        : { status: "success", value: json.slice(0, maxResultCharacters), cut: true };
    }
    case "error":
      return { status: "error", message: result.message.slice(0, 20_000), recoverable: result.recoverable };
    case "needs_approval": {
      const { id, digest, title, impact_score, effects } = result.action;
      return {
        status: "needs_approval",
        reason: result.reason.slice(0, 4_000),
        action: {
          id,
          digest,
          title: title.slice(0, 200),
          impact: impact_score,
          effects: effects.slice(0, maxEffects).map(({ summary }) => summary.slice(0, 400)),
          moreEffects: Math.max(0, effects.length - maxEffects),
        },
      };
    }
  }
}

const keyOf = ({ agent, name }: NamedTool): string => `lares.arguments:${agent}/${name}`;

function lastArguments(state: Memento, tool: NamedTool): Record<string, unknown> | undefined {
  const last = state.get<unknown>(keyOf(tool));
  return typeof last === "object" && last !== null && !Array.isArray(last) ? { ...last } : undefined;
}

async function rememberArguments(state: Memento, tool: NamedTool, given: unknown): Promise<void> {
  const small = (JSON.stringify(given) ?? "").length <= maxArgumentsCharacters;
  await state.update(keyOf(tool), small ? given : undefined);
}
