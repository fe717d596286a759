import { hostBounds as bounds } from "./bounds.ts";
import type { ByteRing } from "./byte-ring.ts";

/** Queues input for a guest in order, and reports how much of it has entered the guest's pipe. */
export class GuestInput {
  readonly #pipe: ByteRing;
  readonly #onTaken: (count: number) => void;
  readonly #waiting: Uint8Array[] = [];
  #isFeeding = false;
  #unreportedBytes = 0;

  constructor(pipe: ByteRing, onTaken: (count: number) => void) {
    this.#pipe = pipe;
    this.#onTaken = onTaken;
  }

  /** The caller may reuse `bytes` afterwards. After the pipe is closed, input is discarded and counts as read. */
  push(bytes: Uint8Array): void {
    const written = this.#waiting.length > 0 ? 0 : this.#write(bytes);
    if (written === bytes.length) return;
    this.#waiting.push(bytes.slice(written));
    if (!this.#isFeeding) void this.#feed();
  }

  /** Never rejects. */
  async #feed(): Promise<void> {
    this.#isFeeding = true;
    for (;;) {
      const [first] = this.#waiting;
      if (first === undefined) break;
      const written = this.#write(first);
      if (written === first.length) this.#waiting.shift();
      else {
        this.#waiting[0] = first.subarray(written);
        await this.#pipe.untilWritable();
      }
    }
    this.#isFeeding = false;
  }

  #write(bytes: Uint8Array): number {
    const count = this.#pipe.isClosed ? bytes.length : this.#pipe.write(bytes);
    this.#unreportedBytes += count;
    // Reported in steps: a message for every line would cost as much as the line itself.
    if (this.#unreportedBytes >= bounds.takenStepBytes) {
      this.#onTaken(this.#unreportedBytes);
      this.#unreportedBytes = 0;
    }
    return count;
  }
}
