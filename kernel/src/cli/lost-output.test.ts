import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { endWithOutput, lostOutput, stopWithReader } from "./lost-output.ts";

const failed = (code: string, message: string) => lostOutput(Object.assign(new Error(message), { code }));

test.each([
  ["ENOSPC", "There is no space left"],
  ["EIO", "The device reports an error"],
  ["EWHAT", "what\u2423 is this"],
])("%s is said in one line", (code, words) => {
  const sentence = failed(code, "what\u2423\n is this");
  expect(sentence).toContain(`(${code})`);
  expect(sentence).toContain(words);
  expect(sentence).not.toContain("\n");
});

test("a reader that leaves stops the work where that is asked for, and does not end the program", () => {
  const output = new PassThrough() as unknown as NodeJS.WriteStream;
  endWithOutput(output, new PassThrough() as unknown as NodeJS.WriteStream);
  let stops = 0;
  stopWithReader(output, () => void (stops += 1));
  // Each later piece fails too.
  for (let piece = 0; piece < 2; piece++)
    output.emit("error", Object.assign(new Error("broken pipe"), { code: "EPIPE" }));
  expect(stops).toBe(2);
});
