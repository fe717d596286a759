import { readFile } from "node:fs/promises";
import { isJsonObject } from "../../base/json.ts";
import { UsageError } from "../command.ts";
import type { CliPorts } from "../ports.ts";

/** A file of stand-ins is small: it is written by hand. */
const maxFileCharacters = 4_000_000;
const maxNumbers = 1_000_000;
const types = ["float32", "float64", "int32", "uint8"] as const;

/** Reads a file with the tensors that stand for models, and returns each as an .onnx file. Throws UsageError. */
export async function readTensors(
  file: string,
  constantModel: CliPorts["constantModel"],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const text = await readFile(file, "utf8").catch(() => {
    throw new UsageError(`The file "${file}" cannot be read.`);
  });
  const given = text.length > maxFileCharacters ? null : parsed(text);
  if (!isJsonObject(given))
    throw new UsageError(
      `${file} must be JSON of this form, of at most ${maxFileCharacters} characters: { "faces": { "inputs": [{ "name": "image", "dims": [1, 3, 320, 320] }], "outputs": [{ "name": "scores", "dims": [2], "data": [0.9, 0.1] }] } }`,
    );
  const models = new Map<string, Uint8Array>();
  for (const [model, tensors] of Object.entries(given)) {
    const { inputs, outputs } = isJsonObject(tensors) ? tensors : {};
    const where = `${file}: ${model}`;
    const bytes = await constantModel(
      itemsOf(inputs, `${where}.inputs`).map((one, at) => inputOf(one, `${where}.inputs[${at}]`)),
      itemsOf(outputs, `${where}.outputs`).map((one, at) => outputOf(one, `${where}.outputs[${at}]`)),
    );
    models.set(model, bytes);
  }
  return models;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function itemsOf(value: unknown, where: string): readonly Record<string, unknown>[] {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isJsonObject))
    throw new UsageError(`${where} must be a list of tensors.`);
  return value;
}

function inputOf({ name, type = "float32", dims }: Record<string, unknown>, where: string) {
  const known = types.find((one) => one === type);
  if (typeof name !== "string" || name === "") throw new UsageError(`${where} needs a "name".`);
  if (known === undefined) throw new UsageError(`${where}: "type" must be one of ${types.join(", ")}.`);
  const isDimension = (size: unknown): size is number | string =>
    typeof size === "string" ? size !== "" : Number.isSafeInteger(size) && Number(size) >= 0;
  if (!Array.isArray(dims) || dims.length > 8 || !dims.every(isDimension))
    throw new UsageError(`${where}: "dims" must be whole numbers, or names where any number fits.`);
  return { name, type: known, dims };
}

function outputOf(tensor: Record<string, unknown>, where: string) {
  const { name, type, dims } = inputOf(tensor, where);
  const { data } = tensor;
  const sizes = dims.filter((size) => typeof size === "number");
  if (sizes.length < dims.length) throw new UsageError(`${where}: "dims" must be numbers in an output.`);
  const count = sizes.reduce((product, size) => product * size, 1);
  if (!Array.isArray(data) || !data.every((one) => typeof one === "number"))
    throw new UsageError(`${where}: "data" must be a list of numbers.`);
  if (count > maxNumbers || data.length !== count)
    throw new UsageError(`${where}: "dims" take ${count} numbers, and "data" has ${data.length}.`);
  return { name, type, dims: sizes, data };
}
