import { isJsonObject } from "../base/json.ts";

interface Subscription {
  readonly params: Readonly<Record<string, unknown>>;
  /**
   * The last trace that the client received: the next kernel continues after it. Null if the kernel gave no cursor.
   */
  cursor: string | null;
  /** The current kernel's id of it; null until the kernel has answered. */
  kernelId: string | null;
}

/**
 * A client's trace subscriptions (`lares/traces/follow`). Each has an id of the front, which outlives a kernel, and a
 * cursor, so that the next kernel neither repeats nor omits a trace.
 */
export class Subscriptions {
  readonly #byClientId = new Map<string, Subscription>();
  readonly #clientIdOf = new Map<string, string>();
  #lastNumber = 0;

  /** Adds a subscription that a kernel has confirmed. Returns the id for the client. */
  followed(params: unknown, kernelId: string, cursor: string | null): string {
    const clientId = `follow-${++this.#lastNumber}`;
    this.#byClientId.set(clientId, { params: isJsonObject(params) ? params : {}, cursor, kernelId });
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
   * Returns the params of a `lares/traces/entry` with the client's id, and moves the cursor; null if the subscription
   * no longer exists.
   */
  translate(params: unknown): unknown {
    if (!isJsonObject(params)) return null;
    const clientId = this.#clientIdOf.get(String(params["subscription"]));
    const subscription = clientId === undefined ? undefined : this.#byClientId.get(clientId);
    if (subscription === undefined) return null;
    const { entry } = params;
    if (isJsonObject(entry) && typeof entry["span_id"] === "string") subscription.cursor = entry["span_id"];
    return { ...params, subscription: clientId };
  }

  kernelLost(): void {
    this.#clientIdOf.clear();
    for (const subscription of this.#byClientId.values()) subscription.kernelId = null;
  }

  /** Returns the subscriptions that the next kernel has to open, by the client's id. */
  toRenew(): { clientId: string; params: unknown }[] {
    return [...this.#byClientId].map(([clientId, { params, cursor }]) => ({
      clientId,
      params: cursor === null ? params : { ...params, after: cursor },
    }));
  }

  renewed(clientId: string, kernelId: string): void {
    const subscription = this.#byClientId.get(clientId);
    if (!subscription) return;
    subscription.kernelId = kernelId;
    this.#clientIdOf.set(kernelId, clientId);
  }
}
