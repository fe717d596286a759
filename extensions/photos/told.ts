import type { Context } from "./context.ts";
import { hashOf } from "./face-settings.ts";

/** Reported problems that are remembered. */
const maxRemembered = 20;

/** Tells the person what is wrong with a model: once, and not for each photo. */
export class Told {
  /** Problems of this job: those that follow from the first are not reported. */
  #count = 0;

  /** True if nothing was wrong. */
  get isSilent(): boolean {
    return this.#count === 0;
  }

  /** `key`: the model, and how it is run. With another one the same problem is reported again. */
  async once(ctx: Context, key: string, problem: string): Promise<void> {
    if (this.#count > 0) return;
    this.#count += 1;
    // Numbers differ from photo to photo.
    const id = hashOf(`${key} ${problem.replaceAll(/\d+/g, "0")}`);
    const { warned = [] } = await ctx.memory.plan.read();
    if (warned.includes(id)) return;
    await ctx.memory.plan.update((plan) => ({
      ...plan,
      warned: [...(plan.warned ?? []).filter((one) => one !== id), id].slice(-maxRemembered),
    }));
    ctx.trace.warn(`Faces cannot be looked for: ${problem.slice(0, 1000)}`);
  }
}
