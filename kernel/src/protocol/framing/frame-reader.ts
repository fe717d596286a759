import { messageOf } from "../../base/errors.ts";
import type { Refusal, RpcMessage } from "../messages.ts";
import { FrameDecoder } from "./decoder.ts";
import { clientFrameLimits, type FrameLimits } from "./limits.ts";
import type { ByteSource } from "./streams.ts";

interface FrameHandlers {
  message(message: RpcMessage, body: Uint8Array): void;
  /** A frame was refused; answer with this error. */
  refused(refusal: Refusal): void;
  /** The input has ended. `reason` is null if it ended between two frames. Called once. */
  closed(reason: string | null): void;
}

/** Reads frames from a stream until it ends, fails, or becomes unreadable. */
export class FrameReader implements Disposable {
  readonly #source: ByteSource;
  readonly #handlers: FrameHandlers;
  #isClosed = false;

  constructor(source: ByteSource, handlers: FrameHandlers, limits: FrameLimits = clientFrameLimits) {
    this.#source = source;
    this.#handlers = handlers;
    const decoder = new FrameDecoder(
      {
        message: (message, body) => {
          if (!this.#isClosed) handlers.message(message, body);
        },
        refused: (refusal) => {
          if (!this.#isClosed) handlers.refused(refusal);
        },
        lost: (reason) => this.#close(reason),
      },
      limits,
    );
    source.on("data", (chunk) => {
      if (!this.#isClosed) decoder.push(chunk);
    });
    source.on("end", () => this.#close(decoder.unfinished()));
    source.on("close", () => this.#close(decoder.unfinished()));
    source.on("error", (error) => this.#close(`The stream failed: ${messageOf(error)}.`));
    source.resume();
  }

  /** Applies back-pressure: bytes that were already received may still be delivered. */
  pause(): void {
    this.#source.pause();
  }

  resume(): void {
    this.#source.resume();
  }

  /** Stops delivering; `closed` is not called. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
  }

  #close(reason: string | null): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#handlers.closed(reason);
  }
}
