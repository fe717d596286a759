import { expect, test } from "vitest";
import { createOnnxEmbedder } from "./onnx.ts";

test("if the package is not installed the error says how to install it", async () => {
  const making = createOnnxEmbedder(
    { kind: "onnx", path: "/nowhere/model.onnx" },
    Promise.resolve("none"),
    () => Promise.reject(new Error("Cannot find package")),
  );
  await expect(making).rejects.toMatchObject({
    message: expect.stringContaining("npm install onnxruntime-node"),
    name: "UnusableModel",
  });
});
