import { describe, expect, test } from "vitest";
import { ByteRing, newByteRing } from "./byte-ring.ts";
import { pipeCalls } from "./guest-pipes.ts";

/** The calls over one page of memory, and the calls that were passed on to the SDK. */
function open() {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const view = new DataView(memory.buffer);
  const input = new ByteRing(newByteRing(64));
  const output = new ByteRing(newByteRing(64));
  const passedOn: string[] = [];
  const pass = (name: string) => (): number => {
    passedOn.push(name);
    return 42;
  };
  const sdk = {
    fd_read: pass("fd_read"),
    fd_write: pass("fd_write"),
    fd_close: pass("fd_close"),
    poll_oneoff: pass("poll_oneoff"),
    clock_time_get: (_clock: number, _precision: bigint, at: number) => {
      view.setBigUint64(at, 1_000_000_000n, true);
      return 0;
    },
  };
  const calls = pipeCalls(sdk, input, output, () => memory);
  const vector = (at: number, place: number, length: number): void => {
    view.setUint32(at, place, true);
    view.setUint32(at + 4, length, true);
  };
  const subscribe = (index: number, type: number, fields: { fd?: number; ns?: bigint; flags?: number }) => {
    const at = 1000 + index * 48;
    view.setBigUint64(at, BigInt(index + 70), true);
    view.setUint8(at + 8, type);
    view.setUint32(at + 16, fields.fd ?? 1, true);
    view.setBigUint64(at + 24, fields.ns ?? 0n, true);
    view.setUint16(at + 40, fields.flags ?? 0, true);
  };
  /** The results of `poll_oneoff`, as pairs of userdata and errno. */
  const poll = (count: number): [number, number][] => {
    expect(calls.poll_oneoff(1000, 3000, count, 8)).toBe(0);
    return Array.from({ length: view.getUint32(8, true) }, (_, index) => [
      Number(view.getBigUint64(3000 + index * 32, true)),
      view.getUint16(3000 + index * 32 + 8, true),
    ]);
  };
  return { memory, view, input, output, passedOn, calls, vector, subscribe, poll };
}

test("reading fills the buffers in order with the available bytes", () => {
  const { calls, input, view, vector } = open();
  vector(0, 100, 2);
  vector(8, 200, 0);
  vector(16, 300, 10);
  input.write(Uint8Array.of(1, 2, 3, 4, 5));
  expect(calls.fd_read(0, 0, 3, 40)).toBe(0);
  expect([view.getUint32(40, true), view.getUint16(100), view.getUint16(300), view.getUint8(302)]).toEqual([
    5, 0x0102, 0x0304, 5,
  ]);
});

test("writing sends the buffers in order", () => {
  const { calls, output, view, vector } = open();
  vector(0, 100, 2);
  vector(8, 300, 1);
  view.setUint16(100, 0x0a0b);
  view.setUint8(300, 0x0c);
  expect(calls.fd_write(1, 0, 2, 40)).toBe(0);
  const target = new Uint8Array(10);
  expect([view.getUint32(40, true), output.read(target), ...target.subarray(0, 3)]).toEqual([
    3, 3, 10, 11, 12,
  ]);
});

test("other descriptors are passed to the SDK, and so is a poll without stdin", () => {
  const { calls, passedOn, subscribe } = open();
  expect([calls.fd_read(3, 0, 1, 40), calls.fd_write(2, 0, 1, 40)]).toEqual([42, 42]);
  subscribe(0, 0, { ns: 5n });
  expect(calls.poll_oneoff(1000, 3000, 1, 8)).toBe(42);
  expect(passedOn).toEqual(["fd_read", "fd_write", "poll_oneoff"]);
});

test("a closed descriptor is invalid, and later input for it is discarded", () => {
  const { calls, input, passedOn } = open();
  expect([calls.fd_close(0), calls.fd_close(1), passedOn.length]).toEqual([42, 42, 2]);
  expect([calls.fd_read(0, 0, 0, 40), calls.fd_write(1, 0, 0, 40), input.isClosed]).toEqual([8, 8, true]);
});

describe("addresses outside the memory are EFAULT (21) and touch nothing", () => {
  const end = 65_536;
  test.each<[string, number, number, number]>([
    ["the vectors", end - 7, 1, 40],
    ["the vectors, as a negative number", -8, 1, 40],
    ["the last of many vectors", end - 800, 101, 40],
    ["a piece", 0, 1, 40],
    ["the answer", 16, 1, end - 3],
  ])("%s", (_name, vectors, count, answer) => {
    const { calls, input, output, vector } = open();
    input.write(Uint8Array.of(1));
    vector(0, end - 4, 5);
    vector(16, 100, 5);
    expect([calls.fd_read(0, vectors, count, answer), calls.fd_write(1, vectors, count, answer)]).toEqual([
      21, 21,
    ]);
    expect([input.readable, output.readable]).toEqual([1, 0]);
  });

  test("of a poll", () => {
    const { calls } = open();
    expect([
      calls.poll_oneoff(end - 47, 3000, 1, 8),
      calls.poll_oneoff(1000, end - 31, 1, 8),
      calls.poll_oneoff(1000, 3000, 1, end - 3),
      calls.poll_oneoff(1000, 3000, -1, 8),
      calls.poll_oneoff(1000, 3000, 0, 8),
    ]).toEqual([21, 21, 21, 28, 28]);
  });
});

test("buffers over the limit are ignored", () => {
  const { calls, input, view, vector } = open();
  for (let index = 0; index < 1100; index++) vector(10_000 + index * 8, 30_000 + index, 1);
  input.write(new Uint8Array(64).fill(9));
  expect([calls.fd_read(0, 10_000, 0x1fff, 40), view.getUint32(40, true)]).toEqual([0, 64]);
});

describe("polling stdin", () => {
  test("reports readable bytes at once, and not the timer", () => {
    const { input, poll, subscribe } = open();
    input.write(Uint8Array.of(1, 2));
    subscribe(0, 0, { ns: 3_600_000_000_000n });
    subscribe(1, 1, { fd: 0 });
    expect(poll(2)).toEqual([[71, 0]]);
  });

  test("waits for the nearest clock, relative or absolute", () => {
    const { poll, subscribe } = open();
    subscribe(0, 1, { fd: 0 });
    subscribe(1, 0, { ns: 3_600_000_000_000n });
    // The SDK's clock is at one second, so this is 2 ms later.
    subscribe(2, 0, { ns: 1_002_000_000n, flags: 1 });
    expect(poll(3)).toEqual([[72, 0]]);
    subscribe(2, 0, { ns: 1n });
    expect(poll(3)).toEqual([[72, 0]]);
  });

  test("a past time and the end of stdin do not wait", () => {
    const { input, poll, subscribe } = open();
    subscribe(0, 1, { fd: 0 });
    subscribe(1, 0, { ns: 1n, flags: 1 });
    expect(poll(2)).toEqual([[71, 0]]);
    subscribe(1, 0, { ns: 3_600_000_000_000n });
    input.close();
    expect(poll(2)).toEqual([[70, 0]]);
  });

  test("output is ready, and an invalid descriptor is an error", () => {
    const { poll, subscribe } = open();
    subscribe(0, 1, { fd: 0 });
    subscribe(1, 2, { fd: 1 });
    subscribe(2, 1, { fd: 5 });
    expect(poll(3)).toEqual([
      [71, 0],
      [72, 8],
    ]);
  });
});
