import fc from "fast-check";
import { expect, test } from "vitest";
import {
  addingModel,
  borrowingModel,
  deepBorrowingModel,
  endlessModel,
} from "../../testing/tensor-models.ts";
import { graphFault } from "./graph-check.ts";

test("a model with all of its numbers passes, with loops too", () => {
  expect(graphFault(addingModel(1))).toBe(null);
  expect(graphFault(endlessModel())).toBe(null);
});

test("a model with numbers in another file, or at an address, is refused wherever they are named", () => {
  for (const file of ["weights", "../secret", "/etc/passwd", "*/_ORT_MEM_ADDR_/*"]) {
    expect(graphFault(borrowingModel(file))).toContain("outside of its file");
    expect(graphFault(deepBorrowingModel(file))).toContain("outside of its file");
  }
});

test("what parsers of protobuf read differently is refused", () => {
  const model = addingModel(1);
  // The graph's tag in five bytes; the last one has bits above 32.
  const wide = Uint8Array.of(0x80 | 58, 0x80, 0x80, 0x80, 0x10, 0);
  expect(graphFault(wide)).toContain("not an ONNX file");
  // A group, and a length beyond the end.
  expect(graphFault(Uint8Array.of(0x3b))).toContain("not an ONNX file");
  expect(graphFault(model.subarray(0, model.length - 1))).toContain("not an ONNX file");
});

test("a graph that is nested without end is refused before the stack is", () => {
  let bytes = new Uint8Array();
  const within = (tag: number): Uint8Array => {
    const length: number[] = [];
    for (let rest = bytes.length; ; rest >>= 7) {
      length.push((rest & 127) | (rest > 127 ? 128 : 0));
      if (rest <= 127) break;
    }
    return Uint8Array.from([tag, ...length, ...bytes]);
  };
  for (let depth = 0; depth < 300; depth++) {
    // Attribute → graph, node → attribute, graph → node.
    bytes = new Uint8Array(within(0x32));
    bytes = new Uint8Array(within(0x2a));
    bytes = new Uint8Array(within(0x0a));
  }
  expect(graphFault(within(0x3a))).toContain("nested too deeply");
});

test("any bytes are judged without an exception", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const fault = graphFault(bytes);
      expect(fault === null || typeof fault === "string").toBe(true);
    }),
  );
  const model = deepBorrowingModel("x");
  fc.assert(
    fc.property(fc.nat(model.length - 1), fc.nat(255), (at, byte) => {
      const changed = Uint8Array.from(model);
      changed[at] = byte;
      graphFault(changed);
    }),
  );
});
