import { expect, test } from "vitest";
import { lostOutput } from "./lost-output.ts";

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
