import { llamaBounds as bounds } from "./bounds.ts";
import { integersBetween, literal, oneOf, repeated, separated } from "./grammar-text.ts";

type Schema = Readonly<Record<string, unknown>>;

/** What every grammar has: JSON without a schema. Numbers and escapes are those that JavaScript reads back as they are. */
const jsonRules = [
  `space ::= " "?`,
  `char ::= [ !#-[\\]-~\\xA0-\\uD7FF\\uE000-\\uFFFD\\U00010000-\\U0010FFFF] | "\\\\" (["\\\\/bfnrt] | "u00" [01] [0-9a-f])`,
  `string ::= "\\"" char* "\\""`,
  `integer ::= "0" | "-"? [1-9] [0-9]{0,14}`,
  `fraction ::= ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?`,
  `number ::= "-"? ("0" | [1-9] [0-9]{0,14}) fraction`,
  `positive ::= ("0" | [1-9] [0-9]{0,14}) fraction`,
  `boolean ::= "true" | "false"`,
  `pair ::= string ":" space value`,
  `object ::= "{" space (pair ("," space pair)*)? space "}"`,
  `array ::= "[" space (value ("," space value)*)? space "]"`,
  `value ::= string | number | boolean | "null" | object | array`,
];

/**
 * Makes grammars of JSON Schemas: every text that the grammar lets a model write is JSON that fits the schema, as far as
 * the schema says it by `type`, `properties`, `required`, `items`, `prefixItems`, `enum`, `const`, `anyOf`, `oneOf`, `allOf`,
 * `$ref`, by bounds of integers, and by small bounds of lengths. Patterns, formats, bounds of fractions and negations are
 * left to whoever reads the value. Properties that an object may have beyond those it names are not written.
 */
export class SchemaGrammar {
  readonly #rules: string[] = [...jsonRules];
  #root: Schema = {};
  /** The rules of schemas that a `$ref` names; present before its rule is made, because a schema may contain itself. */
  #references = new Map<string, string>();
  /** Schemas looked at: those that contain themselves more than once would otherwise grow with each level. */
  #steps = 0;

  /** Returns an expression that matches the values of the schema. */
  valueOf(schema: unknown): string {
    this.#root = isSchema(schema) ? schema : {};
    this.#references = new Map();
    return this.#value(schema, 0);
  }

  /** Adds a rule and returns its name. */
  rule(expression: string): string {
    const name = `r${this.#rules.length}`;
    this.#rules.push(`${name} ::= ${expression}`);
    return name;
  }

  /** Returns the whole grammar. */
  text(root: string): string {
    return [`root ::= ${root}`, ...this.#rules, ""].join("\n");
  }

  #value(schema: unknown, depth: number): string {
    const isTooMuch = depth > bounds.maxSchemaDepth || ++this.#steps > bounds.maxSchemas;
    if (!isSchema(schema) || isTooMuch) return "value";
    const { $ref: reference, enum: values, anyOf, oneOf: alternatives, allOf } = schema;
    if (typeof reference === "string") return this.#reference(reference, depth);
    if ("const" in schema) return literal(JSON.stringify(schema["const"]) ?? "null");
    if (Array.isArray(values) && values.length > 0)
      return oneOf(values.map((each) => literal(JSON.stringify(each) ?? "null")));
    if (Array.isArray(allOf)) {
      const { allOf: _, ...rest } = schema;
      return this.#value(
        allOf.reduce<Schema>((all, each) => this.#merged(all, each), rest),
        depth + 1,
      );
    }
    const choices = anyOf ?? alternatives;
    if (Array.isArray(choices) && choices.length > 0) {
      const { anyOf: _, oneOf: __, ...rest } = schema;
      return oneOf(choices.map((each) => this.#value(this.#merged(rest, each), depth + 1)));
    }
    return oneOf(typesOf(schema).map((type) => this.#typed(type, schema, depth)));
  }

  #typed(type: unknown, schema: Schema, depth: number): string {
    switch (type) {
      case "object":
        return this.#object(schema, depth);
      case "array":
        return this.#array(schema, depth);
      case "string": {
        const [least, most] = countsOf(schema["minLength"], schema["maxLength"]);
        return least === 0 && most === null ? "string" : `"\\"" ${repeated("char", least, most)} "\\""`;
      }
      case "integer": {
        const [least, most] = integerBounds(schema);
        if (least === null && most === null) return "integer";
        const [low, high] = [least ?? -(10 ** 15) + 1, most ?? 10 ** 15 - 1];
        return low <= high ? this.rule(integersBetween(low, high)) : "integer";
      }
      case "number":
        return (numberOf(schema["minimum"]) ?? numberOf(schema["exclusiveMinimum"]) ?? -1) >= 0
          ? "positive"
          : "number";
      case "boolean":
        return "boolean";
      case "null":
        return '"null"';
      default:
        return "value";
    }
  }

  #object(schema: Schema, depth: number): string {
    const named = isSchema(schema["properties"]) ? schema["properties"] : {};
    const required = new Set(listOf(schema["required"]).filter((name) => typeof name === "string"));
    const fields = [
      ...Object.entries(named),
      ...[...required].filter((name) => !Object.hasOwn(named, name)).map((name) => [name, {}] as const),
    ].filter(([name, each]) => each !== false || required.has(name));
    if (fields.length === 0) return this.#map(schema, depth);
    // From the last to the first: what follows a field, after a comma or as the first.
    let [afterSome, afterNone] = ['""', '""'];
    for (const [name, each] of fields.toReversed()) {
      const pair = `${literal(JSON.stringify(name))} ":" space ${this.#value(each, depth + 1)}`;
      const [later, first] = [`"," space ${pair} ${afterSome}`, `${pair} ${afterSome}`];
      const isRequired = required.has(name);
      [afterSome, afterNone] = [
        this.rule(isRequired ? later : `${later} | ${afterSome}`),
        this.rule(isRequired ? first : `${first} | ${afterNone}`),
      ];
    }
    return this.rule(`"{" space ${afterNone} space "}"`);
  }

  /** An object that names no properties. */
  #map(schema: Schema, depth: number): string {
    const { additionalProperties: rest } = schema;
    const [least, most] = countsOf(schema["minProperties"], schema["maxProperties"]);
    if (rest === false) return `"{" space "}"`;
    if (!isSchema(rest) && least === 0 && most === null) return "object";
    const pair = this.rule(`string ":" space ${isSchema(rest) ? this.#value(rest, depth + 1) : "value"}`);
    return this.rule(`"{" space ${separated(pair, least, most)} space "}"`);
  }

  #array(schema: Schema, depth: number): string {
    const first = Array.isArray(schema["prefixItems"])
      ? schema["prefixItems"]
      : Array.isArray(schema["items"])
        ? schema["items"]
        : [];
    const rest = Array.isArray(schema["items"]) ? schema["additionalItems"] : schema["items"];
    const [least, most] = countsOf(schema["minItems"], schema["maxItems"]);
    if (first.length === 0) {
      if (rest === false) return `"[" space "]"`;
      const item = this.rule(this.#value(rest, depth + 1));
      return this.rule(`"[" space ${separated(item, least, most)} space "]"`);
    }
    // All of the first ones, and of the others as few as are allowed.
    const items = first.map((each) => this.#value(each, depth + 1));
    for (let more = first.length; more < least; more++) items.push(this.#value(rest, depth + 1));
    return this.rule(`"[" space ${items.slice(0, most ?? items.length).join(' "," space ')} space "]"`);
  }

  #reference(reference: string, depth: number): string {
    const known = this.#references.get(reference);
    if (known !== undefined) return known;
    const schema = this.#resolved(reference);
    if (schema === undefined) return "value";
    const name = this.rule("");
    this.#references.set(reference, name);
    const index = this.#rules.length - 1;
    this.#rules[index] = `${name} ::= ${this.#value(schema, depth + 1)}`;
    return name;
  }

  #resolved(reference: string): unknown {
    if (!reference.startsWith("#")) return undefined;
    let found: unknown = this.#root;
    for (const part of reference.slice(1).split("/").slice(1)) {
      const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined;
      found = (found as Record<string, unknown>)[key];
    }
    return found;
  }

  /** Returns a schema whose values fit both. */
  #merged(one: Schema, other: unknown): Schema {
    if (!isSchema(other)) return one;
    const target = typeof other["$ref"] === "string" ? this.#resolved(other["$ref"]) : other;
    // Nothing is to be merged, so the reference can stay what it is, which lets a schema contain itself.
    if (!constrains(one)) return other;
    if (!isSchema(target)) return one;
    return {
      ...one,
      ...target,
      ...(isSchema(one["properties"]) || isSchema(target["properties"])
        ? {
            properties: {
              ...(isSchema(one["properties"]) ? one["properties"] : {}),
              ...(isSchema(target["properties"]) ? target["properties"] : {}),
            },
          }
        : {}),
      required: [...listOf(one["required"]), ...listOf(target["required"])],
    };
  }
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const annotations = new Set([
  "title",
  "description",
  "default",
  "examples",
  "$defs",
  "definitions",
  "$schema",
]);

/** True if the schema says anything about values. */
function constrains(schema: Schema): boolean {
  return Object.keys(schema).some((key) => !annotations.has(key));
}

/** Returns the schema's types, or those that its keywords suggest; empty: any. */
function typesOf(schema: Schema): readonly unknown[] {
  const { type } = schema;
  if (Array.isArray(type)) return type.length === 0 ? ["any"] : type;
  if (typeof type === "string") return [type];
  if (["properties", "required", "additionalProperties"].some((key) => key in schema)) return ["object"];
  if (["items", "prefixItems"].some((key) => key in schema)) return ["array"];
  return ["any"];
}

const numberOf = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) ? value : null;

/** Large counts are not enforced, because llama.cpp makes a rule for each repetition. */
function countsOf(least: unknown, most: unknown): [least: number, most: number | null] {
  const low = Math.min(Math.max(0, Math.ceil(numberOf(least) ?? 0)), bounds.maxCounted);
  const high = numberOf(most);
  return [low, high === null || high > bounds.maxCounted ? null : Math.max(low, Math.floor(high))];
}

function integerBounds(schema: Schema): [least: number | null, most: number | null] {
  const [minimum, above] = [numberOf(schema["minimum"]), numberOf(schema["exclusiveMinimum"])];
  const [maximum, below] = [numberOf(schema["maximum"]), numberOf(schema["exclusiveMaximum"])];
  const least = [minimum === null ? null : Math.ceil(minimum), above === null ? null : Math.floor(above) + 1];
  const most = [maximum === null ? null : Math.floor(maximum), below === null ? null : Math.ceil(below) - 1];
  const low = least.filter((each) => each !== null);
  const high = most.filter((each) => each !== null);
  const isSafe = [...low, ...high].every((each) => Number.isSafeInteger(each));
  if (!isSafe) return [null, null];
  return [low.length === 0 ? null : Math.max(...low), high.length === 0 ? null : Math.min(...high)];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return part;
  }
}
