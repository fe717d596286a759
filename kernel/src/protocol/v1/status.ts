import { Type, type Static } from "typebox";
import { Hash } from "../../base/vocabulary/common.ts";
import { define } from "../define.ts";

export const Status = Type.Object({
  version: Type.String({ description: "The kernel's version" }),
  pid: Type.Integer({ description: "The kernel's process id" }),
  ready: Type.Boolean({
    description:
      "Documents loaded, index complete, watcher running: a change after it is an event. A broken extension does not hold it back",
  }),
  workspace: Type.String({ description: "Absolute path" }),
  stateFolder: Type.String({ description: "Absolute path" }),
  trusted: Type.Boolean({ description: "Of this connection" }),
  trust: Type.Object({
    digest: Hash,
    asks: Type.Array(Type.String(), { description: "What would be accepted, one sentence each" }),
    pending: Type.Array(Type.String(), {
      description: "What of it was not accepted yet and does not count; empty where everything is",
    }),
    changedPrograms: Type.Array(Type.String(), {
      description:
        "Ids of accepted extensions whose changed program is all that waits; empty where anything else waits too",
    }),
  }),
  agents: Type.Integer({ minimum: 0 }),
  index: Type.Object({ entries: Type.Integer({ minimum: 0 }), complete: Type.Boolean() }),
  pendingActions: Type.Integer({ minimum: 0 }),
  idle: Type.Boolean({
    description: "Trusted, indexed and hashed, and no agent has anything in hand or waiting",
  }),
  totals: Type.Object(
    {
      events: Type.Integer({
        minimum: 0,
        description: "Events that agents' handlers answered, with success or an error",
      }),
      actions: Type.Integer({ minimum: 0, description: "Proposed" }),
      refusals: Type.Integer({ minimum: 0, description: "Host calls that policy refused" }),
    },
    { description: "Since this kernel started" },
  ),
});
export type Status = Static<typeof Status>;

export const statusRequests = define({
  "lares/status": { params: Type.Object({}), result: Status },
});
