import type { Clock } from "../../base/clock.ts";
import type { ByteChannel, ChildProcess } from "../../platform/child-process.ts";
import { hostBounds as bounds } from "./bounds.ts";
import { controlFrames, FrameReader, frameType, readControl, readCount, readUsage } from "./frames.ts";
import { KernelGuest } from "./kernel-guest.ts";
import type { FromHost, ToHost } from "./messages.ts";

type PreparedReply = {
  readonly refusal: { readonly code: string; readonly message: string } | null;
  readonly bytes: Uint8Array;
};
type StartReply =
  | { readonly kind: "started" }
  | { readonly kind: "programMissing" }
  | { readonly kind: "ended"; readonly reason: string };

/** The code of a refusal that is not the program's fault: the host ended while it prepared. */
export const hostGone = "hostGone";

/** One sandbox host process from its start to its end: requests, guests, and the frames between. */
export class HostLink {
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #clock: Clock;
  readonly #channel: ByteChannel;
  readonly #guests = new Map<number, KernelGuest>();
  readonly #starting = new Map<number, (reply: StartReply) => void>();
  readonly #preparing = new Map<number, PromiseWithResolvers<PreparedReply>>();
  #nextId = 1;
  #endReason: string | null = null;

  constructor(child: ChildProcess, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    this.#channel = child.channel;
    const reader = new FrameReader(bounds.maxFrameBytes, (type, guest, payload) =>
      this.#receive(type, guest, payload),
    );
    child.channel.chunks.on((chunk) => {
      try {
        reader.push(chunk);
      } catch {
        // Whatever is wrong with the stream, it cannot be trusted from here on.
        void child.kill();
      }
    });
    // What the pipe still holds is read before the host counts as gone.
    this.ended = Promise.all([child.exited, child.channel.closed]).then(([how]) => {
      this.#abandon(`The sandbox host process ${how}.`);
      return how;
    });
  }

  get isAlive(): boolean {
    return this.#endReason === null;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves with the prepared module, or why it is refused. */
  prepare(bytes: Uint8Array, maxMemoryMb: number): Promise<PreparedReply> {
    const request = this.#nextId++;
    const reply = Promise.withResolvers<PreparedReply>();
    if (this.#endReason !== null) return Promise.resolve(this.#hostGone());
    this.#preparing.set(request, reply);
    this.#send({ kind: "prepare", request, maxMemoryMb }, bytes);
    return reply.promise;
  }

  program(key: string, bytes: Uint8Array): void {
    this.#send({ kind: "program", key }, bytes);
  }

  prewarm(): void {
    this.#send({ kind: "prewarm" });
  }

  /** Starts a guest of a program; nothing of its output arrives before `guest.open()`. */
  async start(program: string): Promise<{ guest: KernelGuest; reply: StartReply }> {
    const id = this.#nextId++;
    const guest = new KernelGuest(id, {
      write: (...parts) => this.#channel.write(...parts),
      kill: (reason) => this.#send({ kind: "kill", guest: id, reason }),
    });
    if (this.#endReason !== null) return { guest, reply: { kind: "ended", reason: this.#endReason } };
    const { promise, resolve } = Promise.withResolvers<StartReply>();
    this.#guests.set(id, guest);
    this.#starting.set(id, resolve);
    void guest.exited.then(({ reason }) => resolve({ kind: "ended", reason }));
    using _ = this.#clock.timer(
      bounds.startTimeoutMs,
      () => void guest.kill(`The program did not start within ${bounds.startTimeoutMs} ms.`),
    );
    this.#send({ kind: "start", guest: id, program });
    return { guest, reply: await promise };
  }

  async kill(): Promise<void> {
    this.#channel.close();
    await this.#child.kill();
    await this.ended;
  }

  #send(words: ToHost, bytes?: Uint8Array): void {
    this.#channel.write(...controlFrames(words, bytes));
  }

  #receive(type: number, id: number, payload: Uint8Array): void {
    const guest = this.#guests.get(id);
    switch (type) {
      case frameType.control: {
        const { words, bytes } = readControl(payload);
        return this.#hear(words as FromHost, bytes);
      }
      case frameType.stdout:
        return guest?.receiveOutput(payload);
      case frameType.stdinTaken:
        return guest?.receiveTaken(readCount(payload));
      case frameType.stderr:
        return guest?.receiveStderr(new TextDecoder().decode(payload));
      case frameType.usage:
        return guest?.usage.emit(readUsage(payload));
      default:
        throw new RangeError(`The sandbox host sent a frame of unknown type ${type}.`);
    }
  }

  #hear(words: FromHost, bytes: Uint8Array): void {
    switch (words.kind) {
      case "prepared": {
        this.#preparing.get(words.request)?.resolve({ refusal: words.refusal, bytes: bytes.slice() });
        this.#preparing.delete(words.request);
        return;
      }
      case "started":
      case "programMissing":
        this.#starting.get(words.guest)?.({ kind: words.kind });
        this.#starting.delete(words.guest);
        if (words.kind === "programMissing") this.#guests.delete(words.guest);
        return;
      case "exited": {
        const guest = this.#guests.get(words.guest);
        this.#guests.delete(words.guest);
        this.#starting.delete(words.guest);
        guest?.receiveExit(words.reason);
        return;
      }
      default:
        throw new RangeError("The sandbox host sent words that are not known.");
    }
  }

  #abandon(reason: string): void {
    this.#endReason = reason;
    for (const guest of this.#guests.values()) guest.receiveExit(reason, true);
    this.#guests.clear();
    for (const reply of this.#preparing.values()) reply.resolve(this.#hostGone());
    this.#preparing.clear();
  }

  #hostGone(): PreparedReply {
    return {
      refusal: { code: hostGone, message: this.#endReason ?? "The sandbox host is gone." },
      bytes: new Uint8Array(),
    };
  }
}
