import { Type, type TSchema } from "typebox";
import { AgentCommand } from "../../base/vocabulary/agent.ts";
import { actionRequests, EffectIndex } from "./actions.ts";
import type { CommandName } from "./capabilities.ts";
import { Name } from "./fields.ts";

/** What `workspace/executeCommand` takes, by the command: `arguments` holds one object of this form. */
export const commandArguments = {
  /** Answers the agent as `lares/agents/control` does. */
  "lares.agent.control": Type.Object({ id: Name, command: AgentCommand }),
  /** Shows the newest traces as `window/showMessage`; a client with a view of its own for them answers this itself. */
  "lares.agent.traces": Type.Object({ id: Name, hook: Type.Optional(Name) }),
  /** These three answer the action, as `lares/actions/approve`, `reject` and `undo` do. */
  "lares.action.approve": actionRequests["lares/actions/approve"].params,
  "lares.action.reject": actionRequests["lares/actions/reject"].params,
  "lares.action.undo": actionRequests["lares/actions/undo"].params,
  /**
   * Answers the action with its diffs, and shows them, or one effect's, as `window/showMessage`; a client with a
   * view of its own for them answers this itself.
   */
  "lares.action.show": Type.Object({ id: Name, effect: Type.Optional(EffectIndex) }),
} as const satisfies Record<CommandName, TSchema>;
