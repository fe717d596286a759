import type { Principal } from "../base/vocabulary/principal.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";

/** A command as people are offered it. */
interface Command {
  readonly agent: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** JSON Schema of its arguments; absent: it takes none. */
  readonly parameters?: Record<string, unknown>;
}

/** The commands that agents offer. */
export interface CommandService {
  list(): Command[];
  /** PermissionDenied unless a person asks; NotFound, ToolError, AgentError. */
  run(by: Principal, agent: string, name: string, args: unknown, signal: AbortSignal): Promise<ToolResult>;
}
