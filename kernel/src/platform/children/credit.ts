/** The sending side of a stream: how much may still be sent; whoever sends waits here until there is some. */
export class Credit {
  #left = 0;
  #waiting: (() => void)[] = [];

  add(count: number): void {
    this.#left += count;
    if (this.#left <= 0) return;
    for (const resume of this.#waiting.splice(0)) resume();
  }

  /** May take more than there is: the last piece is never cut. */
  take(count: number): void {
    this.#left -= count;
  }

  /** Resolves once there is some. */
  async available(): Promise<void> {
    while (this.#left <= 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** The receiving side: at most a window is on its way, and what was taken is granted again in large pieces. */
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

  /** So much has come and is dealt with. */
  taken(count: number): void {
    this.#owed += count;
    // A grant for every piece would cost as much as the piece.
    if (this.#owed < this.#size / 4) return;
    this.#grant(this.#owed);
    this.#owed = 0;
  }
}
