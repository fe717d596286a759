export { defineAgent, type AgentDefinition } from "./agent.ts";
export { isLaresError, LaresError, type ErrorCode } from "./errors.ts";
export { serveAgent } from "./guest/serve.ts";
export type {
  Action,
  ActionPlan,
  ActionState,
  Effect,
  EffectInput,
  EffectKind,
  ProposalOptions,
  Reasons,
} from "./types/action.ts";
export type {
  ActionContext,
  Actions,
  AgentContext,
  Fields,
  JobContext,
  TaskContext,
  TaskOptions,
  NeedsApproval,
  Severity,
  ToolCallOptions,
  ToolContext,
  Trace,
  Thumbnail,
  ThumbnailOptions,
  Vdfs,
} from "./types/context.ts";
export type { AgentHealth } from "./types/agents.ts";
export type { CallOptions } from "./types/call.ts";
export type { Entry, EntryKind, EntryPage, EntryQuery, Hash, Media } from "./types/entry.ts";
export type {
  ActionEnded,
  EntryCreated,
  EntryDeleted,
  EntryModified,
  EntryMoved,
  HookEvent,
  IndexComplete,
  PermissionChanged,
  ScheduleFired,
  TagAdded,
  TagRemoved,
} from "./types/event.ts";
export type { EventBase } from "./types/event-base.ts";
export type {
  AfterToolCall,
  BeforeAction,
  BeforeCompact,
  BeforeToolCall,
  Context,
  ContextMessage,
  ContextPart,
  InterceptAnswer,
  MessageEnd,
  MindEvent,
  UserInput,
} from "./types/intercept.ts";
export type {
  AgentMemory,
  Embedding,
  History,
  HistoryItem,
  HistoryQuery,
  Knowledge,
  KnowledgeAddOptions,
  KnowledgeItem,
  KnowledgeOptions,
  KnowledgeQuery,
  MemoryShape,
  Operator,
  Place,
  Plan,
  Position,
  Relation,
  SearchHit,
  SearchHits,
  SearchMode,
  When,
} from "./types/memory.ts";
export type {
  Ai,
  AiAnswer,
  Embeddings,
  AiMessage,
  AiRequest,
  AiUsage,
  Credentials,
  FetchAnswer,
  FetchInit,
} from "./types/outside.ts";
export type {
  InferAnswer,
  InferRequest,
  OwnModel,
  Tensor,
  TensorInput,
  TensorType,
  TensorValues,
} from "./types/infer.ts";
export type { SharedValue, SharedValueQuery, SharedValues, ValueCondition } from "./types/shared-types.ts";
export type { Permissions } from "./types/permissions.ts";
export { VectorSet, type VectorLike, type VectorMatch, type VectorSetOptions } from "./vectors/vector-set.ts";
