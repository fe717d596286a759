import { LaresError, notFound } from "../base/errors.ts";
import { hasEnded, type Action } from "../base/vocabulary/action.ts";

/** Who waits for an action to come to an end. */
export class AwaitedEnds implements Disposable {
  readonly #waiters = new Map<string, PromiseWithResolvers<Action>>();
  #isClosed = false;

  /** The action when it has ended. `get` reads it as it is now; NotFound where there is none, Busy where the kernel ends. */
  async of(id: string, get: () => Promise<Action | null>): Promise<Action> {
    // The waiter is there before the look, so that no end falls between the two.
    const waiter = this.#waiters.get(id) ?? Promise.withResolvers<Action>();
    this.#waiters.set(id, waiter);
    const action = await get();
    if (action !== null && !hasEnded(action.state)) {
      if (this.#isClosed) throw new LaresError("Busy", "The kernel is ending.");
      return waiter.promise;
    }
    if (this.#waiters.get(id) === waiter) this.#waiters.delete(id);
    if (action === null) throw notFound("action", id);
    waiter.resolve(action);
    return action;
  }

  tell(action: Action): void {
    if (!hasEnded(action.state)) return;
    this.#waiters.get(action.id)?.resolve(action);
    this.#waiters.delete(action.id);
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    for (const [id, waiter] of this.#waiters) {
      // Whoever asked may be looking still, and hears of it then.
      waiter.promise.catch(() => undefined);
      waiter.reject(new LaresError("Busy", `The kernel is ending; ask for the action ${id} again.`));
    }
    this.#waiters.clear();
  }
}
