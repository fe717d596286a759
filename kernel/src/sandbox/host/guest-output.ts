import type { ByteRing } from "./byte-ring.ts";
import { Credit } from "../../platform/children/credit.ts";

/** Sends a guest's output to the kernel, never more than its credit allows. */
export class GuestOutput {
  readonly #pipe: ByteRing;
  readonly #send: (bytes: Uint8Array) => void;
  /** Empty until the kernel grants credit. */
  readonly #credit = new Credit();
  #isDropped = false;

  constructor(pipe: ByteRing, send: (bytes: Uint8Array) => void) {
    this.#pipe = pipe;
    this.#send = send;
  }

  /** Grants credit for `count` further bytes. */
  allow(count: number): void {
    this.#credit.add(count);
  }

  /** Stops sending, because nobody reads the output any more. */
  drop(): void {
    this.#isDropped = true;
    this.#pipe.close();
    this.#credit.add(Number.MAX_SAFE_INTEGER);
  }

  /** Sends until the pipe is closed and empty. Never rejects. */
  async forward(): Promise<void> {
    for (;;) {
      await this.#credit.available();
      if (this.#isDropped) return;
      const count = this.#pipe.readable;
      if (count === 0) {
        if (this.#pipe.isClosed) return;
        await this.#pipe.untilReadable();
        continue;
      }
      const bytes = new Uint8Array(count);
      this.#pipe.read(bytes);
      this.#credit.take(count);
      this.#send(bytes);
    }
  }
}
