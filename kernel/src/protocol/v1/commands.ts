import { Type, type TSchema } from "typebox";
import { AgentCommand } from "../../base/vocabulary/agent.ts";
import type { CommandName } from "./capabilities.ts";
import { Name } from "./fields.ts";

/** What `workspace/executeCommand` takes, by the command: `arguments` holds one object of this form. */
export const commandArguments = {
  /** Answers the agent as `lares/agents/control` does. */
  "lares.agent.control": Type.Object({ id: Name, command: AgentCommand }),
  /** Shows the newest traces as `window/showMessage`; a client with a view of its own for them answers this itself. */
  "lares.agent.traces": Type.Object({ id: Name, hook: Type.Optional(Name) }),
} as const satisfies Record<CommandName, TSchema>;
