import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { blobLimits, GuestBlobs } from "./guest-blobs.ts";

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

test("a blob is written in pieces and read in any", () => {
  const blobs = new GuestBlobs();
  const id = blobs.write(bytes(1, 2));
  expect(blobs.write(bytes(3), id)).toBe(id);
  expect(blobs.read(id, 1, 1)).toMatchObject({ eof: false });
  expect([...blobs.read(id, 1, 9).bytes]).toEqual([2, 3]);
  expect(blobs.read(id, 3, 1)).toMatchObject({ bytes: { length: 0 }, eof: true });
  blobs.write(bytes(4), id);
  expect([...blobs.whole(id)]).toEqual([1, 2, 3, 4]);
});

test("an unknown blob and an offset after the end are refused", () => {
  const blobs = new GuestBlobs();
  expect(() => blobs.write(bytes(1), "x")).toThrow('There is no blob "x"');
  expect(() => blobs.read("x", 0, 1)).toThrow('There is no blob "x"');
  expect(() => blobs.read(blobs.write(bytes(1)), 2, 1)).toThrow("offset is 2");
});

test("bytes and number are bounded, refused blobs are not stored, and clearing makes room", () => {
  const blobs = new GuestBlobs();
  const large = new Uint8Array(blobLimits.bytes);
  const id = blobs.write(large);
  expect(() => blobs.write(bytes(1), id)).toThrow(
    expect.objectContaining({ code: "LimitExceeded", message: expect.stringContaining("64 MiB") as string }),
  );
  expect(blobs.whole(id)).toHaveLength(blobLimits.bytes);
  blobs.clear();
  expect(() => blobs.whole(id)).toThrow("There is no blob");
  for (let n = 0; n < blobLimits.count; n++) blobs.write(bytes());
  expect(() => blobs.write(bytes())).toThrow("1000 blobs");
});

test("what is on its way counts too, and clearing does not give it back", () => {
  const blobs = new GuestBlobs();
  const reserved = blobs.reserve(blobLimits.bytes - 1);
  blobs.clear();
  expect(() => blobs.reserve(2)).toThrow("64 MiB");
  const id = blobs.write(bytes(1));
  expect(() => blobs.write(bytes(1), id)).toThrow("64 MiB");
  reserved[Symbol.dispose]();
  blobs.write(bytes(1), id);
});

/** Bytes of the heap after garbage was collected. */
function heapInUse(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}

test("a blob in very many small pieces costs no more than its bytes", () => {
  const blobs = new GuestBlobs();
  const id = blobs.write(bytes());
  const before = heapInUse();
  for (let n = 0; n < 400_000; n++) blobs.write(Buffer.from(n % 4 === 0 ? "AQ==" : "", "base64"), id);
  expect(heapInUse() - before).toBeLessThan(24 * 1024 * 1024);
  expect(Buffer.alloc(100_000, 1).equals(blobs.whole(id))).toBe(true);
});
