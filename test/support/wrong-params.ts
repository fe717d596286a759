import { readFileSync } from "node:fs";
import { Ajv, type ValidateFunction } from "ajv";
import fc from "fast-check";

/** A schema of the published files, as far as this generator reads it. */
type Schema = {
  readonly [keyword: string]: unknown;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
};

/** Params as they are sent: JSON text, so that it can contain what `JSON.stringify` would not write. */
export interface Params {
  readonly text: string;
  /** True if the published schema accepts them. */
  readonly fits: boolean;
}

/** Generates valid and invalid params of every method of one published file. */
export class ParamsMaker {
  readonly methods: readonly string[];
  readonly #definitions: Readonly<Record<string, Schema>>;
  readonly #checks = new Map<string, ValidateFunction>();
  readonly #ajv = new Ajv({ strict: false });

  /** `file`: a name beneath `schemas/`. */
  constructor(file: string) {
    const url = new URL(`../../schemas/${file}`, import.meta.url);
    const published = JSON.parse(readFileSync(url, "utf8")) as { definitions: Record<string, Schema> };
    this.#definitions = published.definitions;
    this.#ajv.addSchema(published, "published");
    // A definition with params and a result is a request; the rest is types and notifications.
    this.methods = Object.keys(published.definitions)
      .filter((name) => name.endsWith(":result") && !name.startsWith("kernel:"))
      .map((name) => name.slice(0, -":result".length));
  }

  /** Valid params with one invalid change, or, sometimes, unchanged. */
  mutated(method: string): fc.Arbitrary<Params> {
    const wholes = fc.constantFrom(...hostile).map((value) => written(value));
    const parts = fc
      .tuple(this.fitting(method), fc.nat(), fc.constantFrom(...hostile), fc.constantFrom(...mutations))
      .map(([value, place, odd, mutate]) => written(mutate(structuredClone(value), place, odd)));
    return fc.oneof({ weight: 1, arbitrary: wholes }, { weight: 12, arbitrary: parts }).map((text) => ({
      text,
      fits: this.fits(method, text),
    }));
  }

  /** Params that the published schema accepts; the ids and paths in them need not exist. */
  fitting(method: string): fc.Arbitrary<unknown> {
    return this.#arbitrary(this.#definition(`${method}:params`));
  }

  /** As a kernel has to read them: params that are null or missing are empty. */
  fits(method: string, text: string): boolean {
    let check = this.#checks.get(method);
    if (check === undefined) {
      // A method's name has slashes, which a JSON pointer writes as "~1".
      const pointer = `${method}:params`.replaceAll("/", "~1");
      check = this.#ajv.compile({ $ref: `published#/definitions/${pointer}` });
      this.#checks.set(method, check);
    }
    return check((JSON.parse(text) as unknown) ?? {});
  }

  #definition(name: string): Schema {
    const found = this.#definitions[name];
    if (found === undefined) throw new Error(`The published schema has no "${name}".`);
    return found;
  }

  #arbitrary(schema: Schema): fc.Arbitrary<unknown> {
    if (typeof schema["$ref"] === "string")
      return this.#arbitrary(this.#definition(schema["$ref"].split("/").at(-1) ?? ""));
    if ("const" in schema) return fc.constant(schema["const"]);
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((branch) => this.#arbitrary(branch)));
    switch (schema.type) {
      case "object":
        return this.#object(schema);
      case "array":
        return fc.array(this.#arbitrary(schema.items ?? {}), {
          minLength: numberOf(schema["minItems"]) ?? 0,
          maxLength: Math.max(numberOf(schema["minItems"]) ?? 0, 3),
        });
      case "string":
        return stringOf(schema);
      case "integer":
      case "number":
        return numbersOf(schema);
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      case undefined:
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  }

  #object(schema: Schema): fc.Arbitrary<unknown> {
    const properties = Object.entries(schema.properties ?? {});
    const required = [...(schema.required ?? [])];
    return fc.record(Object.fromEntries(properties.map(([name, each]) => [name, this.#arbitrary(each)])), {
      requiredKeys: required,
    });
  }
}

function stringOf(schema: Schema): fc.Arbitrary<string> {
  const { pattern } = schema;
  if (pattern === "^sha256:[0-9a-f]{64}$")
    return fc
      .array(fc.nat(15), { minLength: 64, maxLength: 64 })
      .map((digits) => `sha256:${digits.map((digit) => digit.toString(16)).join("")}`);
  if (typeof pattern === "string") return fc.constantFrom("faces", "a.b-c", "Z9");
  const minLength = numberOf(schema["minLength"]) ?? 0;
  const maxLength = Math.min(numberOf(schema["maxLength"]) ?? 40, 40);
  return fc.oneof(
    fc.string({ minLength, maxLength }),
    fc.constantFrom(...likelyStrings.filter((text) => text.length >= minLength && text.length <= maxLength)),
  );
}

function numbersOf(schema: Schema): fc.Arbitrary<number> {
  const min = numberOf(schema["minimum"]) ?? 0;
  const max = numberOf(schema["maximum"]) ?? Number.MAX_SAFE_INTEGER;
  if (schema.type === "integer") return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));
  return fc.double({ min: Math.max(min, 1e-9), max: Math.min(max, 1e9), noNaN: true });
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Strings that pass the first check: existing names, paths, times, globs, ids. */
const likelyStrings = [
  "test.probe",
  "a.txt",
  "seen",
  "**",
  "*.{txt,md}",
  "7d",
  "2026-11-20T00:00:00.000Z",
  "working",
  "0192f0c1-2345-7abc-8def-0123456789ab",
] as const;

/** Text that replaces a value in the JSON: numbers that JavaScript does not write. */
const rawNumbers = ["1e999", "-1e999", "-0", "1e308", "123456789012345678901234567890", "0.1e-400"] as const;
const rawMark = "raw number:";

let nested: unknown = 0;
for (let depth = 0; depth < 150; depth++) nested = [nested];

/** Values that break code which trusts its caller. */
const hostile: readonly unknown[] = [
  null,
  true,
  0,
  1,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  Number.MAX_SAFE_INTEGER,
  -Number.MAX_SAFE_INTEGER,
  ...rawNumbers.map((text) => rawMark + text),
  "",
  " ",
  "x".repeat(70_000),
  "\ud800",
  "a\ud800.txt",
  "\u0000",
  "a\u0000b",
  "\u001b[2J\u202eevil",
  "..",
  "../../../../etc/passwd",
  "/etc/passwd",
  "C:\\Windows",
  ".git/config",
  "constructor",
  "__proto__",
  "NaN",
  "[object Object]",
  "99999999999999999999999999999999999999d",
  "+275760-09-13T00:00:00.001Z",
  "2026-99-99",
  "-1d",
  "{a,b}".repeat(60),
  "[".repeat(2000),
  "(a+)+$",
  "'; DROP TABLE entries; --",
  "%",
  "%F0%9F",
  [],
  [[]],
  [null],
  ["a", "b"],
  {},
  { length: 1e9 },
  // oxlint-disable-next-line unicorn/no-thenable -- awaited by mistake, it would be called
  { then: 1 },
  { toString: "x", valueOf: "y" },
  { constructor: { prototype: { polluted: true } } },
  nested,
  Array.from({ length: 5000 }, (_, index) => index),
];

type Mutation = (value: unknown, place: number, odd: unknown) => unknown;

const mutations: readonly Mutation[] = [
  (value, place, odd) => replaced(value, place, () => odd),
  (value, place, odd) => replaced(value, place, () => odd),
  (value, place, odd) => replaced(value, place, () => odd),
  // Removes a required field, or adds an unknown one.
  (value, place) => {
    const owner = objectAt(value, place);
    const names = Object.keys(owner);
    const name = names[place % Math.max(1, names.length)];
    if (name !== undefined) delete owner[name];
    return value;
  },
  (value, place, odd) => {
    const owner = objectAt(value, place);
    const names = ["unknown", "__proto__", "constructor", "toJSON", "", "\u001b[31m", "hasOwnProperty"];
    Object.defineProperty(owner, names[place % names.length] ?? "unknown", {
      value: odd,
      enumerable: true,
      configurable: true,
    });
    return value;
  },
  // An array in place of an object, and vice versa.
  (value, place) =>
    replaced(value, place, (old) => (Array.isArray(old) ? Object.fromEntries(old.entries()) : [old, old])),
  (value) => value,
];

/** Returns every replaceable place in a value: its owner and its key there. */
function placesOf(value: unknown): [Record<string, unknown>, string][] {
  if (typeof value !== "object" || value === null) return [];
  const owner = value as Record<string, unknown>;
  return Object.keys(owner).flatMap((key) => [
    [owner, key] as [Record<string, unknown>, string],
    ...placesOf(owner[key]),
  ]);
}

function replaced(value: unknown, place: number, change: (old: unknown) => unknown): unknown {
  const places = placesOf(value);
  const found = places[place % (places.length + 1)];
  if (found === undefined) return change(value);
  const [owner, key] = found;
  Object.defineProperty(owner, key, {
    value: change(owner[key]),
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return value;
}

function objectAt(value: unknown, place: number): Record<string, unknown> {
  const objects = [value, ...placesOf(value).map(([owner, key]) => owner[key])].filter(
    (each): each is Record<string, unknown> =>
      typeof each === "object" && each !== null && !Array.isArray(each),
  );
  return objects[place % Math.max(1, objects.length)] ?? {};
}

/** As JSON, with the numbers that only text can express. */
function written(value: unknown): string {
  return JSON.stringify(value).replaceAll(new RegExp(`"${rawMark}([^"]*)"`, "g"), "$1");
}
