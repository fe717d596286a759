import { writeSync } from "node:fs";
import process from "node:process";
import { exitCodes } from "./exit-codes.ts";

const watched = new WeakSet<NodeJS.WriteStream>();
const stops = new WeakMap<NodeJS.WriteStream, () => void>();

/**
 * From now on, `stop` is called when the reader of an output has left, and the program continues until it ends by itself. What is
 * written meanwhile is dropped.
 */
export function stopWithReader(output: NodeJS.WriteStream, stop: () => void): void {
  stops.set(output, stop);
}

/**
 * Ends the program when its standard output cannot be written. A reader that has left (`lares traces | head`) is not an
 * error, unless `stopWithReader` says what to do then; anything else, such as a full disk, is said in a sentence. Remarks on
 * standard error that cannot be written are dropped.
 */
export function endWithOutput(output: NodeJS.WriteStream, errors: NodeJS.WriteStream): void {
  if (watched.has(output)) return;
  watched.add(output);
  errors.on("error", () => undefined);
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") {
      const stop = stops.get(output);
      return stop === undefined ? process.exit(exitCodes.ok) : stop();
    }
    try {
      writeSync(2, `error: ${lostOutput(error)}\n`);
    } catch {
      // Neither output can be written; only the exit code is left.
    }
    process.exit(exitCodes.failed);
  });
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "There is no space left on the device. Free some space, or write to another place.",
  EDQUOT: "Your quota of disk space is used up. Free some space, or write to another place.",
  EFBIG: "The file would become larger than is allowed. Write to another place.",
  EIO: "The device reports an error. If it was a terminal, it is gone; otherwise write to another place.",
};

/** Returns the sentence for an output that cannot be written. */
export function lostOutput({ code = "", message }: NodeJS.ErrnoException): string {
  const reason = reasons[code] ?? `${message.replaceAll(/\s+/g, " ")}. Write to another place.`;
  return `The output could not be written${code === "" ? "" : ` (${code})`}. ${reason}`;
}
