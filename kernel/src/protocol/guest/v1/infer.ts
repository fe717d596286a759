import { Type } from "typebox";
import { tensorBounds } from "../../../base/tensors.ts";
import { closed } from "../../../base/vocabulary/common.ts";
import { define } from "../../define.ts";
import { Blob } from "./blobs.ts";

const Tensor = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 256, description: "The model's input or output" }),
    type: Type.Union(
      [
        Type.Literal("float32", { description: "4 bytes" }),
        Type.Literal("float64", { description: "8 bytes" }),
        Type.Literal("int64", { description: "8 bytes" }),
        Type.Literal("int32", { description: "4 bytes" }),
        Type.Literal("int8", { description: "1 byte" }),
        Type.Literal("uint8", { description: "1 byte" }),
        Type.Literal("bool", { description: "1 byte, 0 or 1" }),
      ],
      { description: "The type of its numbers, with the bytes of each" },
    ),
    dims: Type.Array(Type.Integer({ minimum: 0, maximum: tensorBounds.maxLength }), {
      maxItems: tensorBounds.maxDimensions,
      description: "Its length in each dimension; empty for a single number",
    }),
    base64: Type.Optional(
      Type.String({
        maxLength: 1_000_000,
        description:
          "The numbers row by row, little-endian, as standard Base64, padded; either this or `blob`",
      }),
    ),
    blob: Type.Optional(Blob("The same bytes as a blob")),
  },
  closed,
);

/** The models that an extension brings. */
export const inferCalls = define({
  "ai/infer": {
    about:
      "Runs an ONNX model that the extension's manifest, or its entry in `lares.yaml`, declares under `models`, on this machine. If it was not fetched yet, it is fetched first, from the declared address, and refused if its digest or size differs. Inputs have at most 32 MiB in all, and so have outputs; outputs that do not fit a message come as blobs.",
    errors: {
      PermissionDenied:
        "Neither the manifest nor `lares.yaml` declares a model of this name, a person did not accept it yet, or the grants deny `use_models`.",
      InvalidParams: "A tensor's bytes do not fit its type and dimensions.",
      NotFound: "There is no such blob.",
      LimitExceeded:
        "The inputs have too many bytes, or the outputs do not fit the blobs that an agent may keep.",
      ModelError:
        "The model was not run to its end. `data.class` says why: `NoModel` until a person fixes something, `Network` if it could not be fetched, `InvalidRequest` if it does not take these inputs, `Timeout` if it took too long. `data.retryable` says whether the same call may succeed later.",
    },
    params: Type.Object(
      {
        model: Type.String({ minLength: 1, maxLength: 128, description: "Its name, as it is declared" }),
        inputs: Type.Array(Tensor, {
          maxItems: tensorBounds.maxTensors,
          description: "The model's inputs, by their names",
        }),
      },
      closed,
    ),
    result: Type.Object({
      outputs: Type.Array(Tensor, { description: "The model's outputs, in its order" }),
    }),
  },
});
