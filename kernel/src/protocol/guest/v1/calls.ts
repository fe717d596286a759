import { Type, type Static, type TSchema } from "typebox";
import type { DeepReadonly } from "../../../base/deep-readonly.ts";
import type { ParamsIn, ResultIn } from "../../define.ts";
import { actionCalls } from "./actions.ts";
import { agentCalls } from "./agents.ts";
import { blobCalls } from "./blobs.ts";
import { eventCalls } from "./events.ts";
import { jobCalls } from "./jobs.ts";
import { inferCalls } from "./infer.ts";
import { guestRequests } from "./lifecycle.ts";
import { memoryCalls } from "./memory.ts";
import { guestNotifications } from "./notifications.ts";
import { notifyCalls } from "./notify.ts";
import { outsideCalls } from "./outside.ts";
import { sharedCalls } from "./shared.ts";
import { toolCalls } from "./tools.ts";
import { typeCalls } from "./types.ts";
import { vdfsCalls } from "./vdfs.ts";

/** Every host call, ABI version 1. Params are closed: an unknown field is an error. */
export const guestCalls = {
  ...vdfsCalls,
  ...memoryCalls,
  ...actionCalls,
  ...jobCalls,
  ...agentCalls,
  ...toolCalls,
  ...eventCalls,
  ...sharedCalls,
  ...typeCalls,
  ...notifyCalls,
  ...outsideCalls,
  ...inferCalls,
  ...blobCalls,
};

export type GuestCall = keyof typeof guestCalls;
export type GuestCallParams<Method extends GuestCall> = ParamsIn<typeof guestCalls, Method>;
export type GuestCallResult<Method extends GuestCall> = ResultIn<typeof guestCalls, Method>;

export type GuestRequest = keyof typeof guestRequests;

/** What a guest answers, except `ping`, which its runtime does. */
export type GuestAnswers = {
  readonly [Method in Exclude<GuestRequest, "ping">]: (
    params: ParamsIn<typeof guestRequests, Method>,
  ) => ResultIn<typeof guestRequests, Method> | Promise<ResultIn<typeof guestRequests, Method>>;
};

/** The calls that a service answers; the connection itself handles `cancel`. */
type GuestNotification = Exclude<keyof typeof guestNotifications, "cancel">;
type GuestNotificationParams<Method extends GuestNotification> = Static<
  (typeof guestNotifications)[Method]["params"]
>;

/** A field of every call, in addition to its own. */
export const OnBehalf = Type.Union([Type.String({ minLength: 1, maxLength: 128 }), Type.Null()], {
  description:
    "The call_id of the tool's call, or the id of the job, that it answers: what is decided is what the agent and everybody on the way of that call may do. After its answer, the work in hand counts too. null: it answers none. Without it, it counts for every call that is open, also one that the guest has not read yet",
});

/** Every message of a guest, with or without an answer. */
export type GuestMethod = GuestCall | GuestNotification;
export type GuestMethodParams<Method extends GuestMethod> = Method extends GuestCall
  ? GuestCallParams<Method>
  : Method extends GuestNotification
    ? GuestNotificationParams<Method>
    : never;
type GuestMethodResult<Method extends GuestMethod> = Method extends GuestCall
  ? GuestCallResult<Method>
  : void;

/** The schema of each message's params. */
export const guestMethods: { readonly [Method in GuestMethod]: TSchema } = {
  ...(Object.fromEntries(Object.entries(guestCalls).map(([method, { params }]) => [method, params])) as {
    [Method in GuestCall]: (typeof guestCalls)[Method]["params"];
  }),
  trace: guestNotifications.trace.params,
};

/** The handlers of all calls. The compiler reports a missing or mistyped one. */
export type GuestServices<Caller> = {
  readonly [Method in GuestMethod]: (
    caller: Caller,
    params: GuestMethodParams<Method>,
  ) => Promise<DeepReadonly<GuestMethodResult<Method>>>;
};

export function isGuestMethod(method: string): method is GuestMethod {
  return Object.hasOwn(guestMethods, method);
}
