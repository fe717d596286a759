import { EventEmitter, type Disposable } from "vscode";

/** The shortest time between two notifications of a view: at most twenty per second. */
export const coalesceMs = 50;

/** Merges many changes in a short time: fires at once for the first, and once more for all that follow. */
export class CoalescedEvent implements Disposable {
  readonly #emitter = new EventEmitter<void>();
  readonly event = this.#emitter.event;
  #timer: NodeJS.Timeout | null = null;
  #isDue = false;

  fire(): void {
    if (this.#timer !== null) {
      this.#isDue = true;
      return;
    }
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (!this.#isDue) return;
      this.#isDue = false;
      this.fire();
    }, coalesceMs);
    this.#emitter.fire();
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#emitter.dispose();
  }
}
