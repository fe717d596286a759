import { Type } from "typebox";
import { EffectInput, maxEffectsPerAction } from "../../../base/vocabulary/action.ts";
import { closed } from "../../../base/vocabulary/common.ts";
import { TraceLevel } from "../../../base/vocabulary/trace.ts";
import { define } from "../../define.ts";
import { ToolResult } from "../../v1/tools.ts";

const Name = Type.String({ minLength: 1, maxLength: 256 });
const Key = Type.String({ minLength: 1, maxLength: 256 });

/** Jobs, other agents' tools, custom events, shared data. */
export const serviceCalls = define({
  "jobs/dispatch": {
    params: Type.Object(
      {
        name: Name,
        input: Type.Unknown(),
        priority: Type.Optional(
          Type.Union([Type.Literal("low"), Type.Literal("normal"), Type.Literal("high")], {
            default: "normal",
          }),
        ),
        when_idle: Type.Optional(Type.Boolean({ default: false })),
        key: Type.Optional(Key),
      },
      closed,
    ),
    result: Type.Object({ id: Type.String() }),
  },
  "jobs/progress": {
    params: Type.Object(
      {
        fraction: Type.Number({ minimum: 0, maximum: 1 }),
        message: Type.Optional(Type.String({ maxLength: 1000 })),
      },
      closed,
    ),
    result: Type.Unknown(),
  },
  "jobs/checkpoint": { params: Type.Object({ data: Type.Unknown() }, closed), result: Type.Unknown() },
  "tools/call": {
    params: Type.Object({ agent: Name, name: Name, arguments: Type.Unknown() }, closed),
    result: ToolResult,
  },
  "events/emit": {
    params: Type.Object({ name: Name, data: Type.Unknown() }, closed),
    result: Type.Unknown(),
  },
  "shared/read": {
    params: Type.Object({ key: Key }, closed),
    result: Type.Union([Type.Object({ version: Type.Integer(), value: Type.Unknown() }), Type.Null()]),
  },
  "shared/write": {
    params: Type.Object(
      {
        key: Key,
        value: Type.Unknown(),
        version: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: "Counts only while the key has this version, else Conflict; 0: nothing was written",
          }),
        ),
      },
      closed,
    ),
    result: Type.Object({ version: Type.Integer({ description: "Of what was written" }) }),
  },
  notify: {
    params: Type.Object(
      {
        title: Type.String({ minLength: 1, maxLength: 200 }),
        message: Type.String({ maxLength: 4000 }),
        severity: Type.Union([Type.Literal("info"), Type.Literal("warning"), Type.Literal("error")]),
        action: Type.Optional(Type.Array(EffectInput, { minItems: 1, maxItems: maxEffectsPerAction })),
      },
      closed,
    ),
    result: Type.Unknown(),
  },
});

/** Guest → kernel without an answer. */
export const guestNotifications = {
  /** Rate-limited, with a count of what was dropped. */
  trace: Type.Object(
    {
      level: TraceLevel,
      message: Type.String({ maxLength: 16_384 }),
      fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    },
    closed,
  ),
};
