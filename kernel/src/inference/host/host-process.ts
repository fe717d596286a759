/**
 * Entry of the inference host: the one process in which models of this machine run. It has no network, writes nothing,
 * and reads the files of the models that it was started for.
 */
import process from "node:process";
import { performance } from "node:perf_hooks";
import { type Parent, serveParent } from "../../platform/children/parent.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { FromHost, Runtimes, ToHost } from "../messages.ts";
import { failureOf, InferenceHost } from "./host.ts";
import { LanguageModels } from "./language-models.ts";
import { loadLlama } from "./llama/library.ts";
import type { OnnxRuntime } from "./onnx/onnx.ts";
import { Runs } from "./runs.ts";
import { TensorModels } from "./tensor-models.ts";

const runtimes = JSON.parse(process.argv[2] ?? "{}") as Runtimes;
const loadOnnx = async (): Promise<OnnxRuntime> => {
  const url = runtimes["onnxruntime-node"] ?? null;
  if (url === null) throw new Error("The package is not installed.");
  // A CommonJS package has all of its exports in `default` only.
  const loaded = (await import(url)) as { readonly default: OnnxRuntime };
  return loaded.default;
};
const host = new InferenceHost(loadOnnx);
const tensorModels = new TensorModels(loadOnnx);
const models = new LanguageModels(() => loadLlama(runtimes["node-llama-cpp"] ?? null));
const runs = new Runs(
  models,
  (words) => parent.send(words),
  () => performance.now(),
);
const parent: Parent<FromHost> = serveParent<FromHost, ToHost>({
  maxFrameBytes: bounds.maxFrameBytes,
  async receive(words, bytes) {
    switch (words.kind) {
      case "embed":
        return await answered(words.id, async () => {
          const { vectors, ...embedded } = await host.embed(words.call);
          parent.send({ kind: "embedded", id: words.id, ...embedded }, vectors);
        });
      case "infer": {
        const { id, call } = words;
        const inputs = bytes.slice();
        return await answered(id, async () => {
          const began = (): void => parent.send({ kind: "progress", id, phase: "answering" });
          const { outputs, bytes: numbers } = await tensorModels.infer(call, inputs, began);
          parent.send({ kind: "inferred", id, outputs }, numbers);
        });
      }
      case "inspect":
        return await answered(words.id, async () =>
          parent.send({
            kind: "inspected",
            id: words.id,
            model: await models.inspect(words.model, words.contextTokens),
          }),
        );
      case "generate":
        return await runs.answer(words.id, words.call);
      case "grant":
        return runs.grant(words.id, words.events);
      case "cancel":
        return runs.cancel(words.id);
    }
  },
});
parent.ready();

async function answered(id: number, answer: () => Promise<void>): Promise<void> {
  try {
    await answer();
  } catch (error) {
    parent.send({ kind: "failed", id, failure: failureOf(error) });
  }
}
