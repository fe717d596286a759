/** How much may still be sent; whoever sends waits here until there is some. */
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
