import type { Group, Places } from "./places.ts";

/** The places of a conversation's processes. */
export class HeldPlaces {
  readonly #places: Places;
  readonly #held = new Map<string, { readonly groups: readonly Group[]; place: Disposable }>();

  constructor(places: Places) {
    this.#places = places;
  }

  /** Waits for a process's place; it is free again when the result is disposed. */
  async take(process: string, groups: readonly Group[], signal: AbortSignal): Promise<Disposable> {
    const held = { groups, place: await this.#places.take(groups, signal) };
    this.#held.set(process, held);
    return {
      [Symbol.dispose]: () => {
        this.#held.delete(process);
        held.place[Symbol.dispose]();
      },
    };
  }

  /** Leaves a process's place to others while it waits for them, which could not begin otherwise. */
  async lend<Result>(process: string, signal: AbortSignal, wait: () => Promise<Result>): Promise<Result> {
    const held = this.#held.get(process);
    held?.place[Symbol.dispose]();
    const result = await wait();
    if (held !== undefined) held.place = await this.#places.take(held.groups, signal);
    return result;
  }
}
