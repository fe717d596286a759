import type { Disposable as VscodeDisposable, Event, Message, MessageReader } from "vscode-jsonrpc";
import { Emitter } from "../../base/emitter.ts";
import type { Log } from "../../base/log.ts";
import { isJsonObject } from "../../base/json.ts";
import { isMessageId, isNotification, type Refusal, type RpcMessage } from "../messages.ts";
import { FrameReader } from "./frame-reader.ts";
import { clientFrameLimits, type FrameLimits } from "./limits.ts";
import type { ByteSource } from "./streams.ts";

interface GuardedReaderOptions {
  /** Answers a refused frame. */
  readonly refused: (refusal: Refusal) => void;
  readonly log: Log;
  readonly limits?: FrameLimits;
}

/** Maximum number of delivered, unhandled messages; above it, reading pauses until half of them are handled. */
const maxBacklog = 256;

/** The framing guard as the reader of a vscode-jsonrpc connection. */
export function createGuardedReader(source: ByteSource, options: GuardedReaderOptions): MessageReader {
  const errors = new Emitter<Error>();
  const closes = new Emitter<void>();
  let reader: FrameReader | null = null;
  // The connection's queue is unbounded, and it handles one message per turn of the event loop, and so does this
  // count. A message that is never handled (cancelled in the queue) only makes the count temporarily too high.
  let backlog = 0;
  let isPaused = false;
  const handled = (): void => {
    backlog--;
    if (backlog > 0) setImmediate(handled);
    if (!isPaused || backlog > maxBacklog / 2) return;
    isPaused = false;
    reader?.resume();
  };
  const handedOn = (): void => {
    if (++backlog === 1) setImmediate(handled);
    if (isPaused || backlog <= maxBacklog) return;
    isPaused = true;
    reader?.pause();
  };
  return {
    onError: eventOf(errors),
    onClose: eventOf(closes),
    // An incomplete frame needs no report: it is bounded, and nothing after it is lost.
    onPartialMessage: () => ({ dispose() {} }),
    listen(callback) {
      reader = new FrameReader(
        source,
        {
          message(message) {
            handedOn();
            if (isUsable(message)) callback(message satisfies Message);
            else options.log.warn("A $/cancelRequest without an id was ignored.");
          },
          refused: options.refused,
          closed(reason) {
            if (reason !== null) options.log.warn(reason);
            closes.emit();
          },
        },
        options.limits ?? clientFrameLimits,
      );
      return { dispose: () => reader?.[Symbol.dispose]() };
    },
    dispose: () => reader?.[Symbol.dispose](),
  };
}

/** vscode-jsonrpc accesses a cancellation's params without checking that they exist. */
function isUsable(message: RpcMessage): boolean {
  if (!isNotification(message) || message.method !== "$/cancelRequest") return true;
  return isJsonObject(message.params) && isMessageId(message.params["id"]);
}

export function eventOf<T>(emitter: Emitter<T>): Event<T> {
  return (listener, thisArgument?: unknown): VscodeDisposable => {
    const subscription = emitter.on((event) => void listener.call(thisArgument, event));
    return { dispose: () => subscription[Symbol.dispose]() };
  };
}
