import sharp from "sharp";
import { afterAll, expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../platform/clock.ts";
import { processCpuMs } from "../platform/processes/process-cpu.ts";
import { thumbnailBounds } from "./bounds.ts";
import {
  animatedGif,
  blackRows,
  plain,
  pngOf,
  textBomb,
  withCircularExif,
} from "./testing/hostile-pictures.ts";
import { type Thumbnail, type ThumbnailOptions, Thumbnails } from "./thumbnails.ts";

const start = (limits = {}): Thumbnails => new Thumbnails({ clock: systemClock, log: silentLog, limits });
const thumbnails = start();
afterAll(() => thumbnails[Symbol.asyncDispose]());

const pieceBytes = 262_144;

function make(
  content: Uint8Array,
  options: Partial<ThumbnailOptions> = {},
  maker = thumbnails,
): Promise<Thumbnail> {
  return maker.make({
    agent: "test.agent",
    path: "a.jpg",
    read: async (offset) => ({
      bytes: content.subarray(offset, offset + pieceBytes),
      eof: offset + pieceBytes >= content.length,
    }),
    maxPx: 64,
    format: "rgba8",
    signal: new AbortController().signal,
    ...options,
  });
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The colour of a pixel, with each channel rounded to the nearest of 0, 128 and 255. */
function pixel({ width, bytes }: Thumbnail, x: number, y: number): number[] {
  return [...bytes.subarray((y * width + x) * 4, (y * width + x) * 4 + 4)].map(
    (value) => Math.round(value / 127.5) * 127.5,
  );
}

test.each(["jpeg", "png", "webp", "gif"] as const)("a %s is decoded and made small", async (type) => {
  const thumbnail = await make(await plain(400, 300, "#ff0000").toFormat(type).toBuffer());
  expect(thumbnail).toMatchObject({ width: 64, height: 48 });
  expect(thumbnail.bytes).toHaveLength(64 * 48 * 4);
  expect(pixel(thumbnail, 5, 40)).toEqual([255, 0, 0, 255]);
});

test("a thumbnail as jpeg is one, without metadata, and white where the picture is transparent", async () => {
  const clear = sharp({ create: { width: 300, height: 900, channels: 4, background: "#00000000" } });
  const content = await clear
    .withExif({ IFD0: { Copyright: "Ada" } })
    .png()
    .toBuffer();
  const { width, height, bytes } = await make(content, { format: "jpeg", maxPx: 90 });
  expect([width, height]).toEqual([30, 90]);
  const metadata = await sharp(bytes).metadata();
  expect(metadata).toMatchObject({ format: "jpeg", width: 30, height: 90 });
  expect(metadata.exif).toBeUndefined();
  expect((await sharp(bytes).stats()).channels.every(({ min }) => min > 250)).toBe(true);
});

test("a small picture is not enlarged", async () => {
  expect(await make(await plain(3, 2).png().toBuffer(), { maxPx: 1024 })).toMatchObject({
    width: 3,
    height: 2,
  });
});

test("the orientation in a photo's EXIF data is applied", async () => {
  // Red on the left, blue on the right; orientation 6 is turned clockwise, so that red is at the top.
  const halves = plain(200, 100, "#0000ff").composite([
    { input: await plain(100, 100, "#ff0000").png().toBuffer(), left: 0, top: 0 },
  ]);
  const content = await halves.jpeg().withMetadata({ orientation: 6 }).toBuffer();
  const thumbnail = await make(content);
  expect(thumbnail).toMatchObject({ width: 32, height: 64 });
  expect(pixel(thumbnail, 16, 5)).toEqual([255, 0, 0, 255]);
  expect(pixel(thumbnail, 16, 58)).toEqual([0, 0, 255, 255]);
});

test("of an animation the first frame is taken, however many there are", async () => {
  expect(await make(animatedGif(20_000))).toMatchObject({ width: 1, height: 1 });
});

test("EXIF directories that refer to themselves are read once", async () => {
  expect(await make(withCircularExif(await plain(200, 100).jpeg().toBuffer()))).toMatchObject({
    width: 32,
    height: 64,
  });
});

const photo = await plain(1000, 800).jpeg().toBuffer();
/** Takes the process longer than anything else here. */
const slow = pngOf(10_000, 9_900, blackRows(10_000, 9_900));
const refused: [string, Uint8Array, string, string][] = [
  ["an empty file", new Uint8Array(), "InvalidParams", "a.jpg is not a picture"],
  ["a text", new TextEncoder().encode("Dear diary,"), "InvalidParams", "a.jpg is not a picture"],
  [
    "an SVG",
    new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'),
    "InvalidParams",
    "a.jpg is not a picture",
  ],
  ["a TIFF", await plain(9, 9).tiff().toBuffer(), "InvalidParams", "a.jpg is not a picture"],
  ["a header alone", photo.subarray(0, 3), "InvalidParams", "a.jpg cannot be decoded"],
  ["half a photo", photo.subarray(0, photo.length / 2), "InvalidParams", "a.jpg cannot be decoded"],
  [
    "a photo with a damaged frame header",
    photo.map((byte, at) => (at > 4 && at < 400 ? 0xff : byte)),
    "InvalidParams",
    "a.jpg cannot be decoded",
  ],
  ["a PNG without pixels", pngOf(5000, 5000, blackRows(1, 1)), "InvalidParams", "a.jpg cannot be decoded"],
  ["a PNG of no width", pngOf(0, 5, blackRows(0, 5)), "InvalidParams", "a.jpg cannot be decoded"],
  ["a PNG of 900 million pixels", pngOf(30_000, 30_000, blackRows(1, 1)), "LimitExceeded", "30000 × 30000"],
  [
    "a photo that hides its size behind a long segment, and is too large",
    hugeBehindSegments(),
    "LimitExceeded",
    "has more than 100000000 pixels",
  ],
];

/** The frame's header is not in the first piece, so that only the process sees the size. */
function hugeBehindSegments(): Uint8Array {
  const segment = Buffer.alloc(65_537);
  segment.set([0xff, 0xe2, 0xff, 0xff]);
  const frame = photo.indexOf(Buffer.from([0xff, 0xc0]));
  const rest = Buffer.from(photo.subarray(frame));
  rest.writeUInt16BE(40_000, 5);
  rest.writeUInt16BE(40_000, 7);
  return Buffer.concat([photo.subarray(0, frame), segment, segment, segment, segment, segment, rest]);
}

test.each(refused)("%s is refused, and the next picture is made by the same process", async (...row) => {
  const [, content, code, message] = row;
  await make(photo);
  const { pid } = thumbnails;
  await expect(make(content)).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  expect(await make(photo)).toMatchObject({ width: 64, height: 51 });
  expect(thumbnails.pid).toBe(pid);
});

test("a file is not read further once it has too many bytes, and nothing but a picture after its first piece", async () => {
  const offsets: number[] = [];
  const head = new Uint8Array(pieceBytes);
  head.set(photo.subarray(0, 600));
  const read = (bytes: Uint8Array) => async (offset: number) => {
    offsets.push(offset);
    return { bytes, eof: false };
  };
  await expect(make(head, { read: read(head) })).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "picture_bytes" },
  });
  expect(offsets.at(-1)).toBe(thumbnailBounds.maxFileBytes);
  offsets.length = 0;
  const text = new Uint8Array(pieceBytes);
  await expect(make(text, { read: read(text) })).rejects.toMatchObject({ code: "InvalidParams" });
  expect(offsets).toEqual([0]);
});

test("data that grow a thousandfold take no more memory than their pixels", async () => {
  expect(await make(pngOf(10_000, 9_000, blackRows(10_000, 9_000)))).toMatchObject({ width: 64, height: 58 });
  const bomb = pngOf(10, 10, blackRows(10, 10), [textBomb(), textBomb(), textBomb()]);
  expect(await make(bomb).catch((error: unknown) => error)).toMatchObject(
    // The library leaves the text out, or refuses it.
    { width: 10 },
  );
});

test("an error of reading is the call's error", async () => {
  const read = () => Promise.reject(new Error("It was taken away."));
  await expect(make(photo, { read })).rejects.toThrow("It was taken away.");
});

test("a picture that takes too long ends the process, and the next one gets another", async () => {
  await using maker = start({ maxCpuMs: 1 });
  const message = "a.jpg takes longer than 1 ms to decode.";
  await expect(make(slow, {}, maker)).rejects.toMatchObject({ code: "LimitExceeded", message });
  const pid = maker.pid ?? 0;
  await until("the process to end", () => !isAlive(pid));
  await expect(make(slow, {}, maker)).rejects.toMatchObject({ code: "LimitExceeded", message });
  expect(maker.pid).not.toBe(pid);
});

test("a process that is killed while it decodes costs that call alone", async () => {
  await using maker = start();
  await make(photo, {}, maker);
  const killed = maker.pid ?? 0;
  const beforeMs = processCpuMs(killed) ?? 0;
  const calls = Promise.allSettled([
    make(slow, {}, maker),
    make(photo, {}, maker),
    make(photo, { agent: "test.other" }, maker),
  ]);
  await until("the process to work", () => (processCpuMs(killed) ?? Infinity) - beforeMs >= 50);
  process.kill(killed, "SIGKILL");
  const [failed, ...others] = await calls;
  expect(failed).toMatchObject({
    status: "rejected",
    reason: { code: "LimitExceeded", message: expect.stringContaining("ended by SIGKILL") as string },
  });
  expect(others.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
  expect(maker.pid).not.toBe(killed);
});

test("a cancelled call ends at once, whether it waits or its picture is being decoded", async () => {
  await using maker = start();
  await make(photo, {}, maker);
  const { pid } = maker;
  const stop = new AbortController();
  const ended: string[] = [];
  const note = (name: string, call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => ended.push(name),
      () => ended.push(`${name}, cancelled`),
    );
  const beforeMs = processCpuMs(pid ?? 0) ?? 0;
  const calls = Promise.all([
    note("decoded", make(slow, { signal: stop.signal }, maker)),
    note("same agent", make(photo, { signal: stop.signal }, maker)),
    note("other agent", make(photo, { agent: "test.other", signal: stop.signal }, maker)),
    note("kept", make(photo, {}, maker)),
  ]);
  await until("the process to work", () => (processCpuMs(pid ?? 0) ?? Infinity) - beforeMs >= 50);
  stop.abort(new Error("no longer wanted"));
  await calls;
  expect(ended).toEqual(["decoded, cancelled", "same agent, cancelled", "other agent, cancelled", "kept"]);
  expect(maker.pid).toBe(pid);
});

test("an agent waits for a bounded number of thumbnails, and another agent for its own alone", async () => {
  await using maker = start();
  let read = (): void => undefined;
  const reading = new Promise<void>((resolve) => (read = resolve));
  const waiting = (): Promise<Thumbnail> =>
    make(photo, { read: () => reading.then(() => ({ bytes: photo, eof: true })) }, maker);
  const calls = Array.from({ length: thumbnailBounds.maxOpenPerAgent }, waiting);
  await expect(make(photo, {}, maker)).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "thumbnails" },
  });
  expect(await make(photo, { agent: "test.other" }, maker)).toMatchObject({ width: 64 });
  read();
  expect(await Promise.all(calls)).toHaveLength(thumbnailBounds.maxOpenPerAgent);
});

test("a process without work ends, and the next picture starts another", async () => {
  await using maker = start({ idleMs: 1 });
  expect(maker.pid).toBeNull();
  await make(photo, {}, maker);
  const pid = maker.pid ?? 0;
  await until("the process to end", () => !isAlive(pid));
  expect(await make(photo, {}, maker)).toMatchObject({ width: 64 });
  expect(maker.pid).not.toBe(pid);
});

test("closing ends the process; what is asked later is refused", async () => {
  const maker = start();
  await make(photo, {}, maker);
  const pid = maker.pid ?? 0;
  await maker[Symbol.asyncDispose]();
  expect(isAlive(pid)).toBe(false);
  await expect(make(photo, {}, maker)).rejects.toMatchObject({ code: "Busy" });
});
