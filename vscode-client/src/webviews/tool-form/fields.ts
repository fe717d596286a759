/** Converts a JSON Schema to a form. What is not supported becomes a JSON field, so everything can be entered. */

/** Nested groups; deeper ones are JSON. */
export const maxDepth = 4;
/** Fields of a form, including those of its groups; beyond that, a group is JSON. */
export const maxFields = 200;
/** Values to choose from; beyond that, the value is typed. */
const maxOptions = 500;
/** Entries of a list that are shown. */
export const maxListEntries = 100;

export type Scalar =
  | {
      readonly kind: "text";
      readonly minLength: number;
      readonly maxLength: number | undefined;
      readonly pattern: string | undefined;
    }
  | {
      readonly kind: "number";
      readonly integer: boolean;
      readonly minimum: number | undefined;
      readonly maximum: number | undefined;
      readonly exclusiveMinimum: number | undefined;
      readonly exclusiveMaximum: number | undefined;
    }
  | { readonly kind: "boolean" }
  | { readonly kind: "choice"; readonly options: readonly (string | number | boolean | null)[] };

export type FieldType =
  | Scalar
  | {
      readonly kind: "list";
      readonly entry: Scalar;
      readonly minItems: number;
      readonly maxItems: number | undefined;
    }
  | { readonly kind: "group"; readonly fields: readonly Field[] }
  | { readonly kind: "json" };

export interface Field {
  /** The member's name. */
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly required: boolean;
  readonly initial: unknown;
  readonly type: FieldType;
}

type Schema = Readonly<Record<string, unknown>>;

/** Returns the fields for a tool's parameters; undefined if they are not an object and have to be edited as JSON. */
export function fieldsOf(parameters: Schema): readonly Field[] | undefined {
  if (parameters["type"] !== undefined && parameters["type"] !== "object") return undefined;
  if (!isSimple(parameters)) return undefined;
  const properties = parameters["properties"] ?? {};
  if (!isObject(properties) || Object.keys(properties).length > maxFields) return undefined;
  return groupFields(parameters, { left: maxFields }, 1);
}

function groupFields(schema: Schema, budget: { left: number }, depth: number): readonly Field[] {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const entries = Object.entries(properties);
  budget.left -= entries.length;
  return entries.map(([name, given]): Field => {
    const schema = isObject(given) ? given : {};
    const text = (key: string): string | undefined =>
      typeof schema[key] === "string" && schema[key] !== "" ? schema[key] : undefined;
    return {
      name,
      title: text("title"),
      description: text("description"),
      required: required.includes(name),
      initial: schema["default"],
      type: typeOf(schema, budget, depth),
    };
  });
}

function typeOf(schema: Schema, budget: { left: number }, depth: number): FieldType {
  const scalar = scalarOf(schema);
  if (scalar !== undefined) return scalar;
  if (!isSimple(schema)) return { kind: "json" };
  if (schema["type"] === "array" && isObject(schema["items"])) {
    const entry = scalarOf(schema["items"]);
    if (entry === undefined) return { kind: "json" };
    return {
      kind: "list",
      entry,
      minItems: number(schema["minItems"]) ?? 0,
      maxItems: number(schema["maxItems"]),
    };
  }
  const properties = schema["properties"];
  if (schema["type"] !== "object" || !isObject(properties)) return { kind: "json" };
  const size = Object.keys(properties).length;
  if (depth >= maxDepth || size === 0 || size > budget.left) return { kind: "json" };
  return { kind: "group", fields: groupFields(schema, budget, depth + 1) };
}

function scalarOf(schema: Schema): Scalar | undefined {
  const options = optionsOf(schema);
  if (options !== undefined) return { kind: "choice", options };
  if (!isSimple(schema)) return undefined;
  switch (schema["type"]) {
    case "string":
      return {
        kind: "text",
        minLength: number(schema["minLength"]) ?? 0,
        maxLength: number(schema["maxLength"]),
        pattern: typeof schema["pattern"] === "string" ? schema["pattern"] : undefined,
      };
    case "number":
    case "integer":
      return {
        kind: "number",
        integer: schema["type"] === "integer",
        minimum: number(schema["minimum"]),
        maximum: number(schema["maximum"]),
        exclusiveMinimum: number(schema["exclusiveMinimum"]),
        exclusiveMaximum: number(schema["exclusiveMaximum"]),
      };
    case "boolean":
      return { kind: "boolean" };
    default:
      return undefined;
  }
}

/** Reads `enum`, `const`, or alternatives that are each a `const`. */
function optionsOf(schema: Schema): (string | number | boolean | null)[] | undefined {
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  const values = Array.isArray(schema["enum"])
    ? (schema["enum"] as unknown[])
    : "const" in schema
      ? [schema["const"]]
      : Array.isArray(alternatives) && alternatives.every((one) => isObject(one) && "const" in one)
        ? (alternatives as Schema[]).map((one) => one["const"])
        : [];
  const scalars = values.filter(
    (value) => value === null || ["string", "number", "boolean"].includes(typeof value),
  );
  if (values.length === 0 || values.length > maxOptions || scalars.length < values.length) return undefined;
  return scalars as (string | number | boolean | null)[];
}

/** Keywords with which a schema means more than its type; the kernel supports them, a form does not. */
const beyondForms = [
  "$ref",
  "$dynamicRef",
  "anyOf",
  "oneOf",
  "allOf",
  "not",
  "if",
  "patternProperties",
  "prefixItems",
];

const isSimple = (schema: Schema): boolean => beyondForms.every((word) => schema[word] === undefined);

const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

export function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
