import { Type } from "typebox";
import { EffectInput, maxEffectsPerAction } from "../../../base/vocabulary/action.ts";
import { closed, Json, Severity } from "../../../base/vocabulary/common.ts";
import { TraceLevel } from "../../../base/vocabulary/trace.ts";
import { define, defineParams } from "../../define.ts";
import { CallKey, ToolResult } from "../../../base/vocabulary/tool-result.ts";

const Name = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });
const Nothing = Type.Unknown({ description: "Nothing of interest" });

const noJobs = "The agent has no `dispatch_jobs`.";
const notInJob =
  "The guest has no job in hand, or a person cancelled the one it has. `data.state` is `no job` or `Cancelled`.";

/** Jobs, other agents' tools, custom events, shared data. */
export const serviceCalls = define({
  "jobs/dispatch": {
    about:
      "Stores a job and returns its id; the kernel hands it back to this agent with `job`, after a restart too. While a job with the same `key` has not ended, its id is returned and nothing is stored. A job is tried again where its guest was lost, up to three times without a checkpoint in between, and not where it answered with an error.",
    errors: {
      PermissionDenied: noJobs,
      NotFound: "The program did not name such a job in its answer to `initialize`.",
      LimitExceeded:
        "`input` is over 256 KiB of JSON, or this agent's jobs that have not ended are 10,000 or have 64 MiB together.",
    },
    params: Type.Object(
      {
        name: Name("The job, one of those that the program named in its answer to `initialize`"),
        input: Json("What the job is given, any JSON of at most 256 KiB"),
        priority: Type.Optional(
          Type.Union([Type.Literal("low"), Type.Literal("normal"), Type.Literal("high")], {
            default: "normal",
            description: "Of the agent's jobs, the more urgent ones run first",
          }),
        ),
        when_idle: Type.Optional(
          Type.Boolean({ default: false, description: "Begins only when the workspace is quiet" }),
        ),
        key: Type.Optional(
          Name("Chosen by the agent, so that the same job is not dispatched twice; default none"),
        ),
      },
      closed,
    ),
    result: Type.Object({ id: Type.String({ description: "The job's id" }) }),
  },
  "jobs/progress": {
    about: "Says how far the job in hand is. Clients show it.",
    errors: { PermissionDenied: noJobs, IllegalTransition: notInJob },
    params: Type.Object(
      {
        fraction: Type.Number({ minimum: 0, maximum: 1, description: "How much of it is done" }),
        message: Type.Optional(
          Type.String({ maxLength: 1000, description: "What it does now, for a person" }),
        ),
      },
      closed,
    ),
    result: Nothing,
  },
  "jobs/checkpoint": {
    about:
      "Stores a checkpoint from which the current job continues later. The next guest receives it with `job`. The job's CPU budget restarts.",
    errors: {
      PermissionDenied: noJobs,
      IllegalTransition: notInJob,
      LimitExceeded: "`data` is over 256 KiB of JSON, or the agent's jobs have 64 MiB together.",
    },
    params: Type.Object({ data: Json("Any JSON of at most 256 KiB; it replaces the one before") }, closed),
    result: Nothing,
  },
  "tools/call": {
    about: "Calls a tool of another agent, or of this one, and returns its result.",
    errors: {
      PermissionDenied: "The agent has no `call_tools`, or it does not list the tool.",
      NotFound: "There is no such agent, or it has no tool of this name.",
      ToolError: "The arguments do not fit the tool's schema, or the tool's handler threw an error.",
      AgentError: "The other agent cannot run; `data.state` and `data.reason` say why.",
      LimitExceeded:
        "Too many tool calls are open, of this agent or of all; too many led to this one; or it would wait for itself.",
      InvalidParams:
        "The `key` was used for another call: of another tool, with other arguments, or on behalf of others.",
    },
    params: Type.Object(
      {
        agent: Name("The id of the agent that offers the tool"),
        name: Name("The tool's name"),
        arguments: Json("An object that fits the tool's `parameters`"),
        key: CallKey,
      },
      closed,
    ),
    result: ToolResult,
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
  "events/emit": {
    about:
      "Tells other agents of an event, `publisher.id/name` with this agent's id. It is delivered to agents that have a hook on it and list it under `hear_events`.",
    errors: {
      PermissionDenied: "The agent has no `emit_events`, or it does not list the event.",
      LimitExceeded: "`data` is over 65,536 characters of JSON.",
    },
    params: Type.Object(
      {
        name: Name("The event's name, without the publisher"),
        data: Json("An object, whose fields become the event's"),
      },
      closed,
    ),
    result: Nothing,
  },
  "shared/read": {
    about: "Returns the value that agents share by a key, or null where nothing was written.",
    errors: { PermissionDenied: "The agent has no `shared_data`, or its `read` does not list the key." },
    params: Type.Object({ key: Name("The key") }, closed),
    result: Type.Union([
      Type.Object({
        version: Type.Integer({ description: "How often it was written" }),
        value: Json("The value"),
      }),
      Type.Null(),
    ]),
  },
  "shared/write": {
    about: "Writes the value that agents share by a key.",
    errors: {
      PermissionDenied: "The agent has no `shared_data`, or its `write` does not list the key.",
      Conflict: "The key has another version, which `data.revision` names.",
      LimitExceeded: "The value is over 256 KiB of JSON, or this agent shares as much as it may.",
    },
    params: Type.Object(
      {
        key: Name("The key"),
        value: Json("The new value, any JSON of at most 256 KiB"),
        version: Type.Optional(
          Type.Integer({
            minimum: 0,
            description: "Writes only while the key has this version; 0: nothing was written. Default always",
          }),
        ),
      },
      closed,
    ),
    result: Type.Object({ version: Type.Integer({ description: "The new version" }) }),
  },
  notify: {
    about:
      "Shows a person a message, and with `action` proposes these changes along with it. At most 5 in a second. It may also be sent as a notification, without an id.",
    errors: {
      PermissionDenied: "The agent may not make one of the changes of `action`.",
      ScopeViolation: "A path of `action` leaves the workspace or lies in no granted location.",
      LimitExceeded: "There were more than 5 in this second.",
    },
    params: Type.Object(
      {
        title: Type.String({ minLength: 1, maxLength: 200, description: "The headline" }),
        message: Type.String({ maxLength: 4000, description: "The message, as plain text" }),
        severity: Severity,
        action: Type.Optional(
          Type.Array(EffectInput, {
            minItems: 1,
            maxItems: maxEffectsPerAction,
            description: "Changes that the person may approve from the message",
          }),
        ),
      },
      closed,
    ),
    result: Nothing,
  },
});

/** Guest → kernel without an answer. */
export const guestNotifications = defineParams({
  trace: {
    about:
      "Writes a line into the agent's traces, where `lares/traces/query` finds it. At most 200 in a second; a line says how many were dropped.",
    params: Type.Object(
      {
        level: TraceLevel,
        message: Type.String({ maxLength: 16_384, description: "What happened" }),
        fields: Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), { description: "More about it, by name" }),
        ),
      },
      closed,
    ),
  },
  cancel: {
    about:
      "Takes back a host call of this guest. It is answered all the same: what had not begun, and what only reads, waits or calls a tool, with `RequestCancelled`; what changes something is finished, and answered with its result. An id that no open call has means nothing, since the answer may be on its way.",
    params: Type.Object(
      {
        id: Type.Union([Type.String({ maxLength: 128 }), Type.Number()], {
          description: "The `id` of the call's message",
        }),
      },
      closed,
    ),
  },
});
