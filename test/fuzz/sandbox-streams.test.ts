import fc from "fast-check";
import { expect } from "vitest";
import { ByteRing, newByteRing } from "../../kernel/src/sandbox/host/byte-ring.ts";
import { frame, FrameReader, readWords, wordsFrame } from "../../kernel/src/platform/children/frames.ts";
import { LineSplitter } from "../../kernel/src/sandbox/host/line-splitter.ts";
import { chunked, cuts, joined } from "./support/bytes.ts";
import { fuzz } from "./support/campaign.ts";

const target = "sandbox-streams";
const longestLine = 40;

fuzz({
  target,
  property: "bytes become lines as a simple reader makes them, too long ones end it, however they are cut",
  arbitrary: fc.record({
    bytes: fc
      .array(
        fc.oneof(
          fc.constantFrom(0x0a, 0x0a, 0x0d, 0xef, 0xbb, 0xbf, 0xff, 0xc3, 0xa9, 0xf0, 0x9f, 0x8f, 0xba),
          fc.nat(255),
        ),
        { maxLength: 300 },
      )
      .map((all) => Uint8Array.from(all)),
    cuts,
  }),
  runs: 8000,
  check: ({ bytes, cuts }) => {
    const splitter = new LineSplitter(longestLine);
    const heard: string[] = [];
    let isTooLong = false;
    for (const chunk of chunked(bytes, cuts)) {
      const lines = splitter.push(chunk);
      if (lines === null) isTooLong = true;
      if (isTooLong) break;
      heard.push(...(lines ?? []));
    }
    const parts: Uint8Array[] = [];
    let start = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, start)) {
      parts.push(bytes.subarray(start, end));
      start = end + 1;
    }
    const pieces = [...parts, bytes.subarray(start)];
    expect(isTooLong).toBe(pieces.some((piece) => piece.length > longestLine));
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const expected = parts.map((part) => decoder.decode(part));
    // Where one is too long, those before it in the same chunk go with it: the guest is ended.
    if (isTooLong) expect(expected.slice(0, heard.length)).toEqual(heard);
    else expect(heard).toEqual(expected);
  },
});

const largestPayload = 300;

fuzz({
  target,
  property: "frames arrive whole and in order, and one over the bound is refused before it is collected",
  arbitrary: fc.record({
    frames: fc.array(
      fc.record({
        type: fc.nat(255),
        guest: fc.nat(2 ** 32 - 1),
        payload: fc.uint8Array({ maxLength: 320, size: "max" }),
      }),
      { maxLength: 8 },
    ),
    cuts,
  }),
  runs: 4000,
  check: ({ frames, cuts }) => {
    const stream = joined(frames.flatMap(({ type, guest, payload }) => frame(type, guest, payload)));
    const heard: unknown[] = [];
    const reader = new FrameReader(largestPayload, (type, guest, payload) =>
      heard.push({ type, guest, payload: payload.slice() }),
    );
    let refusal: unknown = null;
    try {
      for (const chunk of chunked(stream, cuts)) reader.push(chunk);
    } catch (error) {
      refusal = error;
    }
    const firstOver = frames.findIndex(({ payload }) => payload.length > largestPayload);
    expect(heard).toEqual(firstOver < 0 ? frames : frames.slice(0, firstOver));
    if (firstOver < 0) expect(refusal).toBeNull();
    else expect(refusal).toBeInstanceOf(RangeError);
  },
});

fuzz({
  target,
  property: "words and bytes of a control frame come out as they went in",
  arbitrary: fc.record({ words: fc.jsonValue(), bytes: fc.uint8Array({ maxLength: 200 }) }),
  runs: 3000,
  check: ({ words, bytes }) => {
    const payload = joined(wordsFrame(words, bytes)).subarray(9);
    const read = readWords(payload);
    expect(read.words).toEqual(JSON.parse(JSON.stringify(words)));
    expect(new Uint8Array(read.bytes)).toEqual(bytes);
  },
});

fuzz({
  target,
  property: "the ring gives back what it took, in order, over many turns and past the counters' end",
  arbitrary: fc.record({
    size: fc.constantFrom(1, 2, 32, 64),
    start: fc.constantFrom(0, 2 ** 31 - 20, 2 ** 32 - 20),
    steps: fc.array(fc.record({ writes: fc.boolean(), count: fc.nat(70) }), { maxLength: 120 }),
  }),
  runs: 2500,
  check: ({ size, start, steps }) => {
    const buffer = newByteRing(size);
    new Int32Array(buffer, 0, 2).fill(start | 0);
    const [writer, reader] = [new ByteRing(buffer), new ByteRing(buffer)];
    const waiting: number[] = [];
    let next = 0;
    for (const { writes, count } of steps) {
      if (writes) {
        const bytes = Uint8Array.from({ length: count }, () => next++ & 0xff);
        const taken = writer.write(bytes);
        expect(taken).toBe(Math.min(count, size - waiting.length));
        waiting.push(...bytes.subarray(0, taken));
      } else {
        const bytes = new Uint8Array(count);
        const given = reader.read(bytes);
        expect([...bytes.subarray(0, given)]).toEqual(waiting.splice(0, count));
      }
      expect([reader.readable, writer.writable]).toEqual([waiting.length, size - waiting.length]);
    }
  },
});
