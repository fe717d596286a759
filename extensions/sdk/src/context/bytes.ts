/** Decodes standard Base64: natively in the guest; elsewhere (tests under an older Node.js) through `atob`. */
export function bytesOf(base64: string): Uint8Array {
  const native = (Uint8Array as { fromBase64?: (text: string) => Uint8Array }).fromBase64;
  if (native !== undefined) return native.call(Uint8Array, base64);
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Characters at a time: more arguments than an engine's stack holds would be an error. */
const charactersAtOnce = 8192;

/** Encodes as standard Base64, padded. */
export function base64Of(bytes: Uint8Array): string {
  const { toBase64 } = bytes as { toBase64?: () => string };
  if (toBase64 !== undefined) return toBase64.call(bytes);
  let binary = "";
  for (let at = 0; at < bytes.length; at += charactersAtOnce)
    binary += String.fromCharCode(...bytes.subarray(at, at + charactersAtOnce));
  return btoa(binary);
}

/** Returns one array of the pieces, which have `size` bytes together. */
export function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
