/**
 * The messages between the kernel and this client besides the LSP: derived from the kernel's own schemas, as types
 * only, so that nothing of the kernel is bundled and nothing is defined twice.
 */
import type { ClientRequest, ParamsOf, ResultOf } from "../../kernel/src/protocol/v1/requests.ts";
import type { NotificationParamsOf, ServerNotification } from "../../kernel/src/protocol/v1/notifications.ts";

export type { ClientRequest, NotificationParamsOf, ParamsOf, ResultOf, ServerNotification };
export type {
  GeneratedPart,
  GenerateParams,
  GenerateResult,
  OfferedResult,
} from "../../kernel/src/protocol/v1/kernel-requests.ts";
export type { Action, ActionState, Effect } from "../../kernel/src/base/vocabulary/action.ts";
export type { Ask } from "../../kernel/src/base/vocabulary/ask.ts";
export type { AgentNotification } from "../../kernel/src/base/vocabulary/notification.ts";
export type { Place } from "../../kernel/src/base/vocabulary/common.ts";
export type { Agent, AgentCommand, AgentState, Tool } from "../../kernel/src/base/vocabulary/agent.ts";
export type { Job } from "../../kernel/src/base/vocabulary/job.ts";
export type { TraceEntry } from "../../kernel/src/base/vocabulary/trace.ts";
export type { Status } from "../../kernel/src/base/vocabulary/status.ts";
export type { ToolResult } from "../../kernel/src/base/vocabulary/tool-result.ts";
export type { MemoryStats, SharedMemory } from "../../kernel/src/base/vocabulary/memory-reports.ts";
export type { Conversation, Entry, Part, Process } from "../../kernel/src/base/vocabulary/conversation.ts";
export type { Delta } from "../../kernel/src/base/vocabulary/conversation-requests.ts";
