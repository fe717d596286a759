import { type OutsideAnswer, OutsideError, type PostOutside } from "../../memory-contract/store-port.ts";
import type { FromHost, ToHost } from "../messages.ts";

type Answered = Extract<ToHost, { kind: "posted" | "unposted" }>;

interface OpenPost {
  resolve(answer: OutsideAnswer): void;
  reject(error: OutsideError): void;
}

/** Requests to the outside, which the kernel has sent for the store host. */
export class Outside {
  readonly #send: (words: FromHost, bytes?: Uint8Array) => void;
  readonly #open = new Map<number, OpenPost>();
  #nextId = 1;

  constructor(send: (words: FromHost, bytes?: Uint8Array) => void) {
    this.#send = send;
  }

  readonly post: PostOutside = (request, body, signal) =>
    new Promise((resolve, reject) => {
      const id = this.#nextId++;
      const settle = (): void => {
        this.#open.delete(id);
        signal.removeEventListener("abort", cancel);
      };
      const cancel = (): void => {
        settle();
        this.#send({ kind: "cancelPost", id });
        reject(new OutsideError("Cancelled", "The request was cancelled."));
      };
      if (signal.aborted) return reject(new OutsideError("Cancelled", "The request was cancelled."));
      signal.addEventListener("abort", cancel, { once: true });
      this.#open.set(id, {
        resolve: (answer) => {
          settle();
          resolve(answer);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
      });
      this.#send({ kind: "post", id, request }, body);
    });

  /** `bytes` are valid only during the call. */
  answered(words: Answered, bytes: Uint8Array): void {
    const open = this.#open.get(words.id);
    if (words.kind === "posted") open?.resolve({ ...words.answer, body: bytes.slice() });
    else open?.reject(new OutsideError(words.failure, words.message));
  }
}
