import { join } from "node:path";
import { expect, test } from "vitest";
import type { Configuration } from "../../documents/configuration.ts";
import { knownModels, modelPath } from "../../memory-contract/known-models.ts";
import { memorySettings } from "./memory-settings.ts";

test("the embedder minilm is the model's file where lares models fetch puts it", () => {
  const memory = { embedder: "minilm" as const, vectors: "auto" as const, extensions: {} };
  const { embedder } = memorySettings(null, 1, {
    configuration: { memory } as unknown as Configuration,
    environment: { LARES_HOME: "/own" },
    userFolder: "/user",
  });
  const path = join("/own/cache/models", modelPath("minilm", knownModels.minilm));
  expect(embedder).toEqual({ kind: "onnx", path, fetchedAs: "minilm" });
});
