import fc from "fast-check";
import { expect, test } from "vitest";
import { frame, FrameReader, readWords, wordsFrame } from "./frames.ts";

/** The bytes, cut where the numbers say. */
function* pieces(bytes: Uint8Array, cuts: readonly number[]): Generator<Uint8Array> {
  let start = 0;
  for (const cut of cuts.map((at) => at % (bytes.length + 1)).toSorted((a, b) => a - b)) {
    yield bytes.slice(start, cut);
    start = cut;
  }
  yield bytes.slice(start);
}

test("frames come out as they went in, however the stream is cut", () => {
  const someFrame = fc.tuple(fc.nat(255), fc.nat(2 ** 32 - 1), fc.uint8Array({ maxLength: 300 }));
  fc.assert(
    fc.property(fc.array(someFrame), fc.array(fc.nat(3000)), (frames, cuts) => {
      const bytes = new Uint8Array(
        frames.flatMap(([type, stream, payload]) =>
          frame(type, stream, payload).flatMap((part) => [...part]),
        ),
      );
      const received: unknown[] = [];
      const reader = new FrameReader(300, (type, stream, payload) =>
        received.push([type, stream, payload.slice()]),
      );
      for (const piece of pieces(bytes, cuts)) reader.push(piece);
      expect(received).toEqual(frames);
    }),
  );
});

test("a frame over the bound is refused before it is collected", () => {
  const reader = new FrameReader(100, () => {});
  const [start = new Uint8Array()] = frame(3, 1, new Uint8Array(101));
  expect(() => reader.push(start.subarray(0, 9))).toThrow(/101 bytes/);
});

test("words and bytes travel together", () => {
  const payload = new Uint8Array(
    wordsFrame({ kind: "x", text: "ä" }, new Uint8Array([1, 2])).flatMap((part) => [...part]),
  ).slice(9);
  const { words, bytes } = readWords(payload);
  expect([words, [...bytes]]).toEqual([{ kind: "x", text: "ä" }, [1, 2]]);
});

test("words with many bytes are not copied, and arrive whole", () => {
  const bytes = new Uint8Array(100_000).fill(7);
  const parts = wordsFrame({ kind: "x" }, bytes);
  expect(parts).toContain(bytes);
  const received: unknown[] = [];
  const reader = new FrameReader(200_000, (_type, _stream, payload) => {
    const { words, bytes } = readWords(payload);
    received.push(
      words,
      bytes.length,
      bytes.every((byte) => byte === 7),
    );
  });
  for (const part of parts) reader.push(part);
  expect(received).toEqual([{ kind: "x" }, 100_000, true]);
});
