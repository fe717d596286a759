/** Writes GGUF files, the format of llama.cpp's models. */

export type GgufValue =
  | { readonly type: "u32" | "f32"; readonly value: number }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "texts"; readonly value: readonly string[] }
  | { readonly type: "i32s" | "f32s"; readonly value: readonly number[] };

export interface GgufTensor {
  readonly name: string;
  /** The innermost dimension first. */
  readonly shape: readonly number[];
  readonly numbers: Float32Array;
}

const alignment = 32;
const types = { u32: 4, i32: 5, f32: 6, bool: 7, text: 8, array: 9 } as const;

export function ggufFile(
  fields: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Uint8Array {
  const head: Uint8Array[] = [
    Buffer.from("GGUF"),
    u32(3),
    u64(tensors.length),
    u64(Object.keys(fields).length),
  ];
  for (const [name, field] of Object.entries(fields)) head.push(text(name), ...valueOf(field));
  let offset = 0;
  const data: Uint8Array[] = [];
  for (const { name, shape, numbers } of tensors) {
    head.push(text(name), u32(shape.length), ...shape.map(u64), u32(0), u64(offset));
    const bytes = padded(new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength));
    data.push(bytes);
    offset += bytes.length;
  }
  // Not a Buffer, whose slices share its memory.
  return new Uint8Array(Buffer.concat([padded(Buffer.concat(head)), ...data]));
}

function valueOf(field: GgufValue): Uint8Array[] {
  switch (field.type) {
    case "u32":
      return [u32(types.u32), u32(field.value)];
    case "f32":
      return [u32(types.f32), f32(field.value)];
    case "bool":
      return [u32(types.bool), Uint8Array.of(field.value ? 1 : 0)];
    case "text":
      return [u32(types.text), text(field.value)];
    case "texts":
      return [u32(types.array), u32(types.text), u64(field.value.length), ...field.value.map(text)];
    case "i32s":
      return [u32(types.array), u32(types.i32), u64(field.value.length), ...field.value.map(u32)];
    case "f32s":
      return [u32(types.array), u32(types.f32), u64(field.value.length), ...field.value.map(f32)];
  }
}

function text(value: string): Uint8Array {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function f32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function padded(bytes: Uint8Array): Uint8Array {
  const rest = bytes.length % alignment;
  return rest === 0 ? bytes : Buffer.concat([bytes, new Uint8Array(alignment - rest)]);
}
