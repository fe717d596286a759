import { commands, Disposable } from "vscode";
import { reporting } from "../deciding/explain.ts";
import type { ClientContext } from "../feature.ts";
import type { KernelState } from "../kernel/kernel.ts";
import { label } from "../model/text.ts";
import { exists, uriOf } from "../model/uris.ts";
import {
  maxAgents,
  type KernelSummary,
  type NoticeCommand,
  type CommonState,
} from "../webviews/shared/common-state.ts";

/** Returns the state of the kernel and the agents, as every view gets it. */
function commonStateOf({ kernel, models }: Pick<ClientContext, "kernel" | "models">): CommonState {
  return {
    kernel: kernelSummary(kernel.state),
    agents: models.agents.all.slice(0, maxAgents).map(({ id, state }) => ({
      id: id.slice(0, 256),
      name: models.agents.nameOf(id).slice(0, 256),
      state,
    })),
  };
}

function kernelSummary(state: KernelState): KernelSummary {
  switch (state.kind) {
    case "starting":
    case "running":
      return { kind: state.kind };
    case "untrusted":
      return { kind: "untrusted", by: state.by };
    case "silent":
    case "restarting":
    case "failed":
      return { kind: state.kind, reason: state.reason.slice(0, 2_000) };
  }
}

/** Calls `changed` when the result of `commonStateOf` has changed, not when only figures did. */
export function onCommonState(
  context: Pick<ClientContext, "kernel" | "models">,
  changed: (commonState: CommonState) => void,
): Disposable {
  let known = JSON.stringify(commonStateOf(context));
  const look = (): void => {
    const commonState = commonStateOf(context);
    const now = JSON.stringify(commonState);
    if (now === known) return;
    known = now;
    changed(commonState);
  };
  return Disposable.from(context.kernel.onDidChangeState(look), context.models.agents.onDidChange(look));
}

const editorCommands = {
  manageTrust: "workbench.trust.manage",
  reviewAsks: "lares.trustWorkspace",
  restartKernel: "lares.restartKernel",
  showKernelLog: "lares.showKernelLog",
} as const satisfies Record<NoticeCommand, string>;

/** Opens a file of the workspace by its kernel path. Throws if it lies outside, or does not exist. */
export async function openPath(path: string): Promise<void> {
  const uri = uriOf(path);
  if (uri === undefined) throw new Error("It is not in this workspace.");
  if (!(await exists(uri))) throw new Error(`${label(path, 200)} is not there any more.`);
  await commands.executeCommand("vscode.open", uri);
}

/** Returns the handlers of the requests that every view may make. */
export function commonAnswers(context: ClientContext) {
  return {
    commonState: async () => commonStateOf(context),
    command: async ({ command }: { readonly command: NoticeCommand }) => {
      await commands.executeCommand(editorCommands[command]);
      return {};
    },
    openPath: async ({ path }: { readonly path: string }) => {
      await reporting("The file cannot be opened", () => openPath(path));
      return {};
    },
  };
}
