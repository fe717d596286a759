import { limitExceeded } from "../../base/errors.ts";
import { nestsDeeperThan } from "../../base/json-depth.ts";
import { toWireError } from "../errors.ts";
import { faultCodes, refusalOf, type Refusal, type RpcMessage } from "../messages.ts";
import { nextHeaderPhase, readHeader, type HeaderPhase } from "./header.ts";
import { clientFrameLimits, type FrameLimits } from "./limits.ts";
import { outlineOf } from "./outline.ts";
import { findLastSyncMark, findSyncMark, longestMark, partialSyncMarkLength } from "./sync-mark.ts";

/** Receives a decoder's findings, in the stream's order. */
interface FrameSink {
  /**
   * `body` is the message's original bytes, for forwarding. An answer that is nested too deeply is replaced by an
   * error, because its requester is waiting.
   */
  message(message: RpcMessage, body: Uint8Array): void;
  refused(refusal: Refusal): void;
  /** The stream is unreadable from here on; nothing more is read. */
  lost(reason: string): void;
}

type ParsedBody =
  | { readonly kind: "message"; readonly message: RpcMessage; readonly body: Uint8Array }
  | { readonly kind: "refused"; readonly refusal: Refusal };

const nothing = new Uint8Array(0);

/**
 * Splits a stream of bytes into JSON-RPC messages and resynchronizes after errors. An invalid frame is skipped
 * alone. After garbage or an implausible header, reading continues at the next line `Content-Length: …`, which
 * valid JSON cannot contain. Work is linear in the bytes received, however they are split; memory is bounded by
 * one frame.
 */
export class FrameDecoder {
  readonly #sink: FrameSink;
  readonly #limits: FrameLimits;
  readonly #utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** The unread input, next piece last. */
  readonly #input: Uint8Array[] = [];
  readonly #header: Uint8Array;
  #state: "header" | "body" | "skipping" | "lost" = "header";
  #phase: HeaderPhase = "line-start";
  #headerBytes = 0;
  #body = nothing;
  #bodyBytes = 0;
  #bodyLength = 0;
  #skippedTail: Uint8Array = nothing;
  #skippedBytes = 0;
  /** A body was refused and no frame has been read since: garbage directly after it belongs to the same error. */
  #isBehindRefusedBody = false;

  constructor(sink: FrameSink, limits: FrameLimits = clientFrameLimits) {
    this.#sink = sink;
    this.#limits = limits;
    this.#header = new Uint8Array(limits.maxHeaderBytes);
  }

  push(chunk: Uint8Array): void {
    this.#input.push(chunk);
    for (let bytes = this.#input.pop(); bytes !== undefined; bytes = this.#input.pop()) {
      if (bytes.length === 0) continue;
      if (this.#state === "lost") this.#input.length = 0;
      else if (this.#state === "header") this.#readHeader(bytes);
      else if (this.#state === "body") this.#readBody(bytes);
      else this.#skip(bytes);
    }
  }

  /** Describes an incomplete frame at the stream's end; null if it ended between two frames. */
  unfinished(): string | null {
    if (this.#state === "body")
      return `The stream ended inside a frame, after ${this.#bodyBytes} of ${this.#bodyLength} bytes.`;
    if (this.#state === "header" && this.#headerBytes > 0) return "The stream ended inside a frame's header.";
    return null;
  }

  #readHeader(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0;
      this.#phase = nextHeaderPhase(this.#phase, byte, this.#headerBytes === 0);
      this.#header[this.#headerBytes++] = byte;
      const isFull = this.#headerBytes === this.#header.length && this.#phase !== "complete";
      if (this.#phase !== "complete" && this.#phase !== "invalid" && !isFull) continue;

      this.#input.push(bytes.subarray(at + 1));
      const block = this.#header.slice(0, this.#headerBytes);
      if (this.#phase === "complete") this.#endHeader(block);
      else {
        const isGarbageBehindBody = this.#isBehindRefusedBody && !isFull;
        if (!isGarbageBehindBody)
          this.#refuse(
            isFull
              ? tooLongHeader(this.#limits)
              : 'These bytes are not a header of a frame: expected "Content-Length: …", lines ending in CRLF.',
          );
        this.#resume(block, findLastSyncMark(block));
      }
      return;
    }
  }

  #endHeader(block: Uint8Array): void {
    const reading = readHeader(new TextDecoder("latin1").decode(block));
    if (reading.kind === "refused") {
      this.#refuse(reading.reason);
      this.#resume(block, reading.ambiguous ? -1 : findLastSyncMark(block));
    } else if (reading.length > this.#limits.maxFrameBytes) {
      this.#refuse(
        `A frame of ${reading.length} bytes is over the limit of ${this.#limits.maxFrameBytes}; it is skipped.`,
      );
      this.#resume(block, -1);
    } else {
      this.#startHeader();
      this.#state = "body";
      this.#bodyBytes = 0;
      this.#bodyLength = reading.length;
      if (reading.length === 0) this.#endBody(nothing);
    }
  }

  #readBody(bytes: Uint8Array): void {
    const taken = bytes.subarray(0, this.#bodyLength - this.#bodyBytes);
    if (this.#isCutShort(bytes, taken)) return;
    if (taken.length < bytes.length) this.#input.push(bytes.subarray(taken.length));
    const isWholeInOnePiece = this.#bodyBytes === 0 && taken.length === this.#bodyLength;
    if (!isWholeInOnePiece) this.#append(taken);
    if (isWholeInOnePiece) this.#endBody(taken);
    else if (this.#bodyBytes === this.#bodyLength) this.#endBody(this.#body.subarray(0, this.#bodyLength));
  }

  /** True if the next frame's header is inside this one's body: the body was shorter than announced. */
  #isCutShort(bytes: Uint8Array, taken: Uint8Array): boolean {
    const seam = this.#body.subarray(Math.max(0, this.#bodyBytes - longestMark), this.#bodyBytes);
    const acrossSeam = findSyncMark(concatenated(seam, taken.subarray(0, longestMark)), seam.length);
    const mark = acrossSeam === -1 ? findSyncMark(taken) : acrossSeam - seam.length;
    if (acrossSeam === -1 && mark === -1) return false;
    const message = `A frame announced ${this.#bodyLength} bytes, but the next one begins after ${this.#bodyBytes + mark}.`;
    this.#sink.refused({ code: faultCodes.parseError, message, id: null });
    this.#input.push(bytes.subarray(Math.max(0, mark)));
    if (mark < 0) this.#input.push(seam.slice(mark));
    this.#body = nothing;
    this.#startHeader();
    return true;
  }

  #endBody(body: Uint8Array): void {
    this.#body = nothing;
    this.#startHeader();
    const parsed = this.#parse(body);
    if (parsed.kind === "message") {
      this.#isBehindRefusedBody = false;
      this.#sink.message(parsed.message, parsed.body);
      return;
    }
    this.#sink.refused(parsed.refusal);
    if (parsed.refusal.code !== faultCodes.parseError) return;
    this.#isBehindRefusedBody = true;
    const kept = partialSyncMarkLength(body);
    if (kept > 0) this.#input.push(body.slice(body.length - kept));
  }

  #parse(body: Uint8Array): ParsedBody {
    if (nestsDeeperThan(body, this.#limits.maxJsonDepth)) return tooDeep(body, this.#limits.maxJsonDepth);
    let value: unknown;
    try {
      value = JSON.parse(this.#utf8.decode(body));
    } catch (error) {
      const reason = error instanceof SyntaxError ? `no JSON (${error.message})` : "no UTF-8";
      const message = `A frame's body of ${body.length} bytes is ${reason}; does its Content-Length count bytes?`;
      return { kind: "refused", refusal: { code: faultCodes.parseError, message, id: null } };
    }
    const refusal = refusalOf(value);
    return refusal ? { kind: "refused", refusal } : { kind: "message", message: value as RpcMessage, body };
  }

  #skip(bytes: Uint8Array): void {
    const tail = this.#skippedTail;
    const joined = tail.length === 0 ? bytes : concatenated(tail, bytes);
    const mark = findSyncMark(joined, tail.length);
    if (mark !== -1) {
      this.#skippedTail = nothing;
      this.#input.push(joined.subarray(mark));
      this.#startHeader();
      return;
    }
    this.#skippedTail = joined.slice(joined.length - partialSyncMarkLength(joined));
    this.#skippedBytes += bytes.length;
    if (this.#skippedBytes <= this.#limits.maxSkippedBytes) return;
    this.#state = "lost";
    this.#sink.lost(
      `No frame's header in ${this.#skippedBytes} bytes; the stream cannot be followed any more.`,
    );
  }

  /** Continues after a refused header: at a mark inside it, else at the next one. */
  #resume(block: Uint8Array, mark: number): void {
    this.#startHeader();
    if (mark > 0) {
      this.#input.push(block.subarray(mark));
      return;
    }
    this.#state = "skipping";
    this.#skippedBytes = 0;
    // Not from the block's first byte, because the mark there was just refused.
    const rest = block.subarray(1);
    this.#skippedTail = rest.slice(rest.length - partialSyncMarkLength(rest));
  }

  #startHeader(): void {
    this.#state = "header";
    this.#phase = "line-start";
    this.#headerBytes = 0;
  }

  #refuse(message: string): void {
    this.#sink.refused({ code: faultCodes.invalidRequest, message, id: null });
  }

  /** Doubles as it fills, so that neither single bytes nor a false length cost more than the data received. */
  #append(bytes: Uint8Array): void {
    const needed = this.#bodyBytes + bytes.length;
    if (needed > this.#body.length) {
      const grown = new Uint8Array(Math.min(this.#bodyLength, Math.max(needed, this.#body.length * 2, 4096)));
      grown.set(this.#body.subarray(0, this.#bodyBytes));
      this.#body = grown;
    }
    this.#body.set(bytes, this.#bodyBytes);
    this.#bodyBytes = needed;
  }
}

function tooDeep(body: Uint8Array, maxJsonDepth: number): ParsedBody {
  const { id, hasMethod } = outlineOf(body);
  const text = `nests deeper than ${maxJsonDepth} levels`;
  if (id === null || hasMethod) {
    const refusal = { code: faultCodes.invalidRequest, message: `A message ${text}.`, id };
    return { kind: "refused", refusal };
  }
  const error = toWireError(limitExceeded("maxJsonDepth", maxJsonDepth, `The answer ${text}.`));
  const message: RpcMessage = { jsonrpc: "2.0", id, error };
  return { kind: "message", message, body: new TextEncoder().encode(JSON.stringify(message)) };
}

function tooLongHeader(limits: FrameLimits): string {
  return `A frame's header is longer than ${limits.maxHeaderBytes} bytes.`;
}

function concatenated(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}
