import type { AgentContext } from "@lares/sdk";
import type { Remembered } from "./memory.ts";

export interface Memory {
  plan: Remembered;
}

export type Context = AgentContext<Memory>;
