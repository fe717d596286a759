import type { AgentContext } from "@lares/sdk";
import type { Move } from "./links.ts";

export interface Memory {
  /** A note as it was when it was last remembered. */
  knowledge: { path: string; version: string };
  plan: {
    /** The last proposal of a heading for each note, the newest last. */
    asked: { path: string; action: string }[];
    /** Moves that no proposal repairs yet, as they came, and how many have come in all. */
    arrived?: Move[];
    count?: number;
    /** How often a job has begun to repair links. */
    begun?: number;
    /** The last proposal that repairs links, the moves that it is about, and whether it left out further notes. */
    repair?: string;
    moves?: Move[];
    isPartial?: boolean;
  };
}
export type Context = AgentContext<Memory>;

export function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
