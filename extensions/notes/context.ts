import type { AgentContext } from "@lares/sdk";
import type { Move } from "./links.ts";

export interface Memory {
  /** A note as it was when it was last remembered. */
  knowledge: { path: string; version: string };
  plan: {
    /** The last proposal of a heading for each note, the newest last. */
    asked: { path: string; action: string }[];
    /** Moves whose links are not repaired yet, the newest last, and the proposal to repair them. */
    moves?: Move[];
    repair?: string;
  };
}
export type Context = AgentContext<Memory>;

export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
