/** Pictures with real headers and filler behind them, because nothing here decodes a picture. */

const padded = (head: readonly number[], size: number): Uint8Array => {
  const bytes = new Uint8Array(Math.max(size, head.length));
  bytes.set(head);
  return bytes;
};
const ascii = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0));
const big = (value: number, bytes: number): number[] =>
  Array.from({ length: bytes }, (_, index) => Math.floor(value / 256 ** (bytes - 1 - index)) % 256);
const little = (value: number, bytes: number): number[] => big(value, bytes).toReversed();

/** `size`: bytes of all of it. `mark`: makes another content of the same size. */
export function png(width: number, height: number, size = 100, mark = 0): Uint8Array {
  const signature = [0x89, ...ascii("PNG\r\n"), 0x1a, 0x0a];
  const header = [...big(13, 4), ...ascii("IHDR"), ...big(width, 4), ...big(height, 4), 8, 6, 0, 0, 0];
  return padded([...signature, ...header, ...big(mark, 4)], size);
}

/** `before`: bytes of a segment before the frame's header, as a camera writes them. */
export function jpeg(width: number, height: number, before = 0): Uint8Array {
  const segment =
    before === 0 ? [] : [0xff, 0xe1, ...big(before + 2, 2), ...Array.from({ length: before }, () => 0)];
  return padded(
    [0xff, 0xd8, ...segment, 0xff, 0xc2, ...big(17, 2), 8, ...big(height, 2), ...big(width, 2)],
    400,
  );
}

export function gif(width: number, height: number): Uint8Array {
  return padded([...ascii("GIF89a"), ...little(width, 2), ...little(height, 2)], 60);
}

export function webp(form: "VP8 " | "VP8L" | "VP8X", width: number, height: number): Uint8Array {
  const chunk = {
    "VP8 ": [...little(0, 3), 0x9d, 0x01, 0x2a, ...little(width, 2), ...little(height, 2)],
    VP8L: [0x2f, ...little((width - 1) | ((height - 1) << 14), 4)],
    VP8X: [...little(0, 4), ...little(width - 1, 3), ...little(height - 1, 3)],
  }[form];
  return padded(
    [...ascii("RIFF"), ...little(92, 4), ...ascii(`WEBP${form}`), ...little(80, 4), ...chunk],
    100,
  );
}

/** Works without Node's own types too. */
export function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768)
    text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}
