/** Renders a JSON Schema (draft-07) as Markdown: types in one line, fields as a list with their meaning. Pure. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const hashPattern = "^sha256:[0-9a-f]{64}$";
/** Descriptions that the types `hash` and `time` contain already. */
const saidByType = /; SHA-256, lower case hexadecimal$|; UTC, ISO 8601 with milliseconds$/;

/** Renders schemas; `definitions` are the types that have a section of their own. */
export class FieldRenderer {
  readonly #definitions: Readonly<Record<string, Schema>>;
  readonly #nameOfChoice: ReadonlyMap<string, string>;

  constructor(definitions: Readonly<Record<string, Schema>>) {
    this.#definitions = definitions;
    this.#nameOfChoice = new Map(
      Object.entries(definitions).flatMap(([name, { anyOf }]) =>
        anyOf === undefined ? [] : [[JSON.stringify(anyOf), name] as const],
      ),
    );
  }

  /** Lists the fields of a schema and, indented, their nested fields. Empty if there are none. */
  list(schema: Schema, depth = 0): string[] {
    const fields = fieldsOf(schema);
    if (fields.length > 0) return fields.flatMap(([name, field]) => this.#field(name, field, depth));
    const variants = this.#variants(schema);
    if (variants.length > 0)
      return variants.flatMap((variant) => [
        `${indent(depth)}- ${this.#headOf(variant)}`,
        ...this.#inVariant(variant, depth + 1),
      ]);
    const choices = this.#choices(schema);
    if (choices.length > 0)
      return choices.map(
        ({ const: value, description }) => `${indent(depth)}- \`${String(value)}\`: ${sentence(description)}`,
      );
    if (schema.type === "array" && schema.items !== undefined) return this.list(schema.items, depth);
    const each = eachOf(schema);
    return each === undefined ? [] : this.list(each, depth);
  }

  /** Describes a value of this schema in one line. */
  type(schema: Schema): string {
    const { $ref, allOf, anyOf } = schema;
    if ($ref !== undefined) return this.#link($ref.slice("#/definitions/".length));
    if (allOf?.length === 1 && allOf[0] !== undefined) return this.type(allOf[0]);
    if (schema.pattern === hashPattern) return "hash";
    if ("const" in schema) return `\`${JSON.stringify(schema.const)}\``;
    if (schema.enum !== undefined) return oneOf(schema.enum);
    if (anyOf !== undefined) {
      const named = this.#nameOfChoice.get(JSON.stringify(anyOf));
      if (named !== undefined) return this.#link(named);
      if (anyOf.every((each) => "const" in each)) return oneOf(anyOf.map((each) => each.const));
      const types = [...new Set(anyOf.map((each) => this.type(each)))];
      return types.join(" or ");
    }
    switch (schema.type) {
      case "string":
        if (schema.description?.endsWith("UTC, ISO 8601 with milliseconds") === true) return "time";
        return `string${range(schema.minLength === 1 ? undefined : schema.minLength, schema.maxLength, "characters")}`;
      case "integer":
      case "number":
        return `${schema.type}${range(schema.minimum, schema.maximum, "")}${
          schema.exclusiveMinimum === undefined ? "" : ` above ${schema.exclusiveMinimum}`
        }`;
      case "array":
        return `array of ${schema.items === undefined ? "any JSON" : this.type(schema.items).split(", ")[0]}${range(schema.minItems, schema.maxItems, "items")}`;
      case "object": {
        const each = eachOf(schema);
        return each === undefined ? "object" : `map of names to ${this.type(each)}`;
      }
      case "boolean":
      case "null":
        return schema.type;
      case undefined:
      default:
        return "any JSON";
    }
  }

  #link(name: string): string {
    return `[\`${name}\`](#${name.toLowerCase()})`;
  }

  #field(name: string, { schema, isRequired }: Field, depth: number): string[] {
    const about = schema.$ref === undefined ? schema.description : this.#resolved(schema).description;
    const own = schema.default === undefined ? about : about?.replace(/; default [^;.]*$/, "");
    const fallback = schema.default === undefined ? "" : `, default \`${JSON.stringify(schema.default)}\``;
    const head = `${indent(depth)}- \`${name}${isRequired ? "" : "?"}\` (${this.type(schema)}${fallback}): ${sentence(own?.replace(saidByType, ""))}`;
    return [head, ...this.#inside(schema, depth + 1)];
  }

  /** Lists the nested fields of a field without its own section. */
  #inside(schema: Schema, depth: number): string[] {
    if (schema.$ref !== undefined) return [];
    if (schema.anyOf !== undefined && this.#nameOfChoice.has(JSON.stringify(schema.anyOf))) return [];
    return this.list(schema, depth);
  }

  #headOf(variant: Schema): string {
    const [name, constant] = fieldsOf(variant).find(isConstant) ?? [];
    if (constant === undefined) return "an object with";
    const { const: value, description } = constant.schema;
    return `\`${name}: ${JSON.stringify(value)}\`: ${sentence(description)}`;
  }

  /** Lists the fields of a variant except the one that identifies it. */
  #inVariant(variant: Schema, depth: number): string[] {
    const tagName = fieldsOf(variant).find(isConstant)?.[0];
    return fieldsOf(variant)
      .filter(([name]) => name !== tagName)
      .flatMap(([name, field]) => this.#field(name, field, depth));
  }

  /** Returns the members of a union that are objects. */
  #variants({ anyOf }: Schema): readonly Schema[] {
    return (anyOf ?? []).filter((each) => each.properties !== undefined);
  }

  /** Returns the constants of a union that have a description. */
  #choices({ anyOf }: Schema): readonly Schema[] {
    return (anyOf ?? []).filter((each) => "const" in each && each.description !== undefined);
  }

  #resolved({ $ref }: Schema): Schema {
    return this.#definitions[($ref ?? "").slice("#/definitions/".length)] ?? {};
  }
}

interface Field {
  readonly schema: Schema;
  readonly isRequired: boolean;
}

function isConstant([, { schema }]: [string, Field]): boolean {
  return "const" in schema;
}

function fieldsOf({ properties = {}, required = [] }: Schema): [string, Field][] {
  return Object.entries(properties)
    .map(([name, schema]): [string, Field] => [name, { schema, isRequired: required.includes(name) }])
    .toSorted(([, left], [, right]) => Number(right.isRequired) - Number(left.isRequired));
}

/** Returns the schema of a map's values. */
function eachOf({ properties, additionalProperties, patternProperties }: Schema): Schema | undefined {
  if (properties !== undefined) return undefined;
  if (typeof additionalProperties === "object") return additionalProperties;
  if (additionalProperties === true) return {};
  return Object.values(patternProperties ?? {})[0];
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const unitOf = unit === "" ? "" : ` ${unit}`;
  const shown = (value: number): string => value.toLocaleString("en");
  if (least !== undefined && most !== undefined) return `, ${shown(least)} to ${shown(most)}${unitOf}`;
  if (most !== undefined) return `, at most ${shown(most)}${unitOf}`;
  return least === undefined ? "" : `, at least ${shown(least)}${unitOf}`;
}

function oneOf(values: readonly unknown[]): string {
  return values.map((value) => `\`${JSON.stringify(value)}\``).join(" or ");
}

function indent(depth: number): string {
  return "  ".repeat(depth);
}

/** Formats a description as a sentence. */
export function sentence(text = ""): string {
  const trimmed = text.trim();
  return /[.!?]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
