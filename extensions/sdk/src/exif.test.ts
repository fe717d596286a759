import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { directory, exifOf, long, tiffHeader, withExif } from "../../../test/support/exif.ts";
import { readExif } from "./exif.ts";

const library = fileURLToPath(new URL("../../../examples/library/photos/", import.meta.url));
const jpeg = readFileSync(join(library, "2024", "mountain-lake.jpg"));
const read = (written: Parameters<typeof exifOf>[0]) => readExif(withExif(jpeg, exifOf(written)));

describe("what a photo says", () => {
  it("time, time zone, position, orientation, size and camera", () => {
    expect(
      read({
        taken: "2024:05:01 13:45:10",
        offset: "+02:00",
        at: [41.8902, 12.4922],
        orientation: 6,
        make: "Canon",
        model: "Canon EOS R6",
      }),
    ).toEqual({
      taken: "2024-05-01T13:45:10",
      offsetMinutes: 120,
      position: [41.8902, 12.4922],
      orientation: 6,
      width: 720,
      height: 480,
      camera: "Canon EOS R6",
    });
  });

  it("south and west of zero, and a maker that the model does not repeat", () => {
    expect(read({ at: [-33.8568, -151.2153], make: "Google", model: "Pixel 9" })).toMatchObject({
      position: [-33.8568, -151.2153],
      camera: "Google Pixel 9",
    });
  });

  it("the time zone by GPS, to a quarter of an hour", () => {
    const taken = "2024:05:01 17:15:10";
    expect(read({ taken, gpsTime: ["2024:05:01", 11, 31, 40] })).toMatchObject({ offsetMinutes: 345 });
    expect(read({ taken, gpsTime: ["2020:05:01", 11, 31, 40] })).not.toHaveProperty("offsetMinutes");
  });

  it("the photos of the example have what their files say", () => {
    const files = readdirSync(library, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".jpg"),
    );
    expect(files.length).toBeGreaterThan(5);
    for (const file of files)
      expect(readExif(readFileSync(join(library, file)))).toMatchObject({ width: expect.any(Number) });
  });

  it("the beginning of a file is enough", () => {
    const whole = withExif(jpeg, exifOf({ taken: "2024:05:01 13:45:10" }));
    expect(readExif(whole.subarray(0, 4096))).toMatchObject({ taken: "2024-05-01T13:45:10" });
  });
});

describe("bad files", () => {
  it.each([
    ["2024:02:31 10:00:00", "a day that does not exist"],
    ["0000:00:00 00:00:00", "zeros"],
    ["2024:05:01 25:00:00", "an hour that does not exist"],
    ["yesterday", "words"],
  ])("a time of %s has no facts: %s", (taken) => {
    expect(read({ taken })).not.toHaveProperty("taken");
  });

  it("a position of zero, and one beyond the poles, is none", () => {
    expect(read({ at: [0, 0] })).not.toHaveProperty("position");
    expect(read({ at: [91, 12] })).not.toHaveProperty("position");
  });

  it("a file without EXIF, and one that is not a picture", () => {
    expect(readExif(new Uint8Array())).toEqual({});
    expect(readExif(Buffer.from("not a picture"))).toEqual({});
  });

  it("EXIF with cycles ends: directories that name themselves and each other", () => {
    const itself = Buffer.concat([
      tiffHeader,
      directory([long(0x8769, 8), long(0x8825, 8), long(0xa005, 8)], 8, 8),
    ]);
    const first = directory([long(0x8769, 26), long(0x8825, 26)], 8, 26).subarray(0, 30);
    const each = Buffer.concat([tiffHeader, first, directory([long(0x8769, 8), long(0xa005, 8)], 38, 8)]);
    for (const tiff of [itself, each]) expect(readExif(withExif(jpeg, tiff))).toMatchObject({ width: 720 });
  });

  it("counts of values far beyond the file take neither memory nor time", () => {
    const entry = (tag: number, type: number): [number, number, number, Buffer] => [
      tag,
      type,
      0xffff_ffff,
      Buffer.from("00000008", "hex"),
    ];
    const tags = [0x010f, 0x0110, 0x0112, 0x9003, 0x8769, 0x8825];
    for (const type of [1, 2, 3, 5, 7, 10, 12, 99]) {
      const tiff = Buffer.concat([
        tiffHeader,
        directory(
          tags.map((tag) => entry(tag, type)),
          8,
        ),
      ]);
      expect(readExif(withExif(jpeg, tiff))).toBeTypeOf("object");
    }
  });

  it("damage anywhere, and a file that is cut off anywhere, never throw", () => {
    const whole = withExif(
      jpeg,
      exifOf({ taken: "2024:05:01 13:45:10", at: [41.9, 12.5], make: "A", model: "B" }),
    );
    const head = whole.subarray(0, 600);
    fc.assert(
      fc.property(
        fc.nat(599),
        fc.uint8Array({ minLength: 1, maxLength: 8 }),
        fc.nat(600),
        (at, damage, end) => {
          const bytes = Uint8Array.from(head);
          bytes.set(damage.subarray(0, bytes.length - at), at);
          expect(readExif(bytes.subarray(0, end))).toBeTypeOf("object");
        },
      ),
      { numRuns: 300 },
    );
  });
});
