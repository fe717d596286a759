/**
 * Returns what a TypeScript guest reads from stdin before its first line: the program's size in bytes (32 bits, little
 * endian) and its JavaScript. The host writes it first, once.
 */
export function guestPreamble(program: { readonly bytes: Uint8Array }): Uint8Array {
  const { bytes } = program;
  const frame = new Uint8Array(4 + bytes.length);
  new DataView(frame.buffer).setUint32(0, bytes.length, true);
  frame.set(bytes, 4);
  return frame;
}

/** The WASI command that runs every TypeScript guest; built by `kernel/build/guest.ts`. */
export const guestModuleUrl = new URL("../../../build-output/guest.wasm", import.meta.url);
