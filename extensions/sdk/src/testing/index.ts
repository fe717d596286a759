export { mockContext, type MockContext, type MockOptions } from "./mock-context.ts";
export type { Recorded } from "./mock-kernel.ts";
export type { MockEntry } from "./mock-workspace.ts";
