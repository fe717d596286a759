import { Type, type Static } from "typebox";
import { Action } from "../../base/vocabulary/action.ts";
import { Agent } from "../../base/vocabulary/agent.ts";
import { Hash } from "../../base/vocabulary/common.ts";
import { TraceEntry } from "../../base/vocabulary/trace.ts";
import { Subscription } from "./traces.ts";

export const Severity = Type.Union([Type.Literal("info"), Type.Literal("warning"), Type.Literal("error")]);

/** What the kernel tells its clients, by method. */
export const serverNotifications = {
  /** Its state is another, or it heard events; of many of these within a second, once. */
  "lares/agents/changed": Agent,
  /** Its jobs are others, or further on; `lares/jobs/list` tells them. At most once a second for each agent. */
  "lares/jobs/changed": Type.Object({ agent: Type.String() }),
  /** Effects without diff. */
  "lares/actions/changed": Action,
  /** A decision was made, revoked or edited; `lares/decisions/list` has them. Not sent when one is used. */
  "lares/decisions/changed": Type.Object({}),
  "lares/traces/entry": Type.Object({ subscription: Subscription, entry: TraceEntry }),
  "lares/notify": Type.Object({
    agent: Type.String(),
    title: Type.String(),
    message: Type.String(),
    severity: Severity,
    actions: Type.Optional(
      Type.Array(Type.Object({ title: Type.String(), actionId: Type.String(), digest: Hash })),
    ),
  }),
};
export type ServerNotification = keyof typeof serverNotifications;
export type NotificationParamsOf<Method extends ServerNotification> = Static<
  (typeof serverNotifications)[Method]
>;

/** Notifications that give way when a client does not read. */
export const droppableNotifications: ReadonlySet<string> = new Set<ServerNotification>([
  "lares/traces/entry",
]);
