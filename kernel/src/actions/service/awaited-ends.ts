import { LaresError, notFound } from "../../base/errors.ts";
import { hasEnded, type Action } from "../../base/vocabulary/action.ts";

/** Lets callers wait for the end of an action. */
export class AwaitedEnds implements Disposable {
  readonly #waiters = new Map<string, PromiseWithResolvers<Action>>();
  #isClosed = false;

  /**
   * Returns the action once it has ended. `get` reads its current state. NotFound if there is no such action, Busy if
   * the kernel shuts down.
   */
  async of(id: string, get: () => Promise<Action | null>): Promise<Action> {
    // The waiter is registered before the read, so that an end between the two is not missed.
    const waiter = this.#waiters.get(id) ?? Promise.withResolvers<Action>();
    this.#waiters.set(id, waiter);
    const action = await get();
    if (action !== null && !hasEnded(action.state)) {
      if (this.#isClosed)
        throw new LaresError("Busy", "The kernel is shutting down. Try again with the next one.");
      return waiter.promise;
    }
    if (this.#waiters.get(id) === waiter) this.#waiters.delete(id);
    if (action === null) throw notFound("action", id);
    waiter.resolve(action);
    return action;
  }

  settle(action: Action): void {
    if (!hasEnded(action.state)) return;
    this.#waiters.get(action.id)?.resolve(action);
    this.#waiters.delete(action.id);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const [id, waiter] of this.#waiters) {
      // The caller may still be reading, and gets the error afterwards.
      waiter.promise.catch(() => undefined);
      waiter.reject(
        new LaresError("Busy", `The kernel is shutting down. Ask the next one for the action ${id}.`),
      );
    }
    this.#waiters.clear();
  }
}
