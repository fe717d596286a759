import { unlessAborted } from "../base/abort.ts";

/**
 * Counts the person's messages about which extensions are asked. The channel makes no request meanwhile, so that it never
 * reads a message before they did.
 */
export class HeldInputs {
  #count = 0;
  #free: PromiseWithResolvers<void> | null = null;

  get isHeld(): boolean {
    return this.#count > 0;
  }

  hold(): void {
    this.#count++;
  }

  release(): void {
    if (--this.#count > 0) return;
    this.#free?.resolve();
    this.#free = null;
  }

  /** Resolves once no message is held. Rejects with the signal's reason. */
  async released(signal: AbortSignal): Promise<void> {
    while (this.isHeld) await unlessAborted((this.#free ??= Promise.withResolvers()).promise, signal);
  }
}
