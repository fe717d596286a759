import { deflateSync } from "node:zlib";
import sharp from "sharp";

/** Returns a picture of one colour. */
export function plain(width: number, height: number, background = "#3366cc"): sharp.Sharp {
  return sharp({ create: { width, height, channels: 3, background } });
}

/** A CRC-32 as PNG's chunks have it. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const all = Buffer.alloc(body.length + 8);
  all.writeUInt32BE(data.length, 0);
  body.copy(all, 4);
  all.writeUInt32BE(crc32(body), body.length + 4);
  return all;
}

/** A PNG with this many grey pixels in `compressed`, which may hold fewer, and more chunks before them. */
export function pngOf(
  width: number,
  height: number,
  compressed: Uint8Array,
  before: readonly (readonly [type: string, data: Uint8Array])[] = [],
): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    ...before.map(([type, data]) => chunk(type, data)),
    chunk("IDAT", compressed),
    chunk("IEND", new Uint8Array()),
  ]);
}

/** Black rows of a PNG, which compress to a thousandth. */
export function blackRows(width: number, height: number): Uint8Array {
  return deflateSync(Buffer.alloc((width + 1) * height), { level: 1 });
}

/** A text that takes 64 MiB when it is decompressed. */
export function textBomb(): readonly [type: string, data: Uint8Array] {
  const text = deflateSync(Buffer.alloc(64 * 1024 * 1024, "a"));
  return ["zTXt", Buffer.concat([Buffer.from("Comment\0\0", "latin1"), text])];
}

/** Puts EXIF data into a JPEG whose directories refer to themselves. */
export function withCircularExif(jpeg: Uint8Array): Uint8Array {
  const tiff = Buffer.alloc(64);
  tiff.write("II*\0", 0, "latin1");
  tiff.writeUInt32LE(8, 4);
  tiff.writeUInt16LE(2, 8);
  // Orientation 6, then the EXIF directory, which is this one again, and the next directory, which is this one too.
  for (const [at, [tag, type, value]] of [
    [0x0112, 3, 6],
    [0x8769, 4, 8],
  ].entries()) {
    const place = 10 + 12 * at;
    tiff.writeUInt16LE(tag ?? 0, place);
    tiff.writeUInt16LE(type ?? 0, place + 2);
    tiff.writeUInt32LE(1, place + 4);
    tiff.writeUInt32LE(value ?? 0, place + 8);
  }
  tiff.writeUInt32LE(8, 34);
  const exif = Buffer.concat([Buffer.from("Exif\0\0", "latin1"), tiff]);
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(exif.length + 2, 4);
  return Buffer.concat([head, exif, jpeg.subarray(2)]);
}

/** An animated GIF of 1 × 1 pixel. */
export function animatedGif(frames: number): Uint8Array {
  const head = Buffer.from("474946383961010001008000000000ffffffff", "hex");
  const frame = Buffer.from("21f90400010000002c00000000010001000002024c0100", "hex");
  return Buffer.concat([head, ...Array.from({ length: frames }, () => frame), Buffer.from([0x3b])]);
}
