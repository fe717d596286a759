import type { ByteRing } from "./byte-ring.ts";
import { Credit } from "../../platform/children/credit.ts";

/** A guest's output on its way to the kernel, never more than was asked for. */
export class GuestOutput {
  readonly #pipe: ByteRing;
  readonly #send: (bytes: Uint8Array) => void;
  /** Nothing until somebody listens. */
  readonly #credit = new Credit();
  #isDropped = false;

  constructor(pipe: ByteRing, send: (bytes: Uint8Array) => void) {
    this.#pipe = pipe;
    this.#send = send;
  }

  /** So many more bytes may be sent. */
  allow(count: number): void {
    this.#credit.add(count);
  }

  /** Nothing more is sent: nobody listens any more. */
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
