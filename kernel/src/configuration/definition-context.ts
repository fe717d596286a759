import type { Clock } from "../base/clock.ts";
import type { RequestedNamespace } from "../decisions/namespaces.ts";

export interface DefinitionContext {
  readonly clock: Clock;
  /** Returns the workspace's paths of a file or folder; none if it lies outside. */
  readonly workspacePaths: (absolute: string) => readonly string[];
  /** The shared memories in force. */
  readonly namespaces: readonly RequestedNamespace[];
  /** Paths that no agent may read or change. */
  readonly forbiddenPaths: readonly string[];
  /** Paths whose changes always need approval, besides the extensions' own folders. */
  readonly protectedPaths: readonly string[];
}
