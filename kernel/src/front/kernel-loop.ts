import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { FrameReader } from "../protocol/framing/frame-reader.ts";
import { FrameWriter } from "../protocol/framing/frame-writer.ts";
import { kernelFrameLimits } from "../protocol/framing/limits.ts";
import type { ByteSink, ByteSource } from "../protocol/framing/streams.ts";
import type { Outgoing, Relay } from "./relay.ts";

export interface KernelConnection {
  readonly stream: ByteSource & ByteSink;
  readonly pid: number;
}

interface KernelLoopPorts {
  /** Joins or starts the workspace's kernel; null if cancelled. Throws with the reason if that fails permanently. */
  join(): Promise<KernelConnection | null>;
  delay(milliseconds: number): Promise<void>;
  monotonic(): number;
  readonly log: Log;
}

/** A kernel that ended sooner than this counts as failed: the next attempt waits longer. */
const servedMs = 5_000;
const firstBackoffMs = 100;
const longestBackoffMs = 5_000;
/** After this many failed kernels in a row, the waiting requests fail. */
const maxShortLives = 3;
/** While the kernel does not read, the client is not read either once this many bytes are queued. */
const pauseAboveBytes = 8 * 1024 * 1024;

/** Connects a relay to one kernel after another until it is disposed. */
export class KernelLoop implements Disposable {
  readonly #relay: Relay;
  readonly #ports: KernelLoopPorts;
  readonly #pauseClient: (isPaused: boolean) => void;
  #stream: (ByteSource & ByteSink) | null = null;
  #reader: FrameReader | null = null;
  #isDisposed = false;
  #wake: () => void = () => {};

  constructor(relay: Relay, ports: KernelLoopPorts, pauseClient: (isPaused: boolean) => void) {
    this.#relay = relay;
    this.#ports = ports;
    this.#pauseClient = pauseClient;
    relay.onRequestWaiting(() => this.#wake());
  }

  /** Runs until disposed; never rejects. */
  async run(): Promise<void> {
    let shortLives = 0;
    while (!this.#isDisposed) {
      try {
        const connection = await this.#ports.join();
        if (!connection || this.#isDisposed) {
          connection?.stream.destroy();
          return;
        }
        const joinedAt = this.#ports.monotonic();
        await this.#serve(connection);
        shortLives = this.#ports.monotonic() - joinedAt < servedMs ? shortLives + 1 : 0;
        if (this.#isDisposed) return;
        if (shortLives < maxShortLives) {
          if (shortLives > 1)
            await this.#ports.delay(Math.min(firstBackoffMs * 2 ** shortLives, longestBackoffMs));
          continue;
        }
        await this.#giveUp(
          `The workspace's kernel ended ${shortLives} times in a row, soon after it was joined; see its log.`,
        );
      } catch (error) {
        await this.#giveUp(messageOf(error));
      }
      shortLives = 0;
    }
  }

  /** While the client is slow, output stays in the kernel, which knows what it may drop. */
  pauseKernel(isPaused: boolean): void {
    if (isPaused) this.#reader?.pause();
    else this.#reader?.resume();
  }

  /** Disconnects from the kernel after everything queued for it was sent. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#reader?.[Symbol.dispose]();
    this.#stream?.end();
    this.#wake();
  }

  /** Fails all waiting requests, then waits for the next request before it tries again. */
  async #giveUp(reason: string): Promise<void> {
    if (this.#isDisposed) return;
    this.#ports.log.error(reason);
    this.#relay.failPending(reason);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = () => {};
  }

  #serve({ stream, pid }: KernelConnection): Promise<void> {
    const { log } = this.#ports;
    return new Promise((resolve) => {
      let isOver = false;
      const over = (reason: string | null): void => {
        if (isOver) return;
        isOver = true;
        this.#stream = null;
        // Messages that the old kernel sent already do not belong to the next kernel's session.
        this.#reader?.[Symbol.dispose]();
        this.#reader = null;
        stream.destroy();
        if (!this.#isDisposed)
          log.warn(`The kernel (process ${pid}) is gone${reason === null ? "" : `: ${reason}`}.`);
        this.#relay.kernelLost();
        this.#pauseClient(false);
        resolve();
      };
      const writer = new FrameWriter(stream, { closed: over, drained: () => this.#pauseClient(false) });
      this.#stream = stream;
      this.#reader = new FrameReader(
        stream,
        {
          message: (message, body) => {
            if (!this.#relay.fromKernel(message, body)) over("it refused the session");
          },
          // The frame does not say which request it answers, so all open requests are repeated or fail.
          refused: ({ message }) => over(`it sent a frame that cannot be read: ${message}`),
          closed: over,
        },
        kernelFrameLimits,
      );
      this.#relay.kernelJoined((message: Outgoing) => {
        writer.write(message instanceof Uint8Array ? message : JSON.stringify(message));
        if (writer.queuedBytes > pauseAboveBytes) this.#pauseClient(true);
      });
    });
  }
}
