import { Type, type Static } from "typebox";
import { Action } from "../../base/vocabulary/action.ts";
import { Tool } from "../../base/vocabulary/agent.ts";
import { define } from "../define.ts";
import { Name } from "./fields.ts";

export const ToolResult = Type.Union([
  Type.Object({ status: Type.Literal("success"), value: Type.Unknown() }),
  Type.Object({ status: Type.Literal("error"), message: Type.String(), recoverable: Type.Boolean() }),
  Type.Object({ status: Type.Literal("needs_approval"), action: Action, reason: Type.String() }),
]);
export type ToolResult = Static<typeof ToolResult>;

export const toolRequests = define({
  "lares/tools/list": { params: Type.Object({ agent: Type.Optional(Name) }), result: Type.Array(Tool) },
  "lares/tools/call": {
    params: Type.Object({
      agent: Name,
      name: Name,
      arguments: Type.Unknown({ description: "Checked against the tool's own schema" }),
    }),
    result: ToolResult,
  },
});
