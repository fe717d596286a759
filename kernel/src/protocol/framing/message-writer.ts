import type { Message, MessageWriter } from "vscode-jsonrpc";
import { limitExceeded, messageOf } from "../../base/errors.ts";
import { Emitter } from "../../base/emitter.ts";
import { nestsDeeperThan } from "../../base/json-depth.ts";
import type { Log } from "../../base/log.ts";
import { toWireError } from "../errors.ts";
import { type Delivery, FrameWriter } from "./frame-writer.ts";
import { kernelFrameLimits, type QueueLimits } from "./limits.ts";
import { eventOf } from "./message-reader.ts";
import type { ByteSink } from "./streams.ts";

interface GuardedWriterOptions {
  readonly log: Log;
  readonly limits?: QueueLimits;
  /** Largest message that is sent, in bytes; an answer that is larger or nested too deeply becomes an error. */
  readonly maxFrameBytes?: number;
  /** How a notification is treated while the peer does not read; by default it must arrive. */
  readonly deliveryOf?: (method: string, params: unknown) => Delivery;
  /** Receives the number of dropped frames once the peer reads again. */
  readonly dropped?: (frames: number) => void;
}

interface GuardedWriter extends MessageWriter {
  readonly frames: FrameWriter;
}

/** A bounded, back-pressured writer for a vscode-jsonrpc connection. */
export function createGuardedWriter(sink: ByteSink, options: GuardedWriterOptions): GuardedWriter {
  const errors = new Emitter<[Error, Message | undefined, number | undefined]>();
  const closes = new Emitter<void>();
  const maxFrameBytes = options.maxFrameBytes ?? kernelFrameLimits.maxFrameBytes;
  const frames = new FrameWriter(sink, {
    ...(options.limits && { limits: options.limits }),
    ...(options.dropped && { dropped: options.dropped }),
    closed(reason) {
      if (reason !== null) options.log.warn(reason);
      closes.emit();
    },
  });
  return {
    frames,
    onError: eventOf(errors),
    onClose: eventOf(closes),
    async write(message) {
      const isAnswer = "id" in message && !("method" in message);
      if (frames.isClosed) {
        // Nobody waits for an answer any more, and the connection would log that it cannot send it.
        if (isAnswer) return;
        throw new Error("The connection is closed.");
      }
      try {
        const body = bodyOf(message, maxFrameBytes);
        frames.write(body, notificationDelivery(message, options.deliveryOf));
      } catch (error) {
        options.log.error("A message cannot be sent.", { reason: messageOf(error) });
        // The requester is waiting, so it receives the reason.
        if (!isAnswer) throw error;
        frames.write(JSON.stringify({ jsonrpc: "2.0", id: message.id, error: toWireError(error) }));
      }
    },
    end: () => frames.end(),
    dispose() {},
  };
}

const encoder = new TextEncoder();

function bodyOf(message: Message, maxFrameBytes: number): Uint8Array {
  const body = encoder.encode(JSON.stringify(message));
  if (body.length > maxFrameBytes) {
    throw limitExceeded(
      "maxFrameBytes",
      body.length,
      `The answer has ${body.length} bytes, over the limit of ${maxFrameBytes}; ask for less at a time.`,
    );
  }
  // The peer's reader has the same bound and would refuse it.
  const { maxJsonDepth } = kernelFrameLimits;
  if (nestsDeeperThan(body, maxJsonDepth)) {
    throw limitExceeded("maxJsonDepth", maxJsonDepth, `The answer nests deeper than ${maxJsonDepth} levels.`);
  }
  return body;
}

function notificationDelivery(message: Message, deliveryOf: GuardedWriterOptions["deliveryOf"]): Delivery {
  if (deliveryOf === undefined || !("method" in message) || "id" in message) return "must arrive";
  return deliveryOf(String(message.method), "params" in message ? message.params : undefined);
}
