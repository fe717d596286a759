import type { KnownModel } from "../../../memory-contract/known-models.ts";
import { parsed } from "./word-pieces.ts";
import { unusable } from "../../unusable.ts";
import { type BertShape, bertGraph } from "./graph.ts";
import { parseSafetensors } from "./safetensors.ts";

/**
 * The files that the embedder `onnx` reads, by name, made from a package's own. The weights stay as they are. Throws
 * UnusableModel where they are of no model that can be made.
 */
export function onnxFilesOf(
  { file }: KnownModel,
  package_: { readonly weights: Uint8Array; readonly config: Uint8Array; readonly tokenizer: Uint8Array },
): ReadonlyMap<string, Uint8Array> {
  const { tensors, numbers } = parseSafetensors(package_.weights);
  const config = parsed(Buffer.from(package_.config).toString("utf8"), "the package");
  if (typeof config !== "object" || config === null) throw unusable("The model's config.json holds no map.");
  const weightsFile = `${file}.weights`;
  return new Map([
    [weightsFile, numbers],
    ["tokenizer.json", package_.tokenizer],
    // Last, so that a model which is there has all that it needs.
    [`${file}.onnx`, bertGraph(tensors, config as BertShape, weightsFile)],
  ]);
}
