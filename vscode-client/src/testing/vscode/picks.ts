import { drawPick } from "./drawn.ts";
import { EventEmitter } from "./events.ts";

export type PickedBy = (items: readonly unknown[]) => unknown;

/** Answers the list that waits for the test's `window.pick`. */
export const openList = { choose: null as ((choose: PickedBy) => void) | null };

/** A list that stays open while it is answered. */
export class FakeQuickPick {
  title = "";
  placeholder = "";
  matchOnDescription = false;
  matchOnDetail = false;
  activeItems: readonly unknown[] = [];
  isShown = false;
  isDisposed = false;
  readonly button = new EventEmitter<{ readonly button: unknown; readonly item: unknown }>();
  readonly #accepted = new EventEmitter<void>();
  readonly #hidden = new EventEmitter<void>();
  readonly onDidTriggerItemButton = this.button.event;
  readonly onDidAccept = this.#accepted.event;
  readonly onDidHide = this.#hidden.event;
  #items: readonly unknown[] = [];

  get items(): readonly unknown[] {
    return this.#items;
  }
  set items(items: readonly unknown[]) {
    drawPick(items, this);
    this.#items = items;
  }
  show(): void {
    this.isShown = true;
  }
  hide(): void {
    this.isShown = false;
    this.#hidden.fire();
  }
  accept(item: unknown): void {
    this.activeItems = [item];
    this.#accepted.fire();
  }
  dispose(): void {
    this.isDisposed = true;
  }
}
