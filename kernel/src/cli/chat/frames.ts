/** News that arrive within this time share a frame. */
const frameMs = 16;
/** After drawing news, wait this many times as long as that took. */
const restPerDraw = 3;

/**
 * Draws what has changed: nothing before the screen is there, what a person typed at once, and what arrives at most
 * once per frame, so that there is time for keys however much arrives.
 */
export class Frames implements Disposable {
  readonly #draw: () => void;
  #isOpen = false;
  #immediate: NodeJS.Immediate | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** When the next frame may be drawn. */
  #nextMs = 0;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  /** The screen is there. */
  open(): void {
    this.#isOpen = true;
    this.now();
  }

  /** Draws once the input that is there has been handled. */
  now(): void {
    if (!this.#isOpen) return;
    this.#immediate ??= setImmediate(() => this.#frame());
  }

  soon(): void {
    if (!this.#isOpen || this.#immediate !== null) return;
    const waitMs = this.#nextMs - performance.now();
    if (waitMs <= 0) this.now();
    else this.#timer ??= setTimeout(() => this.now(), waitMs);
  }

  #frame(): void {
    this.#cancel();
    const startMs = performance.now();
    this.#draw();
    const endMs = performance.now();
    this.#nextMs = endMs + Math.max(frameMs, restPerDraw * (endMs - startMs));
  }

  #cancel(): void {
    if (this.#immediate !== null) clearImmediate(this.#immediate);
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#immediate = null;
    this.#timer = null;
  }

  [Symbol.dispose](): void {
    this.#isOpen = false;
    this.#cancel();
  }
}
