import type { Clock } from "../base/clock.ts";
import { LaresError, limitExceeded, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { Child } from "../platform/children/child.ts";
import { packagesOnTheWay, startChildProcess } from "../platform/children/child-process.ts";
import { type Carrier, type CarrierEvents, processCarrier } from "../platform/children/deadline-runner.ts";
import { siblingModule } from "../platform/files/sibling-module.ts";
import { thumbnailBounds as bounds } from "./bounds.ts";
import type { ThumbnailReply, ThumbnailRequest, WithBytes } from "./messages.ts";

interface StartOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly events: CarrierEvents<WithBytes<ThumbnailReply>>;
  started(pid: number): void;
}

/** Starts the process that decodes pictures. */
export async function startPictureProcess({
  clock,
  log,
  events,
  started,
}: StartOptions): Promise<Carrier<WithBytes<ThumbnailRequest>>> {
  try {
    const packages = packagesOnTheWay("@img/sharp-wasm32", import.meta.url);
    if (packages.length === 0)
      throw new Error("the package @img/sharp-wasm32 is not installed. Run: npm install");
    const process = await startChildProcess({
      entry: siblingModule(import.meta.url, "picture-process"),
      preload: siblingModule(import.meta.url, "node-constants"),
      readable: [new URL("../", import.meta.url), ...packages],
      // The library's WebAssembly has threads. It has no native code.
      workers: true,
      maxHeapMb: bounds.maxHeapMb,
    });
    const child = new Child<ThumbnailRequest, ThumbnailReply>(process, {
      name: "picture process",
      log,
      clock,
      maxFrameBytes: bounds.maxFrameBytes,
      receive: (words, bytes) => events.replied({ words, bytes: bytes.slice() }),
    });
    void child.ended.then((how) => {
      const message = `The thumbnail was not made: the process that decodes pictures ${child.lastWords(how)}.`;
      events.ended(limitExceeded("thumbnail_process", bounds.maxHeapMb, message));
    });
    await child.ready;
    started(child.pid);
    return processCarrier(child, ({ words, bytes }) => child.send(words, bytes));
  } catch (error) {
    throw new LaresError(
      "InternalError",
      `The process that decodes pictures did not start: ${messageOf(error)}`,
      {},
      { cause: error },
    );
  }
}
