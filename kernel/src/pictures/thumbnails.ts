import { unlessAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import { invalidParams, LaresError, limitExceeded } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import { pictureHead, type PictureHead } from "../base/pictures.ts";
import { type Deadline, DeadlineRunner } from "../platform/children/deadline-runner.ts";
import { thumbnailBounds as bounds } from "./bounds.ts";
import type { ThumbnailFormat, ThumbnailReply, ThumbnailRequest, WithBytes } from "./messages.ts";
import { startPictureProcess } from "./start-process.ts";

export interface ThumbnailOptions {
  /** The agent that asked; each has one picture decoded at a time. */
  readonly agent: string;
  /** The file's name in errors. */
  readonly path: string;
  /** Reads the file, as the agent may. */
  read(offset: number): Promise<{ readonly bytes: Uint8Array; readonly eof: boolean }>;
  readonly maxPx: number;
  readonly format: ThumbnailFormat;
  readonly signal: AbortSignal;
}

export interface Thumbnail {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

interface ThumbnailsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Limits in place of those of `thumbnailBounds`. */
  readonly limits?: Partial<Record<"maxCpuMs" | "idleMs", number>>;
}

/**
 * Makes thumbnails in a process of their own, one at a time. It starts with the first picture, and again after a picture
 * that ended it; it is ended when it has nothing to do for long.
 */
export class Thumbnails implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #limits: Record<"maxCpuMs" | "idleMs", number>;
  readonly #ofAgents = new OneAtATime({ limit: "thumbnails", most: bounds.maxOpenPerAgent });
  readonly #ofAll = new OneAtATime({ limit: "thumbnails", most: bounds.maxOpen });
  readonly #runner: DeadlineRunner<WithBytes<ThumbnailRequest>, WithBytes<ThumbnailReply>>;
  #idleTimer: Disposable | null = null;
  #pid: number | null = null;
  #isClosed = false;

  constructor({ clock, log, limits }: ThumbnailsOptions) {
    this.#clock = clock;
    this.#limits = { ...bounds, ...limits };
    this.#runner = new DeadlineRunner({
      start: (events) => startPictureProcess({ clock, log, events, started: (pid) => (this.#pid = pid) }),
      closed: () => new LaresError("Busy", "No thumbnail can be made: the kernel is shutting down."),
    });
  }

  /** The process, if one was started; it may have ended. */
  get pid(): number | null {
    return this.#pid;
  }

  /**
   * Reads the file and makes its thumbnail. Rejects as `read` does, with InvalidParams for what is no picture,
   * LimitExceeded for one that is too large or takes too long, and for too many at once, or with the signal's reason.
   */
  make(options: ThumbnailOptions): Promise<Thumbnail> {
    const { agent, signal } = options;
    // A decoding that began ends by itself or by its deadline; only its caller stops waiting.
    return unlessAborted(
      this.#ofAgents.run(
        agent,
        async () => {
          signal.throwIfAborted();
          const first = await readFirst(options);
          return await this.#ofAll.run("every agent", async () => {
            signal.throwIfAborted();
            return await this.#decode(options, first);
          });
        },
        () => !signal.aborted,
      ),
      signal,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#idleTimer?.[Symbol.dispose]();
    await this.#runner[Symbol.asyncDispose]();
  }

  async #decode(options: ThumbnailOptions, first: FirstPiece): Promise<Thumbnail> {
    const { path, maxPx, format } = options;
    const content = await readRest(options, first);
    const words: ThumbnailRequest = { type: first.head.media_type, maxPx, format };
    this.#idleTimer?.[Symbol.dispose]();
    try {
      const { words: reply, bytes } = await this.#runner.run({ words, bytes: content }, () =>
        this.#deadline(path),
      );
      if (reply.kind === "refused") throw refusal(path, reply);
      return checked(options, { width: reply.width, height: reply.height, bytes });
    } finally {
      if (!this.#isClosed)
        this.#idleTimer = this.#clock.timer(this.#limits.idleMs, () => void this.#runner.rest());
    }
  }

  #deadline(path: string): Deadline {
    const { maxCpuMs } = this.#limits;
    return {
      maxCpuMs,
      maxWallMs: bounds.maxWallMs,
      lookAfterMs: (leftMs) => Math.max(50, leftMs),
      overrun: () =>
        limitExceeded("thumbnail_ms", maxCpuMs, `${path} takes longer than ${maxCpuMs} ms to decode.`),
    };
  }
}

interface FirstPiece {
  readonly bytes: Uint8Array;
  readonly eof: boolean;
  readonly head: PictureHead;
}

/** Reads the file's beginning. Nothing but a picture is read to its end. */
async function readFirst({ path, read }: ThumbnailOptions): Promise<FirstPiece> {
  const { bytes, eof } = await read(0);
  const head = pictureHead(bytes);
  if (head === null)
    throw invalidParams(
      `${path} is not a picture of a type that is decoded: JPEG, PNG, WebP or GIF, by its content.`,
      { path: "path" },
    );
  const pixels = head.width * head.height;
  if (pixels > bounds.maxPixels)
    throw limitExceeded(
      "picture_pixels",
      pixels,
      `${path} has ${head.width} × ${head.height} pixels; a picture with at most ${bounds.maxPixels} pixels is decoded.`,
    );
  return { bytes, eof, head };
}

async function readRest(
  { path, read, signal }: ThumbnailOptions,
  { bytes: first, eof }: FirstPiece,
): Promise<Uint8Array> {
  const pieces = [first];
  let size = first.length;
  for (let isEnd = eof; !isEnd;) {
    signal.throwIfAborted();
    const piece = await read(size);
    pieces.push(piece.bytes);
    size += piece.bytes.length;
    if (size > bounds.maxFileBytes)
      throw limitExceeded(
        "picture_bytes",
        size,
        `${path} has more than ${bounds.maxFileBytes} bytes; larger pictures are not decoded.`,
      );
    isEnd = piece.eof || piece.bytes.length === 0;
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

function refusal(path: string, { why, message }: Extract<ThumbnailReply, { kind: "refused" }>): LaresError {
  const sentence = `${path} ${message}.`;
  return why === "pixels"
    ? limitExceeded("picture_pixels", bounds.maxPixels, sentence)
    : invalidParams(sentence, { path: "path" });
}

/** The process decodes a stranger's picture, so what it sends is checked. */
function checked({ path, maxPx, format }: ThumbnailOptions, thumbnail: Thumbnail): Thumbnail {
  const { width, height, bytes } = thumbnail;
  const isSized = [width, height].every((side) => Number.isInteger(side) && side >= 1 && side <= maxPx);
  if (isSized && (format === "jpeg" || bytes.length === width * height * 4)) return thumbnail;
  throw new LaresError("InternalError", `The thumbnail of ${path} does not have the size that it says.`);
}
