import { modelFiles } from "../client/model-files.ts";
import { modelDigest } from "../host/onnx/model-digest.ts";
import { createOnnxEmbedder, type OnnxEmbedder } from "../host/onnx/onnx.ts";

/** Loads a model in this process, with the runtime that the slow suite installs. */
export async function onnxEmbedder(path: string, dimensions?: number): Promise<OnnxEmbedder> {
  const digest = modelFiles(path).then((files) => modelDigest(path, files));
  // If the model cannot be read, the embedder reports it.
  digest.catch(() => undefined);
  const model = { kind: "onnx", path, ...(dimensions === undefined ? {} : { dimensions }) } as const;
  return await createOnnxEmbedder(model, digest, () => import("onnxruntime-node"));
}
