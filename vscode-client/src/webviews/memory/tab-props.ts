import type { Host } from "../shared/host.ts";
import type { Kept } from "./kept.ts";
import type { MemoryContract } from "./messages.ts";

/** The props of every tab of the view. */
export interface TabProps {
  readonly host: Host<MemoryContract>;
  readonly kept: Kept;
  keep(changes: Partial<Kept>): void;
  /** The memory, as requests name it. */
  readonly whose: { readonly agent: string; readonly namespace?: string };
  /** The path of the workspace that owns the memory, if it is another one. */
  readonly workspace: string | undefined;
}
