import type { Caller } from "../../agents/ports.ts";
import type { Principal } from "../../base/vocabulary/principal.ts";
import type { ToolProgress } from "../../base/vocabulary/progress.ts";
import type { ToolResult } from "../../base/vocabulary/tool-result.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { toolCalls } from "../../protocol/guest/v1/tools.ts";
import { actionTold } from "./actions.ts";
import type { ActionsOfAgents, ToolCallOptions } from "./ports.ts";

export interface ToolPorts {
  readonly actions: ActionsOfAgents;
  callTool(
    agent: string,
    name: string,
    args: unknown,
    principal: Principal,
    options: ToolCallOptions,
  ): Promise<ToolResult>;
  /** Forwards the progress of an open tool call. Throws NotFound if there is no such call. */
  toolProgress(agent: string, call: string, progress: ToolProgress): void;
}

/** The guest ABI's `tools/*`. */
export function toolServices({
  actions,
  callTool,
  toolProgress,
}: ToolPorts): Pick<GuestServices<Caller>, keyof typeof toolCalls> {
  return {
    "tools/call": async (caller, call) => {
      const principal = caller.process ?? { kind: "agent", id: caller.agent, lineage: caller.lineage };
      const result = await callTool(call.agent, call.name, call.arguments, principal, {
        ...(call.key === undefined ? {} : { key: call.key }),
        ...(call.deadline_ms === undefined ? {} : { deadlineMs: call.deadline_ms }),
        ...(caller.deadline === undefined ? {} : { deadline: caller.deadline }),
        ...(caller.progress === undefined ? {} : { progress: caller.progress }),
        signal: caller.signal,
        hear: (foreign) => caller.hear(foreign),
      });
      if (result.status !== "needs_approval") return result;
      return { ...result, action: await actionTold(actions, caller, result.action.id) };
    },
    "tools/progress": async ({ agent }, { call_id: call, ...progress }) => {
      toolProgress(agent, call, progress);
      return {};
    },
  };
}
