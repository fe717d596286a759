import { Type } from "typebox";
import { Tool } from "../../base/vocabulary/agent.ts";
import { CallDeadline, CallKey, ToolResult } from "../../base/vocabulary/tool-result.ts";
import { define } from "../define.ts";
import { AgentId, Named, OfAgent } from "../../base/vocabulary/request-fields.ts";

export const toolRequests = define({
  "lares/tools/list": {
    about:
      "Returns the tools that agents offer. An agent without tools, or an unknown one, has an empty list.",
    errors: {},
    params: Type.Object({ agent: OfAgent }),
    result: Type.Array(Tool),
  },
  "lares/tools/call": {
    about:
      "Calls a tool on behalf of a person and returns its result. The arguments are checked against the tool's own JSON Schema first. An agent that is not loaded is started. A cancelled request is answered with `-32800` at once, and the handler is told to end; one that does not continues within its limits.",
    errors: {
      NotFound: "There is no such agent, or it has no tool of this name.",
      ToolError: "The arguments do not fit the tool's schema, or the tool's handler threw an error.",
      AgentError:
        "The agent cannot run: it is in the state that `data.state` names, for `data.reason`; or its program ended before it answered.",
      LimitExceeded: "Too many tool calls are open. Call again when some have ended.",
      DeadlineExceeded: "It was not answered within `deadline_ms`. Its handler is told to end.",
      InvalidParams: "The `key` was used for another call: of another tool, or with other arguments.",
    },
    params: Type.Object({
      agent: AgentId,
      name: Named("The tool's name"),
      arguments: Type.Unknown({ description: "An object that fits the tool's `parameters`" }),
      key: CallKey,
      deadline_ms: CallDeadline,
      workDoneToken: Type.Optional(
        Type.Union([Type.String({ minLength: 1, maxLength: 256 }), Type.Integer()], {
          description:
            "As in the LSP: `$/progress` with this token shows how far the handler says it is. A handler that says nothing shows nothing",
        }),
      ),
    }),
    result: ToolResult,
  },
});
