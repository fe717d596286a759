import { expect, test } from "vitest";
import { silentLog } from "../../base/log.ts";
import { echo, wat } from "../testing/wat.ts";
import { runPreparation } from "./preparation.ts";
import { PreparedCache } from "./prepared-cache.ts";

test("a preparation that takes too long is terminated, and the module refused", async () => {
  const bytes = new Uint8Array(await wat(echo));
  expect(await runPreparation(bytes, 16, 1)).toEqual({
    ok: false,
    code: "tooLarge",
    message: "Preparing the module took longer than 1 ms.",
  });
});

test("each module is prepared once per memory maximum, even for concurrent requests; failures are not cached", async () => {
  const cache = new PreparedCache(undefined, silentLog);
  const input = new Uint8Array([1, 2, 3]);
  let count = 0;
  const prepare = async (): Promise<Uint8Array> => {
    if (++count === 1) throw new Error("no");
    return new Uint8Array([count]);
  };
  await expect(cache.get(input, 16, prepare)).rejects.toThrow("no");
  const [first, second] = await Promise.all([cache.get(input, 16, prepare), cache.get(input, 16, prepare)]);
  const other = await cache.get(input, 32, prepare);
  expect([first, second, other].map(({ bytes }) => bytes[0])).toEqual([2, 2, 3]);
  expect(new Set([first, second, other].map(({ key }) => key)).size).toBe(2);
});
