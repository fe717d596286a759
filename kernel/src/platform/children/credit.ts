/** The sending side of a stream: counts how much may still be sent, and lets senders wait for more. */
export class Credit {
  #left = 0;
  #waiting: (() => void)[] = [];

  /** May be negative: the last piece is never cut. */
  get left(): number {
    return this.#left;
  }

  add(count: number): void {
    this.#left += count;
    if (this.#left <= 0) return;
    for (const resume of this.#waiting.splice(0)) resume();
  }

  /** May exceed the credit, because the last piece is never cut. */
  take(count: number): void {
    this.#left -= count;
  }

  /** Resolves when there is credit. */
  async available(): Promise<void> {
    while (this.#left <= 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** The receiving side: at most one window is in flight, and consumed bytes are granted again in large steps. */
export class CreditWindow {
  readonly #size: number;
  readonly #grant: (count: number) => void;
  #owed = 0;

  constructor(size: number, grant: (count: number) => void) {
    this.#size = size;
    this.#grant = grant;
  }

  /** Lets the stream flow. */
  open(): void {
    this.#grant(this.#size);
  }

  /** Records that this many bytes were received and processed. */
  taken(count: number): void {
    this.#owed += count;
    // A grant for every piece would cost as much as the piece.
    if (this.#owed < this.#size / 4) return;
    this.#grant(this.#owed);
    this.#owed = 0;
  }
}
