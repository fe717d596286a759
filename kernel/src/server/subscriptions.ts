import { limitExceeded } from "../base/errors.ts";

/** Maximum number of subscriptions of one client. */
const maxSubscriptions = 64;

/** Throws LimitExceeded if a client may not follow anything more. */
export function checkRoomFor(subscriptions: ReadonlyMap<string, Disposable>): void {
  if (subscriptions.size < maxSubscriptions) return;
  throw limitExceeded(
    "subscriptions",
    maxSubscriptions,
    `This client has ${maxSubscriptions} subscriptions already, the maximum. End one with lares/traces/unfollow or lares/conversations/unfollow first.`,
  );
}
