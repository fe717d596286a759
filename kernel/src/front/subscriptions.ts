import { isJsonObject } from "../base/json.ts";

/** A method that follows something, and how the next kernel is told where to continue. */
interface FollowMethod {
  readonly unfollow: string;
  /** Returns the cursor in the answer to the request; null if it has none. */
  begun(result: unknown): unknown;
  /** The notifications of a subscription, each with its cursor; null for one that moves none. */
  readonly notifications: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => unknown>>;
  /** The parameter of the request that takes the cursor. */
  readonly parameter: string;
}

const followMethods: Readonly<Record<string, FollowMethod>> = {
  "lares/traces/follow": {
    unfollow: "lares/traces/unfollow",
    begun: (result) => textIn(result, "cursor"),
    notifications: { "lares/traces/entry": ({ entry }) => textIn(entry, "span_id") },
    parameter: "after",
  },
  "lares/conversations/follow": {
    unfollow: "lares/conversations/unfollow",
    // Entries are numbered, so the request itself says where to begin.
    begun: () => null,
    notifications: {
      "lares/conversations/entry": ({ entry }) => numberIn(entry, "seq"),
      // The deltas of a kernel that died are over: its entries replace them.
      "lares/conversations/delta": () => null,
    },
    parameter: "from",
  },
};

const unfollowMethods = new Map(
  Object.entries(followMethods).map(([follow, { unfollow }]) => [unfollow, follow]),
);
const cursors = new Map(
  Object.values(followMethods).flatMap(({ notifications }) => Object.entries(notifications)),
);

/** Returns true for a request that begins a subscription. */
export function isFollow(method: string): boolean {
  return Object.hasOwn(followMethods, method);
}

/** Returns true for a request that ends a subscription. */
export function isUnfollow(method: string): boolean {
  return unfollowMethods.has(method);
}

/** Returns true for a notification that belongs to a subscription. */
export function isFollowed(method: string): boolean {
  return cursors.has(method);
}

interface Subscription {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  /**
   * The last thing that the client received: the next kernel continues after it. Null if there was none and the kernel
   * gave no cursor.
   */
  cursor: unknown;
  /** The current kernel's id of it; null until the kernel has answered. */
  kernelId: string | null;
}

/**
 * What a client follows: traces (`lares/traces/follow`) and conversations (`lares/conversations/follow`). Each
 * subscription has an id of the front, which outlives a kernel, and a cursor, so that the next kernel neither repeats
 * nor omits anything.
 */
export class Subscriptions {
  readonly #byClientId = new Map<string, Subscription>();
  readonly #clientIdOf = new Map<string, string>();
  #lastNumber = 0;

  /** Adds a subscription that a kernel has confirmed with this result. Returns the id for the client. */
  followed(method: string, params: unknown, kernelId: string, result: unknown): string {
    const clientId = `follow-${++this.#lastNumber}`;
    const cursor = followMethods[method]?.begun(result) ?? null;
    this.#byClientId.set(clientId, { method, params: isJsonObject(params) ? params : {}, cursor, kernelId });
    this.#clientIdOf.set(kernelId, clientId);
    return clientId;
  }

  /** Removes a subscription. Returns the current kernel's id of it; null if there is none. */
  unfollowed(clientId: string): string | null {
    const kernelId = this.#byClientId.get(clientId)?.kernelId ?? null;
    this.#byClientId.delete(clientId);
    if (kernelId !== null) this.#clientIdOf.delete(kernelId);
    return kernelId;
  }

  has(clientId: string): boolean {
    return this.#byClientId.has(clientId);
  }

  /**
   * Returns the params of a notification with the client's id, and moves the cursor; null if the subscription no longer
   * exists.
   */
  translate(method: string, params: unknown): unknown {
    if (!isJsonObject(params)) return null;
    const clientId = this.#clientIdOf.get(String(params["subscription"]));
    const subscription = clientId === undefined ? undefined : this.#byClientId.get(clientId);
    if (subscription === undefined) return null;
    subscription.cursor = cursors.get(method)?.(params) ?? subscription.cursor;
    return { ...params, subscription: clientId };
  }

  kernelLost(): void {
    this.#clientIdOf.clear();
    for (const subscription of this.#byClientId.values()) subscription.kernelId = null;
  }

  /** Returns the subscriptions that the next kernel has to open, by the client's id. */
  toRenew(): { clientId: string; method: string; params: unknown }[] {
    return [...this.#byClientId].map(([clientId, { method, params, cursor }]) => ({
      clientId,
      method,
      params: cursor === null ? params : { ...params, [followMethods[method]?.parameter ?? ""]: cursor },
    }));
  }

  /** Records the next kernel's id of a subscription. Returns false if the client has ended it meanwhile. */
  renewed(clientId: string, kernelId: string): boolean {
    const subscription = this.#byClientId.get(clientId);
    if (!subscription) return false;
    subscription.kernelId = kernelId;
    this.#clientIdOf.set(kernelId, clientId);
    return true;
  }
}

/** Returns the request that ends what this one began. */
export function unfollowOf(method: string): string {
  return followMethods[method]?.unfollow ?? method;
}

function textIn(value: unknown, field: string): string | null {
  const found = isJsonObject(value) ? value[field] : undefined;
  return typeof found === "string" ? found : null;
}

function numberIn(value: unknown, field: string): number | null {
  const found = isJsonObject(value) ? value[field] : undefined;
  return typeof found === "number" ? found : null;
}
