import { expect, test } from "vitest";
import { tinyLlama } from "../../testing/tiny-llama.ts";
import { NotGguf, readGgufHead } from "./gguf.ts";

async function headOf(bytes: Uint8Array, sizeBytes = bytes.length): Promise<unknown> {
  try {
    return await readGgufHead({
      sizeBytes,
      read: async (offset, length) => bytes.slice(offset, offset + length),
    });
  } catch (error) {
    if (!(error instanceof NotGguf)) throw error;
    return error.message;
  }
}

const whole = tinyLlama({ contextTokens: 512 });
const changed = (at: number, ...bytes: readonly number[]): Uint8Array => {
  const copy = whole.slice();
  copy.set(bytes, at);
  return copy;
};
const ones = [255, 255, 255, 255, 255, 255, 255, 255];

test("a model's head names its architecture and its window", async () => {
  expect(await headOf(whole)).toEqual({ architecture: "llama", contextTokens: 512 });
});

test.each<[string, Uint8Array, RegExp]>([
  ["nothing", new Uint8Array(), /^is cut off: it ends after 0 bytes/],
  [
    "a text",
    Buffer.from("Not a model at all.".repeat(10)),
    /^is not a GGUF file: it does not begin with "GGUF"\./,
  ],
  ["zeros", new Uint8Array(4096), /^is not a GGUF file/],
  ["another version", changed(4, 9), /^is a GGUF file of version 9, and only 2 and 3/],
  ["the other byte order", changed(4, 0, 0, 0, 3), /^is a GGUF file of version/],
  ["tensors without number", changed(8, ...ones), /^is damaged: it would have \d+ tensors/],
  ["fields without number", changed(16, ...ones), /^is damaged: it would have \d+ fields/],
  ["a name without end", changed(24, ...ones), /^is cut off/],
  [
    "a file that ends in its head",
    whole.slice(0, 5000),
    /^is cut off: it ends after 5000 bytes, within its head/,
  ],
  [
    "a file that ends in its weights",
    whole.slice(0, -100),
    /^is cut off: it has \d+ bytes, and its tensors end at \d+/,
  ],
])("%s is not a model", async (_what, bytes, sentence) => {
  expect(await headOf(bytes)).toMatch(sentence);
});

test("whatever a byte is changed to, the head is read or refused, and never more than its bound", async () => {
  const head = whole.slice(0, 1200);
  for (let at = 0; at < head.length; at += 3)
    for (const value of [0, 0x80, 0xff]) {
      const result = await headOf(changed(at, value));
      expect(typeof result === "string" || typeof result === "object").toBe(true);
    }
});
