import { Type } from "typebox";
import { Agent, AgentCommand } from "../../base/vocabulary/agent.ts";
import { define } from "../define.ts";
import { Name } from "./fields.ts";

export const agentRequests = define({
  "lares/agents/list": { params: Type.Object({}), result: Type.Array(Agent) },
  /** A command that is illegal in the agent's state is IllegalTransition, naming the state. */
  "lares/agents/control": { params: Type.Object({ id: Name, command: AgentCommand }), result: Agent },
});
