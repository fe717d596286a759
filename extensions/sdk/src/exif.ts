import ExifReader, { type ExpandedTags, type IncludeTagsOptions } from "exifreader";

/** Facts about a photo from its metadata. Missing and implausible values are left out. */
export interface ExifFacts {
  /** When it was taken, by the camera's clock: "2024-05-01T13:45:10". */
  readonly taken?: string;
  /** Minutes that the camera's clock was ahead of UTC, if the file says so, or its GPS does. */
  readonly offsetMinutes?: number;
  /** Latitude and longitude in degrees. */
  readonly position?: readonly [latitude: number, longitude: number];
  /** 1 to 8, as EXIF counts: 1 is upright, 6 has to be turned clockwise by 90 degrees. */
  readonly orientation?: number;
  /** Pixels as they are stored, before the orientation is applied. */
  readonly width?: number;
  readonly height?: number;
  /** Maker and model: "Canon EOS R6". */
  readonly camera?: string;
}

/** Only these are decoded; the reader bounds what a hostile file can make it do. */
const includeTags: IncludeTagsOptions = {
  file: true,
  exif: words(
    "DateTimeOriginal DateTimeDigitized DateTime OffsetTimeOriginal OffsetTime Orientation Make Model",
    "PixelXDimension PixelYDimension ImageWidth ImageLength",
    "GPSLatitude GPSLatitudeRef GPSLongitude GPSLongitudeRef GPSDateStamp GPSTimeStamp",
  ),
  png: true,
};
/** Longer names of makers and models say nothing. */
const maxCameraLength = 80;
/** Time zones are at most this far from UTC. */
const maxOffsetMinutes = 14 * 60;
const minuteMs = 60_000;

function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(" "));
}

type Tags = Readonly<Record<string, { readonly value: unknown; readonly description: string } | undefined>>;

/**
 * Reads EXIF from the first bytes of a JPEG, PNG, WebP, HEIC, AVIF or TIFF; 128 KiB are enough for nearly all. Never
 * throws: a file without EXIF, or with damaged EXIF, has no facts.
 *
 *     const { taken, position } = readExif(await ctx.vdfs.read(path, { length: 131_072 }));
 */
export function readExif(bytes: Uint8Array): ExifFacts {
  let tags: ExpandedTags;
  try {
    tags = ExifReader.load(new Uint8Array(bytes).buffer, { expanded: true, includeTags });
  } catch {
    return {};
  }
  const exif = (tags.exif ?? {}) as unknown as Tags;
  const file = { ...tags.file, ...tags.pngFile } as unknown as Tags;
  const taken = [exif.DateTimeOriginal, exif.DateTimeDigitized, exif.DateTime]
    .map((tag) => timeOf(textOf(tag)))
    .find((time) => time !== undefined);
  const offsetMinutes =
    offsetOf(textOf(exif.OffsetTimeOriginal) ?? textOf(exif.OffsetTime)) ?? offsetByGps(exif, taken);
  const position = positionOf(exif);
  const orientation = wholeOf(exif.Orientation, 8);
  const width = wholeOf(file["Image Width"]) ?? wholeOf(exif.PixelXDimension) ?? wholeOf(exif.ImageWidth);
  const height = wholeOf(file["Image Height"]) ?? wholeOf(exif.PixelYDimension) ?? wholeOf(exif.ImageLength);
  const camera = cameraOf(textOf(exif.Make), textOf(exif.Model));
  return {
    ...(taken === undefined ? {} : { taken }),
    ...(taken === undefined || offsetMinutes === undefined ? {} : { offsetMinutes }),
    ...(position === undefined ? {} : { position }),
    ...(orientation === undefined ? {} : { orientation }),
    ...(width === undefined || height === undefined ? {} : { width, height }),
    ...(camera === undefined ? {} : { camera }),
  };
}

function textOf(tag: Tags[string]): string | undefined {
  const value: unknown = Array.isArray(tag?.value) ? (tag.value as unknown[])[0] : tag?.value;
  return typeof value === "string" ? value.replaceAll("\0", "").trim() : undefined;
}

function wholeOf(tag: Tags[string], most = 1_000_000): number | undefined {
  const value = tag?.value;
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most
    ? value
    : undefined;
}

/** Returns "2024-05-01T13:45:10" for "2024:05:01 13:45:10"; undefined for dates that do not exist. */
function timeOf(text: string | undefined): string | undefined {
  const parts = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)/.exec(text ?? "");
  if (parts === null) return undefined;
  const [, year, month, day, hour, minute, second] = parts;
  const iso = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const at = new Date(`${iso}Z`);
  // Cameras without a clock write zeros; February 31 would become a day in March.
  const isReal = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(iso);
  return isReal && Number(year) >= 1900 ? iso : undefined;
}

function offsetOf(text: string | undefined): number | undefined {
  const parts = /^([+-])(\d\d):(\d\d)$/.exec(text ?? "");
  if (parts === null) return undefined;
  const minutes = (parts[1] === "-" ? -1 : 1) * (Number(parts[2]) * 60 + Number(parts[3]));
  return Math.abs(minutes) <= maxOffsetMinutes ? minutes : undefined;
}

/** GPS counts in UTC, so that the difference to the camera's clock is its time zone, to a quarter of an hour. */
function offsetByGps(exif: Tags, taken: string | undefined): number | undefined {
  const date = /^(\d{4})[:-](\d\d)[:-](\d\d)$/.exec(textOf(exif.GPSDateStamp) ?? "");
  const time = exif.GPSTimeStamp?.value;
  if (taken === undefined || date === null || !Array.isArray(time)) return undefined;
  const [hours, minutes, seconds] = time.map(quotient);
  const utc =
    Date.parse(`${date[1]}-${date[2]}-${date[3]}T00:00:00Z`) +
    (((hours ?? Number.NaN) * 60 + (minutes ?? Number.NaN)) * 60 + (seconds ?? Number.NaN)) * 1000;
  const offset = Math.round((Date.parse(`${taken}Z`) - utc) / minuteMs / 15) * 15;
  return Math.abs(offset) <= maxOffsetMinutes ? offset : undefined;
}

function positionOf(exif: Tags): readonly [number, number] | undefined {
  const latitude = degreesOf(exif.GPSLatitude, exif.GPSLatitudeRef, "S", 90);
  const longitude = degreesOf(exif.GPSLongitude, exif.GPSLongitudeRef, "W", 180);
  if (latitude === undefined || longitude === undefined) return undefined;
  // Cameras that have no fix yet write zeros.
  return latitude === 0 && longitude === 0 ? undefined : [latitude, longitude];
}

function degreesOf(
  tag: Tags[string],
  reference: Tags[string],
  negative: string,
  most: number,
): number | undefined {
  const parts = tag?.value;
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > 3) return undefined;
  const [degrees = 0, minutes = 0, seconds = 0] = parts.map(quotient);
  const value = degrees + minutes / 60 + seconds / 3600;
  if (!Number.isFinite(value) || value < 0 || value > most) return undefined;
  const signed = textOf(reference)?.toUpperCase().startsWith(negative) === true ? -value : value;
  // Seven decimals are a centimetre.
  return Math.round(signed * 1e7) / 1e7;
}

/** The value of a rational, which is read as [numerator, denominator]. */
function quotient(part: unknown): number {
  if (typeof part === "number") return part;
  const [numerator, denominator] = Array.isArray(part) ? (part as unknown[]) : [];
  return typeof numerator === "number" && typeof denominator === "number"
    ? numerator / denominator
    : Number.NaN;
}

function cameraOf(make: string | undefined, model: string | undefined): string | undefined {
  const isNamed = make !== undefined && model?.toLowerCase().startsWith(make.toLowerCase()) === true;
  const camera = [isNamed ? undefined : make, model]
    .filter((part) => part !== undefined && part !== "")
    .join(" ")
    // Control characters in a name are damage.
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u001f\u007f]/g, "")
    .slice(0, maxCameraLength);
  return camera === "" ? undefined : camera;
}
