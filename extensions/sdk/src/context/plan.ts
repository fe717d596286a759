import { isLaresError, LaresError } from "../errors.ts";
import type { Plan } from "../types/memory.ts";
import type { Kernel } from "./kernel.ts";

/** After this many attempts without success, the change would be retried forever. */
const maxAttempts = 200;

/** Working memory: compare-and-swap on its revision. */
export function makePlan<State>(kernel: Kernel, initial: State, shared: { namespace?: string }): Plan<State> {
  const read = async (): Promise<{ revision: number; state: State }> => {
    const { revision, state } = await kernel.call("memory/working/read", shared);
    // Nothing is written yet. The copy protects the definition's initial state.
    return {
      revision,
      state: state === null || state === undefined ? structuredClone(initial) : (state as State),
    };
  };
  const swap = (revision: number, state: State): Promise<unknown> =>
    kernel.call("memory/working/swap", { ...shared, revision, state: state ?? null });

  const update: Plan<State>["update"] = async (change) => {
    for (let attempt = 1; ; attempt++) {
      const { revision, state } = await read();
      const changed = await change(state);
      const next = changed === undefined ? state : (changed as State);
      try {
        await swap(revision, next);
        return next;
      } catch (error) {
        if (!isLaresError(error, "Conflict")) throw error;
        if (attempt >= maxAttempts) {
          throw new LaresError(
            "Conflict",
            `The state was changed by others ${maxAttempts} times in a row.`,
            error.facts,
          );
        }
      }
    }
  };
  const set = async (state: State): Promise<void> => void (await update(() => state));
  return { read: async () => (await read()).state, update, set, reset: () => set(structuredClone(initial)) };
}
