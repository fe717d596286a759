import { Type } from "typebox";
import { closed, Json } from "../../../base/vocabulary/common.ts";
import { CallDeadline, CallKey, AgentToolResult } from "../../../base/vocabulary/tool-result.ts";
import { define } from "../../define.ts";
import { Name, Nothing } from "./fields.ts";

/** Tools of other agents, and how far a call that this guest answers is. */
export const toolCalls = define({
  "tools/call": {
    about: "Calls a tool of another agent, or of this one, and returns its result.",
    errors: {
      PermissionDenied: "The agent has no `call_tools`, or it does not list the tool.",
      NotFound: "There is no such agent, or it has no tool of this name.",
      ToolError: "The arguments do not fit the tool's schema, or the tool's handler threw an error.",
      AgentError: "The other agent cannot run; `data.state` and `data.reason` say why.",
      LimitExceeded:
        "Too many tool calls are open, of this agent or of all; too many led to this one; or it would wait for itself.",
      DeadlineExceeded:
        "It was not answered within `deadline_ms`, or before the deadline of the call that this is made for. Its handler is told to end.",
      InvalidParams:
        "The `key` was used for another call: of another tool, with other arguments, or on behalf of others.",
    },
    params: Type.Object(
      {
        agent: Name("The id of the agent that offers the tool"),
        name: Name("The tool's name"),
        arguments: Json("An object that fits the tool's `parameters`"),
        key: CallKey,
        deadline_ms: CallDeadline,
      },
      closed,
    ),
    result: AgentToolResult,
  },
  "tools/progress": {
    about:
      "Says how far a tool's call is that this guest answers. Whoever called is shown it, where they asked for it; in between reports the last one counts.",
    errors: { NotFound: "The guest has no such call open." },
    params: Type.Object(
      {
        call_id: Name("The `call_id` of the tool's call"),
        fraction: Type.Number({ minimum: 0, maximum: 1, description: "How much of it is done" }),
        message: Type.Optional(
          Type.String({ maxLength: 1000, description: "What it does now, for a person" }),
        ),
      },
      closed,
    ),
    result: Nothing,
  },
});
