import { Type } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";
import { AgentId, Named } from "../../base/vocabulary/request-fields.ts";
import { ToolResult } from "../../base/vocabulary/tool-result.ts";
import { define } from "../define.ts";

const Command = Type.Object(
  {
    agent: AgentId,
    name: Type.String({ description: "What people call it by" }),
    title: Type.String({ description: "Its title, in the extension's words" }),
    description: Type.String({ description: "What it does, in the extension's words" }),
    parameters: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: "JSON Schema of its arguments; default it takes none",
      }),
    ),
  },
  { ...closed, description: "Something that a person can have an agent do by its name" },
);

export const agentCommandRequests = define({
  "lares/commands/list": {
    about: "Returns the commands of all enabled agents.",
    errors: {},
    params: Type.Object({}),
    result: Type.Array(Command, { description: "The commands" }),
  },
  "lares/commands/run": {
    about:
      "Runs a command. One that is a text for a mind begins a conversation with it, and `value.conversation` of the result is its id; another one is a function of the program.",
    errors: {
      NotFound: "There is no such agent, or it has no command of this name.",
      ToolError: "The arguments do not fit the command's schema.",
      AgentError: "The agent cannot run.",
      PermissionDenied: "Only a person can do this.",
    },
    params: Type.Object({
      agent: AgentId,
      name: Named("The command's name"),
      arguments: Type.Optional(
        Type.Unknown({ description: "An object that fits the command's `parameters`; default none" }),
      ),
    }),
    result: ToolResult,
  },
});
