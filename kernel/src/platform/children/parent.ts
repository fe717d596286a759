import process from "node:process";
import { messageOf } from "../../base/errors.ts";
import type { ReadyMessage } from "./child.ts";
import { removeNetworkGlobals } from "../network.ts";
import { openParentChannel } from "./child-process.ts";
import { FrameReader, readWords, wordsFrame, wordsType } from "./frames.ts";

interface ParentOptions<FromParent> {
  readonly maxFrameBytes: number;
  /** `bytes` are valid only during the call. A failure is the child's own fault and ends it. */
  receive(words: FromParent, bytes: Uint8Array): void | Promise<void>;
  /** Receives frames of the room's own types. */
  receiveFrame?(type: number, stream: number, payload: Uint8Array): void;
}

export interface Parent<ToParent> {
  send(words: ToParent, bytes?: Uint8Array): void;
  /** Sends frames of the room's own types. */
  write(...frames: readonly Uint8Array[]): void;
  /** Reports that requests are accepted from now on. */
  ready(): void;
  /** Reports a fault of the child's own and ends the process; the parent starts another. */
  fail(error: unknown): never;
}

/** For the entry file of a `Child`: serves the parent, and ends this process with it. */
export function serveParent<ToParent, FromParent>(options: ParentOptions<FromParent>): Parent<ToParent> {
  removeNetworkGlobals();
  const channel = openParentChannel();
  const reader = new FrameReader(options.maxFrameBytes, (type, stream, payload) => {
    if (type !== wordsType) {
      if (options.receiveFrame === undefined) throw new RangeError(`A frame of unknown type ${type}.`);
      return options.receiveFrame(type, stream, payload);
    }
    const { words, bytes } = readWords(payload);
    // Only the parent writes here, so the message has its declared type.
    const done = options.receive(words as FromParent, bytes);
    if (done instanceof Promise) done.catch(fail);
  });
  channel.chunks.on((chunk) => {
    try {
      reader.push(chunk);
    } catch (error) {
      fail(error);
    }
  });
  // Without a parent, nobody receives answers.
  void channel.closed.then(() => process.exit(0));
  const write = (...frames: readonly Uint8Array[]): void => channel.write(...frames);
  return {
    send: (words, bytes) => write(...wordsFrame(words, bytes)),
    write,
    ready: () => write(...wordsFrame({ kind: "ready" } satisfies ReadyMessage)),
    fail,
  };
}

function fail(error: unknown): never {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exit(1);
}
