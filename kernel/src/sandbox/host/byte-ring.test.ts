import { once } from "node:events";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ByteRing, newByteRing } from "./byte-ring.ts";

const moduleUrl = new URL("byte-ring.ts", import.meta.url).href;

test("bytes are read as written, in order, and never exceed the room", () => {
  const step = fc.record({ writes: fc.boolean(), size: fc.nat(40) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const ring = new ByteRing(newByteRing(32));
      let written = 0;
      let read = 0;
      for (const { writes, size } of steps) {
        if (writes) {
          const room = ring.writable;
          const source = Uint8Array.from({ length: size }, (_, at) => (written + at) & 0xff);
          const count = ring.write(source);
          expect(count).toBe(Math.min(size, room));
          written += count;
        } else {
          const target = new Uint8Array(size);
          const count = ring.read(target);
          expect(count).toBe(Math.min(size, written - read));
          expect([...target.subarray(0, count)]).toEqual(
            Array.from({ length: count }, (_, at) => (read + at) & 0xff),
          );
          read += count;
        }
        expect([ring.readable, ring.writable]).toEqual([written - read, 32 - (written - read)]);
      }
    }),
  );
});

test("its counts overflow without harm", () => {
  const buffer = newByteRing(8);
  // Just below the value at which the counts change their sign, as after 2 GiB.
  new Int32Array(buffer).fill(0x7fff_fffe, 0, 2);
  const ring = new ByteRing(buffer);
  for (let round = 0; round < 10; round++) {
    expect(ring.write(Uint8Array.of(round, round + 1, round + 2))).toBe(3);
    const target = new Uint8Array(8);
    expect(ring.read(target)).toBe(3);
    expect([...target.subarray(0, 3)]).toEqual([round, round + 1, round + 2]);
  }
});

test("a blocking and a non-blocking thread exchange every byte through small rings", async () => {
  const [there, back] = [new ByteRing(newByteRing(64)), new ByteRing(newByteRing(16))];
  const worker = new Worker(
    `import { workerData } from "node:worker_threads";
     const { ByteRing } = await import(workerData.moduleUrl);
     const [input, output] = [new ByteRing(workerData.there), new ByteRing(workerData.back)];
     const piece = new Uint8Array(23);
     for (;;) {
       input.waitReadable();
       const count = input.read(piece);
       if (count === 0 && input.isClosed) break;
       for (let at = 0; at < count;) {
         const wrote = output.write(piece.subarray(at, count));
         if (wrote === 0) output.waitWritable();
         at += wrote;
       }
     }
     output.close();`,
    { eval: true, workerData: { moduleUrl, there: there.buffer, back: back.buffer } },
  );
  const exited = once(worker, "exit");
  const total = 50_000;
  const send = async (): Promise<void> => {
    for (let sent = 0; sent < total;) {
      const source = Uint8Array.from({ length: Math.min(41, total - sent) }, (_, at) => (sent + at) % 251);
      const count = there.write(source);
      if (count === 0) await there.untilWritable();
      sent += count;
    }
    there.close();
  };
  const received: number[] = [];
  const receive = async (): Promise<void> => {
    const target = new Uint8Array(7);
    for (;;) {
      await back.untilReadable();
      const count = back.read(target);
      if (count === 0 && back.isClosed) return;
      received.push(...target.subarray(0, count));
    }
  };
  await Promise.all([send(), receive()]);
  await exited;
  expect(received).toEqual(Array.from({ length: total }, (_, at) => at % 251));
});

test("closing ends every wait, including waits that begin later", async () => {
  const ring = new ByteRing(newByteRing(4));
  const waiting = ring.untilReadable();
  ring.close();
  await waiting;
  await ring.untilReadable();
  ring.waitReadable();
});
