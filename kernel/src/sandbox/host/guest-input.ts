import { hostBounds as bounds } from "./bounds.ts";

/** A guest's stdin as the SDK gives it: `write` resolves once there is room. */
export interface InputPipe {
  write(data: Uint8Array): Promise<void>;
}

/** Input on its way to a guest, in order; tells how much of it the guest has taken. */
export class GuestInput {
  readonly #onTaken: (count: number) => void;
  readonly #waiting: Uint8Array[] = [];
  #untakenBytes = 0;
  #unreportedBytes = 0;
  #isClosed = false;
  #resume: (() => void) | null = null;

  constructor(onTaken: (count: number) => void) {
    this.#onTaken = onTaken;
  }

  push(bytes: Uint8Array): void {
    this.#untakenBytes += bytes.length;
    if (this.#isClosed) return this.#take(bytes.length, true);
    this.#waiting.push(bytes);
    this.#resume?.();
  }

  /** Writes until closed. Never rejects. */
  async feed(pipe: InputPipe): Promise<void> {
    while (!this.#isClosed) {
      const bytes = this.#waiting.shift();
      if (bytes === undefined) {
        this.#take(0, true);
        await new Promise<void>((resolve) => (this.#resume = resolve));
        continue;
      }
      try {
        await pipe.write(bytes);
      } catch {
        // The guest closed its stdin or is gone; then what is sent to it is passed over.
        this.close();
        return;
      }
      if (!this.#isClosed) this.#take(bytes.length, false);
    }
  }

  /** What waits and what comes counts as taken from here on: nobody will read it, and nobody shall wait for it. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting.length = 0;
    this.#take(this.#untakenBytes, true);
    this.#resume?.();
  }

  /** Small amounts are told together, unless there is nothing more to come. */
  #take(count: number, tellsNow: boolean): void {
    this.#untakenBytes -= count;
    this.#unreportedBytes += count;
    if (this.#unreportedBytes === 0) return;
    if (!tellsNow && this.#unreportedBytes < bounds.takenStepBytes) return;
    this.#onTaken(this.#unreportedBytes);
    this.#unreportedBytes = 0;
  }
}
