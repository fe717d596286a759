import type { ParamsIn, ResultIn } from "../define.ts";
import { actionRequests } from "./actions.ts";
import { agentRequests } from "./agents.ts";
import { agentCommandRequests } from "./agent-commands.ts";
import { askRequests } from "./asks.ts";
import { conversationRequests } from "./conversations.ts";
import { decisionRequests } from "./decisions.ts";
import { entryRequests } from "./entries.ts";
import { jobRequests } from "./jobs.ts";
import { notificationRequests } from "./kept-notifications.ts";
import { memoryRequests } from "./memory.ts";
import { modelRequests } from "./models.ts";
import { secretRequests } from "./secrets.ts";
import { statusRequests } from "./status.ts";
import { toolRequests } from "./tools.ts";
import { traceRequests } from "./traces.ts";
import { trustRequests } from "./trust.ts";
import { typeRequests } from "./types.ts";
import { usageRequests } from "./usage.ts";

/** Every Lares request that a client may send, version 1. */
export const clientRequests = {
  ...statusRequests,
  ...trustRequests,
  ...agentRequests,
  ...traceRequests,
  ...actionRequests,
  ...askRequests,
  ...decisionRequests,
  ...toolRequests,
  ...jobRequests,
  ...notificationRequests,
  ...entryRequests,
  ...memoryRequests,
  ...modelRequests,
  ...usageRequests,
  ...secretRequests,
  ...conversationRequests,
  ...agentCommandRequests,
  ...typeRequests,
};

export type ClientRequest = keyof typeof clientRequests;
export type ParamsOf<Method extends ClientRequest> = ParamsIn<typeof clientRequests, Method>;
export type ResultOf<Method extends ClientRequest> = ResultIn<typeof clientRequests, Method>;

export function isClientRequest(method: string): method is ClientRequest {
  return Object.hasOwn(clientRequests, method);
}
