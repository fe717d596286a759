import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeUtf8 } from "./utf8.ts";

test("valid UTF-8 is decoded as it is, a byte order mark included", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      expect(decodeUtf8(new TextEncoder().encode(`\ufeff${text}`))).toBe(`\ufeff${text}`);
    }),
  );
});

test("each byte that is not UTF-8 becomes a lone surrogate, so that the bytes can be restored from the text", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.uint8Array({ maxLength: 6 }), fc.constant(new Uint8Array([0xed, 0xa0, 0x80])))),
      (parts) => {
        const bytes = Uint8Array.from(parts.flatMap((part) => [...part]));
        const text = decodeUtf8(bytes);
        const encoded = Array.from(text).flatMap((character) => {
          const point = character.codePointAt(0) ?? 0;
          return point >= 0xdc80 && point <= 0xdcff
            ? [point - 0xdc00]
            : [...new TextEncoder().encode(character)];
        });
        expect(Uint8Array.from(encoded)).toEqual(bytes);
      },
    ),
  );
});
