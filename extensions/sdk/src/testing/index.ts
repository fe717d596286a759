import { provideVectorEngine } from "../vectors/engine.ts";
import { makeVectorModule } from "./vector-module.ts";

export { mockContext, type MockContext, type MockOptions } from "./mock-context.ts";
export type { MockType } from "./mock-type.ts";
export type { Recorded } from "./recorded.ts";
export type { MockEntry } from "./mock-workspace.ts";
export type { Grants } from "./kernel-place.ts";
export type {
  ActionQuery,
  AgentMetrics,
  AgentState,
  AgentStatus,
  Approval,
  KernelStatus,
  TraceEntry,
  TraceLevel,
  TraceQuery,
} from "./kernel-types.ts";
export { runAction } from "./run-action.ts";
export { runInKernel, type KernelOptions } from "./run-in-kernel.ts";
export type { RunningKernel, WaitOptions } from "./running-kernel.ts";

// In tests no index is linked into the program.
provideVectorEngine(makeVectorModule);
