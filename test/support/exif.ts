/** What is written into the EXIF of a JPEG. */
interface WrittenExif {
  /** "2024:05:01 13:45:10" */
  readonly taken?: string;
  readonly offset?: string;
  readonly at?: readonly [latitude: number, longitude: number];
  readonly orientation?: number;
  readonly make?: string;
  readonly model?: string;
  /** UTC by the GPS: ["2024:05:01", 11, 45, 10] */
  readonly gpsTime?: readonly [date: string, hours: number, minutes: number, seconds: number];
}

/** An entry of an EXIF directory: its tag, type, count and value. */
type Entry = readonly [tag: number, type: number, count: number, value: Buffer];

const text = (tag: number, value: string): Entry => {
  const bytes = Buffer.from(`${value}\0`, "latin1");
  return [tag, 2, bytes.length, bytes];
};
const short = (tag: number, value: number): Entry => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return [tag, 3, 1, bytes];
};
export const long = (tag: number, value: number): Entry => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return [tag, 4, 1, bytes];
};
const rationals = (tag: number, values: readonly (readonly [number, number])[]): Entry => {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [at, [numerator, denominator]] of values.entries()) {
    bytes.writeUInt32BE(numerator, at * 8);
    bytes.writeUInt32BE(denominator, at * 8 + 4);
  }
  return [tag, 5, values.length, bytes];
};
const degrees = (value: number): readonly (readonly [number, number])[] => {
  const seconds = Math.abs(value) * 3600;
  return [
    [Math.floor(seconds / 3600), 1],
    [Math.floor((seconds % 3600) / 60), 1],
    [Math.round((seconds % 60) * 10_000), 10_000],
  ];
};

/** A directory whose values follow it, at `offset` from the TIFF header; `next`: where it says another one is. */
export function directory(entries: readonly Entry[], offset: number, next = 0): Buffer {
  const head = Buffer.alloc(2 + entries.length * 12 + 4);
  const values: Buffer[] = [];
  let end = offset + head.length;
  head.writeUInt16BE(entries.length);
  for (const [index, [tag, type, count, value]] of entries.entries()) {
    const at = 2 + index * 12;
    head.writeUInt16BE(tag, at);
    head.writeUInt16BE(type, at + 2);
    head.writeUInt32BE(count, at + 4);
    if (value.length <= 4) value.copy(head, at + 8);
    else {
      head.writeUInt32BE(end, at + 8);
      values.push(value);
      end += value.length;
    }
  }
  head.writeUInt32BE(next, head.length - 4);
  return Buffer.concat([head, ...values]);
}

/** The TIFF header of a big-endian file whose first directory follows. */
export const tiffHeader = Buffer.from("4d4d002a00000008", "hex");

/** Returns the TIFF structure that EXIF consists of. */
export function exifOf({ taken, offset, at, orientation, make, model, gpsTime }: WrittenExif): Buffer {
  const camera = [
    ...(make === undefined ? [] : [text(0x010f, make)]),
    ...(model === undefined ? [] : [text(0x0110, model)]),
    ...(orientation === undefined ? [] : [short(0x0112, orientation)]),
  ];
  const picture = [
    ...(taken === undefined ? [] : [text(0x9003, taken)]),
    ...(offset === undefined ? [] : [text(0x9011, offset)]),
  ];
  const gps = [
    ...(at === undefined
      ? []
      : [
          text(1, at[0] < 0 ? "S" : "N"),
          rationals(2, degrees(at[0])),
          text(3, at[1] < 0 ? "W" : "E"),
          rationals(4, degrees(at[1])),
        ]),
    ...(gpsTime === undefined
      ? []
      : [
          rationals(7, [
            [gpsTime[1], 1],
            [gpsTime[2], 1],
            [gpsTime[3], 1],
          ]),
          text(0x1d, gpsTime[0]),
        ]),
  ];
  // The first directory has the same length whatever the pointers say.
  const withPointers = (exif: number, position: number): Buffer =>
    directory([...camera, long(0x8769, exif), long(0x8825, position)], 8);
  const exifAt = 8 + withPointers(0, 0).length;
  const exif = directory(picture, exifAt);
  const gpsAt = exifAt + exif.length;
  return Buffer.concat([tiffHeader, withPointers(exifAt, gpsAt), exif, directory(gps, gpsAt)]);
}

/** Returns the JPEG with this TIFF structure as its EXIF, in place of what it had. */
export function withExif(jpeg: Uint8Array, tiff: Uint8Array): Buffer {
  const bytes = Buffer.from(jpeg);
  const parts: Buffer[] = [];
  let at = 2;
  // Segments before the picture itself, without EXIF and XMP.
  while (bytes[at] === 0xff && bytes[at + 1] !== 0xda) {
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    if (bytes[at + 1] !== 0xe1) parts.push(bytes.subarray(at, end));
    at = end;
  }
  const head = Buffer.from("ffe100004578696600 00".replaceAll(" ", ""), "hex");
  head.writeUInt16BE(2 + 6 + tiff.length, 2);
  return Buffer.concat([bytes.subarray(0, 2), head, tiff, ...parts, bytes.subarray(at)]);
}

/** Returns the JPEG with this XMP as its first segment. */
export function withXmp(jpeg: Uint8Array, xmp: string): Buffer {
  const body = Buffer.from(`http://ns.adobe.com/xap/1.0/\0${xmp}`);
  const head = Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(body.length + 2, 4);
  return Buffer.concat([head, body, jpeg.subarray(2)]);
}
