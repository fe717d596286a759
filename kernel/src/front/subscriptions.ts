import { isJsonObject } from "../base/json.ts";

interface Subscription {
  readonly params: Readonly<Record<string, unknown>>;
  /** How far the client was told: the next kernel goes on behind it. Null where the kernel has named no place. */
  cursor: string | null;
  /** The id that the present kernel knows it by; null until it has answered. */
  kernelId: string | null;
}

/**
 * A client's `lares/traces/follow`s: under ids of the front's own, so that they outlive a kernel, and with a cursor each, so
 * that nothing is told twice or left out when the next one goes on.
 */
export class Subscriptions {
  readonly #byClientId = new Map<string, Subscription>();
  readonly #clientIdOf = new Map<string, string>();
  #lastNumber = 0;

  /** A kernel answered a follow. Returns the id for the client. */
  followed(params: unknown, kernelId: string, cursor: string | null): string {
    const clientId = `follow-${++this.#lastNumber}`;
    this.#byClientId.set(clientId, { params: isJsonObject(params) ? params : {}, cursor, kernelId });
    this.#clientIdOf.set(kernelId, clientId);
    return clientId;
  }

  /** Forgets a subscription. Returns the present kernel's id of it; null where it has none. */
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
   * The params of a `lares/traces/entry` with the client's id, which the client is told now; null for a subscription that is
   * no longer there.
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

  /** What the next kernel must be asked for, by the client's id. */
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
