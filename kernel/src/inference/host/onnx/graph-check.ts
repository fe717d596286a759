/**
 * Refuses a model that names other files. A tensor of an ONNX file may be anywhere: in another file, or by a convention of
 * onnxruntime at an address of this process's memory. A model of a stranger must bring all of its numbers itself.
 */

/** The messages of onnx.proto3 that can hold a tensor, each with the fields that lead there. */
type MessageName = "model" | "training" | "function" | "graph" | "node" | "attribute" | "sparse" | "tensor";
const inner: Readonly<Record<MessageName, Readonly<Record<number, MessageName>>>> = {
  model: { 7: "graph", 20: "training", 25: "function" },
  training: { 1: "graph", 2: "graph" },
  function: { 7: "node", 11: "attribute" },
  graph: { 1: "node", 5: "tensor", 15: "sparse" },
  node: { 5: "attribute" },
  attribute: { 5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse" },
  sparse: { 1: "tensor", 2: "tensor" },
  tensor: {},
};
/** `external_data` and `data_location` of a tensor. */
const elsewhereFields: ReadonlySet<number> = new Set([13, 14]);
/** Parsers of protobuf stop at 100. */
const maxDepth = 100;

/** Returns what is wrong with the file, as the end of a sentence that begins with the model's name; null if it may be loaded. */
export function graphFault(file: Uint8Array): string | null {
  try {
    visit(file, 0, file.length, "model", 0);
    return null;
  } catch (error) {
    if (error instanceof GraphFault) return error.message;
    throw error;
  }
}

class GraphFault extends Error {}

const broken = (): GraphFault => new GraphFault("is not an ONNX file");

function visit(file: Uint8Array, start: number, end: number, name: MessageName, depth: number): void {
  if (depth > maxDepth) throw new GraphFault("is nested too deeply");
  const fields = inner[name];
  let at = start;
  while (at < end) {
    const tag = varint(file, at, end);
    at = tag.next;
    // Parsers drop what is above 32 bits, and would see another field.
    if (tag.value > 0xffff_ffff) throw broken();
    const field = Math.floor(tag.value / 8);
    const kind = tag.value % 8;
    if (field === 0) throw broken();
    let length: number;
    let content = at;
    if (kind === 0) {
      const value = varint(file, at, end);
      // The location's default is the file itself.
      if (name === "tensor" && field === 14 && value.value === 0) {
        at = value.next;
        continue;
      }
      length = value.next - at;
    } else if (kind === 1) length = 8;
    else if (kind === 5) length = 4;
    else if (kind === 2) {
      const size = varint(file, at, end);
      content = size.next;
      length = size.value;
    } else throw broken();
    if (length > end - content) throw broken();
    if (name === "tensor" && elsewhereFields.has(field))
      throw new GraphFault(
        "keeps tensors outside of its file, which is not supported. Export it as a single file",
      );
    const message = kind === 2 ? fields[field] : undefined;
    if (message !== undefined) visit(file, content, content + length, message, depth + 1);
    at = content + length;
  }
}

/** Not exact above 2^53, where every value is refused or has no meaning here. */
function varint(
  file: Uint8Array,
  start: number,
  end: number,
): { readonly value: number; readonly next: number } {
  let value = 0;
  let scale = 1;
  for (let at = start; at < end && at < start + 10; at++) {
    const byte = file[at] ?? 0;
    value += (byte & 127) * scale;
    if (byte < 128) return { value, next: at + 1 };
    scale *= 128;
  }
  throw broken();
}
