/** The time and place that a camera wrote into a JPEG. */
interface Taken {
  /** ISO 8601. Cameras store no time zone, so UTC is assumed. */
  readonly time?: string;
  /** Latitude and longitude in degrees. */
  readonly at?: readonly [number, number];
}

/** The number of bytes at the beginning of a file that contain this data. */
export const headBytes = 65_536;

const tags = { exif: 0x8769, gps: 0x8825, original: 0x9003 };
const gpsTags = { latitudeRef: 1, latitude: 2, longitudeRef: 3, longitude: 4 };
const types = { ascii: 2, rational: 5 };

/** Returns nothing for a file without EXIF or with damaged EXIF, because the file may come from anywhere. */
export function takenOf(head: Uint8Array): Taken {
  try {
    return read(head);
  } catch (error) {
    // DataView throws this for an offset outside the data.
    if (error instanceof RangeError) return {};
    throw error;
  }
}

function read(head: Uint8Array): Taken {
  const start = exifStart(head);
  if (start === null) return {};
  const tiff = new DataView(head.buffer, head.byteOffset + start, head.length - start);
  const little = tiff.getUint16(0) === 0x4949;
  const u16 = (at: number): number => tiff.getUint16(at, little);
  const u32 = (at: number): number => tiff.getUint32(at, little);
  /** Returns the offset of the entry with this tag. */
  const entry = (directory: number, tag: number): number | null => {
    for (let index = 0, count = u16(directory); index < count; index++) {
      const at = directory + 2 + 12 * index;
      if (u16(at) === tag) return at;
    }
    return null;
  };
  const directory = (tag: number): number | null => {
    const at = entry(u32(4), tag);
    return at === null ? null : u32(at + 8);
  };
  const text = (inside: number, tag: number): string => {
    const at = entry(inside, tag);
    if (at === null || u16(at + 2) !== types.ascii) return "";
    const length = u32(at + 4);
    const from = length <= 4 ? at + 8 : u32(at + 8);
    return Array.from({ length: Math.min(length, 32) }, (_, index) => tiff.getUint8(from + index))
      .filter((byte) => byte !== 0)
      .map((byte) => String.fromCharCode(byte))
      .join("");
  };
  /** Reads degrees, minutes and seconds, each a fraction. */
  const degrees = (inside: number, tag: number): number => {
    const at = entry(inside, tag);
    if (at === null || u16(at + 2) !== types.rational) return Number.NaN;
    const part = (index: number): number => u32(u32(at + 8) + 8 * index) / u32(u32(at + 8) + 8 * index + 4);
    return part(0) + part(1) / 60 + part(2) / 3600;
  };

  const exif = directory(tags.exif);
  const gps = directory(tags.gps);
  const time = exif === null ? null : timeOf(text(exif, tags.original));
  const at =
    gps === null ? null : ([degrees(gps, gpsTags.latitude), degrees(gps, gpsTags.longitude)] as const);
  const south = gps !== null && text(gps, gpsTags.latitudeRef) === "S" ? -1 : 1;
  const west = gps !== null && text(gps, gpsTags.longitudeRef) === "W" ? -1 : 1;
  const isPlace = at !== null && Math.abs(at[0]) <= 90 && Math.abs(at[1]) <= 180;
  return {
    ...(time === null ? {} : { time }),
    ...(isPlace ? { at: [at[0] * south, at[1] * west] } : {}),
  };
}

/** Returns the offset of the TIFF structure that contains the EXIF data. */
function exifStart(head: Uint8Array): number | null {
  if (head[0] !== 0xff || head[1] !== 0xd8) return null;
  for (let at = 2; at + 10 < head.length && head[at] === 0xff;) {
    const name = String.fromCharCode(...head.subarray(at + 4, at + 8));
    if (head[at + 1] === 0xe1 && name === "Exif") return at + 10;
    at += 2 + (head[at + 2] ?? 0) * 256 + (head[at + 3] ?? 0);
  }
  return null;
}

/** Parses "2024:07:19 12:30:00". */
function timeOf(text: string): string | null {
  const iso = text.replace(/^(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)$/, "$1-$2-$3T$4.000Z");
  return Number.isNaN(Date.parse(iso)) || new Date(iso).toISOString() !== iso ? null : iso;
}
