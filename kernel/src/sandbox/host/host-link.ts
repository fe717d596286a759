import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { Child } from "../../platform/children/child.ts";
import type { ChildProcess } from "../../platform/children/child-process.ts";
import { readCount } from "../../platform/children/frames.ts";
import { hostBounds as bounds } from "./bounds.ts";
import { frameType, readUsage } from "./frame-types.ts";
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

/** The refusal code for a host that ended during the preparation; not the program's fault. */
export const hostGone = "hostGone";

/** One sandbox host process from its start to its end: its requests, guests and frames. */
export class HostLink {
  readonly ended: Promise<string>;
  readonly #child: Child<ToHost, FromHost>;
  readonly #clock: Clock;
  readonly #guests = new Map<number, KernelGuest>();
  readonly #starting = new Map<number, (reply: StartReply) => void>();
  readonly #preparing = new Map<number, PromiseWithResolvers<PreparedReply>>();
  #nextId = 1;
  #endReason: string | null = null;

  constructor(process: ChildProcess, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#clock = clock;
    this.#child = new Child(process, {
      name: "sandbox host",
      log,
      clock,
      maxFrameBytes: bounds.maxFrameBytes,
      receive: (words, bytes) => this.#hear(words, bytes),
      receiveFrame: (type, guest, payload) => this.#receive(type, guest, payload),
    });
    this.ended = this.#child.ended.then((how) => {
      this.#abandon(`The sandbox host process ${how}.`);
      return how;
    });
  }

  get isAlive(): boolean {
    return this.#endReason === null;
  }

  get isEnding(): boolean {
    return this.#child.isEnding;
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves with the prepared module, or with the reason for its refusal. */
  prepare(bytes: Uint8Array, maxMemoryMb: number): Promise<PreparedReply> {
    const request = this.#nextId++;
    const reply = Promise.withResolvers<PreparedReply>();
    if (this.#endReason !== null) return Promise.resolve(this.#hostGone());
    this.#preparing.set(request, reply);
    this.#child.send({ kind: "prepare", request, maxMemoryMb }, bytes);
    return reply.promise;
  }

  program(key: string, bytes: Uint8Array): void {
    this.#child.send({ kind: "program", key }, bytes);
  }

  prewarm(): void {
    this.#child.send({ kind: "prewarm" });
  }

  /** Starts a guest of a program. Its output begins to flow with `guest.open()`. */
  async start(program: string): Promise<{ guest: KernelGuest; reply: StartReply }> {
    const id = this.#nextId++;
    const guest = new KernelGuest(id, {
      write: (...frames) => this.#child.write(...frames),
      kill: (reason) => this.#child.send({ kind: "kill", guest: id, reason }),
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
    this.#child.send({ kind: "start", guest: id, program });
    return { guest, reply: await promise };
  }

  async kill(): Promise<void> {
    await this.#child.kill();
    await this.ended;
  }

  #receive(type: number, id: number, payload: Uint8Array): void {
    const guest = this.#guests.get(id);
    switch (type) {
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
        throw new RangeError("The sandbox host sent an unknown control message.");
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
