import sharp from "sharp";
import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../platform/clock.ts";
import { Thumbnails } from "./thumbnails.ts";
test("x", async () => {
  await using t = new Thumbnails({
    clock: systemClock,
    log: { ...silentLog, warn: console.log, error: console.log } as any,
  });
  const b = new Uint8Array(
    await sharp({ create: { width: 400, height: 300, channels: 3, background: "red" } })
      .jpeg()
      .toBuffer(),
  );
  const r = await t.make({
    agent: "a",
    path: "p",
    read: async (o) => ({ bytes: b.subarray(o), eof: true }),
    maxPx: 64,
    format: "rgba8",
    signal: new AbortController().signal,
  });
  expect(r).toMatchObject({ width: 64, height: 48 });
  console.log(r.bytes.slice(0, 4));
});
