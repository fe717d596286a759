import { Type } from "typebox";
import { Agent, AgentCommand } from "../../base/vocabulary/agent.ts";
import { define } from "../define.ts";
import { AgentId } from "../../base/vocabulary/request-fields.ts";

export const agentRequests = define({
  "lares/agents/list": {
    about:
      "Returns all agents, in the order of the document. An extension whose manifest cannot be used is listed too, in the state `Error` with `problems`.",
    errors: {},
    params: Type.Object({}),
    result: Type.Array(Agent),
  },
  "lares/agents/control": {
    about:
      "Gives an agent a command and returns the agent once it has reached the state that the command leads to. While the agent starts or stops, a command that is not legal yet waits until that has ended.",
    errors: {
      NotFound: "There is no agent with this `id`.",
      IllegalTransition:
        "The command is not legal in the agent's state, which `data.state` names, or the hook has no suspended schedule.",
      InvalidParams: "The agent has no such hook, or the command is none for a hook.",
    },
    params: Type.Object({
      id: AgentId,
      command: AgentCommand,
      hook: Type.Optional(
        Type.Integer({
          minimum: 0,
          description: "With `resume`: the suspended schedule, by its place in `Agent.hooks`, from 0",
        }),
      ),
    }),
    result: Agent,
  },
});
