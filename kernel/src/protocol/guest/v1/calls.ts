import type { Static } from "typebox";
import type { ParamsIn, ResultIn } from "../../define.ts";
import { actionCalls } from "./actions.ts";
import { guestRequests } from "./lifecycle.ts";
import { memoryCalls } from "./memory.ts";
import { guestNotifications, serviceCalls } from "./services.ts";
import { vdfsCalls } from "./vdfs.ts";

/** Every call a guest may make, ABI version 1. Params are closed: a misspelt field is an error. */
export const guestCalls = { ...vdfsCalls, ...memoryCalls, ...actionCalls, ...serviceCalls };

export type GuestCall = keyof typeof guestCalls;
export type GuestCallParams<Method extends GuestCall> = ParamsIn<typeof guestCalls, Method>;
export type GuestCallResult<Method extends GuestCall> = ResultIn<typeof guestCalls, Method>;

export type GuestRequest = keyof typeof guestRequests;
export type GuestRequestParams<Method extends GuestRequest> = ParamsIn<typeof guestRequests, Method>;
export type GuestRequestResult<Method extends GuestRequest> = ResultIn<typeof guestRequests, Method>;

export type GuestNotification = keyof typeof guestNotifications;
export type GuestNotificationParams<Method extends GuestNotification> = Static<
  (typeof guestNotifications)[Method]
>;

/** At most so many calls open per direction; more wait. */
export const maxOpenCalls = 64;
/** Longest line in either direction, its line feed included, in bytes. */
export const maxLineBytes = 1024 * 1024;

export function isGuestCall(method: string): method is GuestCall {
  return Object.hasOwn(guestCalls, method);
}
