import {
  type Embedded,
  type EmbedHere,
  type OutsideAnswer,
  OutsideError,
  type PostOutside,
} from "../../memory-contract/store-port.ts";
import type { FromHost, ToHost } from "../messages.ts";

type Answered = Extract<ToHost, { kind: "posted" | "unposted" | "embedded" }>;

interface OpenPost {
  resolve(answer: OutsideAnswer): void;
  reject(error: OutsideError): void;
}

/**
 * Forwards what the store host cannot do itself: requests to the egress host, models to the inference host.
 */
export class Outside {
  readonly #send: (words: FromHost, bytes?: Uint8Array) => void;
  readonly #open = new Map<number, OpenPost>();
  readonly #embedding = new Map<number, (answer: Embedded) => void>();
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

  readonly embedHere: EmbedHere = (model, texts) =>
    new Promise((resolve) => {
      const id = this.#nextId++;
      this.#embedding.set(id, resolve);
      this.#send({ kind: "embed", id, model, texts });
    });

  /** `bytes` are valid only during the call. */
  answered(words: Answered, bytes: Uint8Array): void {
    if (words.kind === "embedded") {
      const { answer } = words;
      this.#embedding.get(words.id)?.("name" in answer ? { ...answer, vectors: bytes.slice() } : answer);
      this.#embedding.delete(words.id);
      return;
    }
    const open = this.#open.get(words.id);
    if (words.kind === "posted") open?.resolve({ ...words.answer, body: bytes.slice() });
    else open?.reject(new OutsideError(words.failure, words.message));
  }
}
