import { expect, test } from "vitest";
import type { KnownModel } from "../../../memory-contract/known-models.ts";
import { onnxFilesOf } from "./onnx-files.ts";
import { tinyBert, tinyPackage } from "../../testing/tiny-bert.ts";

const model = { file: "tiny" } as KnownModel;

test.each<[string, Uint8Array, RegExp]>([
  ["nothing", new Uint8Array(), /cut short/u],
  ["half of a file", tinyBert().subarray(0, 400), /cut short/u],
  ["a file without its last numbers", tinyBert().subarray(0, -8), /does not lie in it/u],
  ["a file whose head is no JSON", Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 0x7b), /not JSON/u],
  ["weights at another precision", tinyBert({ type: "F32" }), /as F32; F16 is read/u],
  ["weights of another model", tinyBert({ without: "encoder.layer.1.output.dense.bias" }), /lack encoder/u],
])("%s makes no model, and the error says why", (_, weights, message) => {
  expect(() => onnxFilesOf(model, { ...tinyPackage(), weights })).toThrow(message);
});
