/**
 * Entry of the inference host: the one process in which models of this machine run. It has no network, writes nothing,
 * and reads the files of the models that it was started for.
 */
import process from "node:process";
import { serveParent } from "../../platform/children/parent.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { FromHost, Runtimes, ToHost } from "../messages.ts";
import { failureOf, InferenceHost } from "./host.ts";
import type { OnnxRuntime } from "./onnx/onnx.ts";

const runtimes = JSON.parse(process.argv[2] ?? "{}") as Runtimes;
const host = new InferenceHost(async () => {
  const url = runtimes["onnxruntime-node"];
  if (url === null) throw new Error("The package is not installed.");
  // A CommonJS package has all of its exports in `default` only.
  const loaded = (await import(url)) as { readonly default: OnnxRuntime };
  return loaded.default;
});
const { send, ready } = serveParent<FromHost, ToHost>({
  maxFrameBytes: bounds.maxFrameBytes,
  async receive({ id, call }) {
    try {
      const { vectors, ...embedded } = await host.embed(call);
      send({ kind: "embedded", id, ...embedded }, vectors);
    } catch (error) {
      send({ kind: "failed", id, failure: failureOf(error) });
    }
  },
});
ready();
