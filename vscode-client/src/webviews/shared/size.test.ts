import { expect, it } from "vitest";
import { size } from "./size.ts";

it.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1536, "1.5 KiB"],
  [150 * 1024 ** 2, "150 MiB"],
  [4.2 * 1024 ** 3, "4.2 GiB"],
])("%d bytes are %s", (bytes, words) => {
  expect(size(bytes)).toBe(words);
});
