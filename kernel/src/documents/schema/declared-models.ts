import { Type } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";

const Name = (description: string) => Type.String({ minLength: 1, maxLength: 128, description });

const Model = Type.Object(
  {
    name: Name("How the program asks for it"),
    version: Type.Optional(Name("The model's version; free text")),
    source: Type.Optional(
      Type.Object(
        {
          url: Type.Optional(
            Type.String({
              maxLength: 8192,
              description: "The address of the .onnx file, by https. A person accepts its host",
              examples: ["https://example.com/faces.onnx"],
            }),
          ),
          redirect_hosts: Type.Optional(
            Type.Array(Type.String({ minLength: 1, maxLength: 255, description: "A host's name" }), {
              maxItems: 8,
              description: "Other hosts that the address may redirect to; default none",
            }),
          ),
        },
        { description: "Where it is fetched from when it is first used" },
      ),
    ),
    sha256: Type.Optional(
      Type.String({ maxLength: 128, description: "The file's SHA-256, 64 hexadecimal digits" }),
    ),
    size_mb: Type.Optional(
      Type.Number({
        minimum: 0,
        description: "The most that the file has, mebibytes, up to 1024; a larger one is refused",
      }),
    ),
  },
  { ...closed, description: "A model that the program runs by ai/infer, as an .onnx file" },
);

/** `models` of a manifest, and of an entry of `extensions` in `lares.yaml`. */
export const DeclaredModels = (description: string) => Type.Array(Model, { maxItems: 64, description });
