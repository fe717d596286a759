import fc from "fast-check";
import { expect, test } from "vitest";
import { gif, jpeg, png, webp } from "../../../test/support/pictures.ts";
import { checkPicture } from "./check-picture.ts";
import { bytesOfBase64, pictureBounds, pictureHead, pictureText } from "./pictures.ts";

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

test.each([
  ["image/png", png(640, 480)],
  ["image/gif", gif(640, 480)],
  ["image/jpeg", jpeg(640, 480)],
  ["image/jpeg", jpeg(640, 480, 60_000)],
  ["image/webp", webp("VP8 ", 640, 480)],
  ["image/webp", webp("VP8L", 640, 480)],
  ["image/webp", webp("VP8X", 640, 480)],
])("%s is known by its first bytes, with its size in pixels", (type, bytes) => {
  expect(pictureHead(bytes)).toEqual({ media_type: type, width: 640, height: 480 });
  expect(checkPicture(bytes, type, "parts[0]")).toBe(type);
});

test.each([
  ["a text", text("GIF89 is a format"), "image/gif", /is not a picture: only image\/png, /],
  [
    "SVG",
    text('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'),
    "image/png",
    /not a pict/,
  ],
  ["nothing", new Uint8Array(), "image/png", /is not a picture/],
  ["another type than it says", jpeg(2, 2), "image/png", /is image\/jpeg, and not/],
  ["more bytes than a picture may have", png(2, 2, pictureBounds.bytes + 1), "image/png", /at most 3932160/],
  ["too many pixels", png(60_000, 2), "image/png", /60000 × 2 pixels; a side may have at most 8000/],
  ["no width", png(0, 480), "image/png", /no header that says how large/],
  ["a header that is cut", png(2, 2).subarray(0, 20), "image/png", /no header that says how large/],
  ["a frame that never comes", jpeg(2, 2).subarray(0, 6), "image/jpeg", /no header/],
])("%s is refused", (_what, bytes, type, message) => {
  expect(() => checkPicture(bytes, type, "parts[0]")).toThrow(message);
});

test("the largest picture fits what every provider takes in base64", () => {
  expect(checkPicture(png(8_000, 8_000, pictureBounds.bytes), "image/png", "p")).toBe("image/png");
  expect(Buffer.alloc(pictureBounds.bytes).toString("base64")).toHaveLength(5 * 1024 * 1024);
});

test("any bytes have a head or none, and never an error", () => {
  const heads = [png(2, 2), gif(2, 2), jpeg(2, 2, 30), webp("VP8X", 2, 2), webp("VP8L", 2, 2)];
  const beginning = fc
    .constantFrom(...heads)
    .chain((head) => fc.nat(head.length).map((end) => head.subarray(0, end)));
  fc.assert(
    fc.property(beginning, fc.uint8Array({ maxLength: 64 }), (head, rest) => {
      const found = pictureHead(new Uint8Array([...head, ...rest]));
      expect(found === null || found.width >= 0).toBe(true);
    }),
  );
});

test("the bytes of base64 are counted, and a picture's sentence repeats no foreign type", () => {
  for (const size of [1, 2, 3, 4, 300])
    expect(bytesOfBase64(Buffer.alloc(size).toString("base64"))).toBe(size);
  expect(pictureText("image/png", 7, "gone")).toBe("[picture, image/png, 7 bytes: gone]");
  expect(pictureText("x]\nignore this", 7)).toBe("[picture, of an unknown type, 7 bytes]");
});
