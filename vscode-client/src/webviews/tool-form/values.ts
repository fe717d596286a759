import { isObject, type Field, type FieldType, type Scalar } from "./fields.ts";

/** The contents of a form: texts as typed. */
export type Draft = string | readonly string[] | { readonly [name: string]: Draft };

/** Problems by path: "size", "place.street", "tags.2". */
export type Problems = ReadonlyMap<string, string>;

type Read =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly problems: Problems };

/** Returns the initial contents of a form: the arguments of the last run, otherwise the schema's defaults. */
export function draftOf(
  fields: readonly Field[],
  last: Readonly<Record<string, unknown>> = {},
): Record<string, Draft> {
  return Object.fromEntries(
    fields.map(({ name, type, initial }) => [
      name,
      draftOfValue(type, Object.hasOwn(last, name) ? last[name] : initial),
    ]),
  );
}

function draftOfValue(type: FieldType, value: unknown): Draft {
  switch (type.kind) {
    case "group":
      return draftOf(type.fields, isObject(value) ? value : {});
    case "list":
      return Array.isArray(value) ? value.map((entry) => textOf(type.entry, entry)) : [];
    case "json":
      return value === undefined ? "" : JSON.stringify(value, null, 2);
    case "text":
    case "number":
    case "boolean":
    case "choice":
      return textOf(type, value);
  }
}

function textOf(type: Scalar, value: unknown): string {
  if (value === undefined) return "";
  switch (type.kind) {
    case "text":
      return typeof value === "string" ? value : "";
    case "number":
      return typeof value === "number" ? String(value) : "";
    case "boolean":
      return typeof value === "boolean" ? String(value) : "";
    case "choice": {
      const index = type.options.indexOf(value as string);
      return index < 0 ? "" : String(index);
    }
  }
}

/** Returns the arguments from a form; optional fields that are empty are omitted. */
export function argumentsOf(fields: readonly Field[], draft: Readonly<Record<string, Draft>>): Read {
  const problems = new Map<string, string>();
  const value = readGroup(fields, draft, "", problems);
  return problems.size === 0 ? { ok: true, value } : { ok: false, problems };
}

function readGroup(
  fields: readonly Field[],
  draft: Readonly<Record<string, Draft>>,
  path: string,
  problems: Map<string, string>,
): Record<string, unknown> {
  const entries = fields.flatMap((field): [string, unknown][] => {
    const value = readField(field, draft[field.name] ?? "", `${path}${field.name}`, problems);
    return value === undefined ? [] : [[field.name, value]];
  });
  return Object.fromEntries(entries);
}

function readField(
  { type, required }: Field,
  draft: Draft,
  path: string,
  problems: Map<string, string>,
): unknown {
  switch (type.kind) {
    case "group": {
      const given = isObject(draft) ? (draft as Readonly<Record<string, Draft>>) : {};
      // An optional group does not require its members while all of them are empty.
      if (!required && isEmpty(given)) return undefined;
      return readGroup(type.fields, given, `${path}.`, problems);
    }
    case "list": {
      const texts = Array.isArray(draft) ? (draft as readonly string[]) : [];
      if (texts.length === 0 && !required) return undefined;
      if (texts.length < type.minItems) problems.set(path, `At least ${type.minItems} of them, please.`);
      if (type.maxItems !== undefined && texts.length > type.maxItems)
        problems.set(path, `At most ${type.maxItems} of them, please.`);
      return texts.map((text, index) => readScalar(type.entry, text, true, `${path}.${index}`, problems));
    }
    case "json":
      return readJson(typeof draft === "string" ? draft : "", required, path, problems);
    case "text":
    case "number":
    case "boolean":
    case "choice":
      return readScalar(type, typeof draft === "string" ? draft : "", required, path, problems);
  }
}

function isEmpty(draft: Draft): boolean {
  if (typeof draft === "string") return draft === "";
  return Object.values(draft).every(isEmpty);
}

const missing = "This is needed.";

function readScalar(
  type: Scalar,
  text: string,
  required: boolean,
  path: string,
  problems: Map<string, string>,
): unknown {
  if (text === "" && !(type.kind === "text" && required && type.minLength === 0)) {
    if (required) problems.set(path, missing);
    return undefined;
  }
  const wrong = (problem: string): undefined => void problems.set(path, problem);
  switch (type.kind) {
    case "boolean":
      return text === "true";
    case "choice":
      return type.options[Number(text)];
    case "text":
      return textProblem(type, text, wrong) ?? text;
    case "number": {
      const value = Number(text);
      if (text.trim() === "" || !Number.isFinite(value)) return wrong("A number, please.");
      return numberProblem(type, value, wrong) ?? value;
    }
  }
}

type Wrong = (problem: string) => undefined;

/**
 * Lengths are counted as in JSON Schema, in characters and not in UTF-16 units. Patterns are checked by the kernel.
 */
function textProblem(
  { minLength, maxLength }: Extract<Scalar, { kind: "text" }>,
  text: string,
  wrong: Wrong,
): undefined {
  const length = Array.from(text).length;
  if (length < minLength) return wrong(`At least ${minLength} characters, please.`);
  if (maxLength !== undefined && length > maxLength)
    return wrong(`At most ${maxLength} characters, please; these are ${length}.`);
  return undefined;
}

function numberProblem(type: Extract<Scalar, { kind: "number" }>, value: number, wrong: Wrong): undefined {
  const { integer, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = type;
  if (integer && !Number.isInteger(value)) return wrong("A whole number, please.");
  if (minimum !== undefined && value < minimum) return wrong(`At least ${minimum}, please.`);
  if (maximum !== undefined && value > maximum) return wrong(`At most ${maximum}, please.`);
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum)
    return wrong(`More than ${exclusiveMinimum}, please.`);
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum)
    return wrong(`Less than ${exclusiveMaximum}, please.`);
  return undefined;
}

function readJson(text: string, required: boolean, path: string, problems: Map<string, string>): unknown {
  if (text.trim() === "") {
    if (required) problems.set(path, missing);
    return undefined;
  }
  const read = parseJson(text);
  if ("problem" in read) problems.set(path, read.problem);
  return "value" in read ? read.value : undefined;
}

/** Returns the value of a JSON text, or what is wrong with it. */
export function parseJson(text: string): { readonly value: unknown } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return { problem: `This is not valid JSON: ${error.message}` };
    throw error;
  }
}
