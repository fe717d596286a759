import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import type { TSchema } from "typebox";
import { invalidParams } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";

/** One error as a sentence: what is wrong, with the value, and what would be right. */
interface ValidationFault {
  /** The place in the value, such as `params.effects[0].kind`. */
  readonly path: string;
  readonly message: string;
}

// The schemas are ours, and a test validates them against the meta-schema; compiling that too takes tens of
// milliseconds.
const ajv = new Ajv({
  strict: true,
  allowUnionTypes: true,
  verbose: true,
  meta: false,
  validateSchema: false,
});
const compiled = new WeakMap<object, ValidateFunction>();

function compile(schema: object): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  const fresh = ajv.compile(schema);
  compiled.set(schema, fresh);
  return fresh;
}

/** Validates a value against a schema, which is compiled at first use and cached. Null: it is valid. */
export function validate(schema: TSchema, value: unknown, root = "params"): ValidationFault | null {
  const check = compile(schema);
  if (check(value)) return null;
  // ajv stops at the first keyword that fails and reports it last, after the errors of a union's branches.
  const error = check.errors?.at(-1);
  return error ? explain(error, root) : { path: root, message: `${root} does not have the right form.` };
}

/** Throws InvalidParams with data `{ method, path }` if a message's params are invalid. */
export function checkParams(method: string, schema: TSchema, params: unknown): void {
  const fault = validate(schema, params);
  if (fault) throw invalidParams(`${method}: ${fault.message}`, { method, path: fault.path });
}

function explain(error: ErrorObject, root: string): ValidationFault {
  const path = root + pathOf(error.instancePath);
  if (error.keyword === "anyOf") return explainUnion(error, path);
  const value = error.data;
  const parent: Record<string, unknown> = isJsonObject(error.parentSchema) ? error.parentSchema : {};
  const parameters: Record<string, unknown> = error.params;
  const is = `${path} is ${shown(value)}`;
  switch (error.keyword) {
    case "required":
      return {
        path,
        message: `${path} has no "${String(parameters["missingProperty"])}", which is required.`,
      };
    case "additionalProperties": {
      const known = isJsonObject(parent["properties"]) ? Object.keys(parent["properties"]).join(", ") : "";
      const name = String(parameters["additionalProperty"]).slice(0, 80);
      return {
        path,
        message: `${path} has a field ${JSON.stringify(name)} that is not known; known are: ${known}.`,
      };
    }
    case "type":
      return { path, message: `${is}; it must be ${article(String(parameters["type"]))}.` };
    case "const":
      return { path, message: `${is}; it must be ${shown(parameters["allowedValue"])}.` };
    case "enum": {
      const allowed = Array.isArray(error.schema) ? error.schema.map(shown).join(", ") : "the allowed values";
      return { path, message: `${is}; it must be one of ${allowed}.` };
    }
    case "pattern":
      return { path, message: `${is}; it must match ${String(parameters["pattern"])}${described(parent)}.` };
    case "minLength":
    case "maxLength":
    case "minItems":
    case "maxItems": {
      const length = typeof value === "string" || Array.isArray(value) ? value.length : 0;
      const unit = error.keyword.endsWith("Items") ? "items" : "characters";
      const bound = error.keyword.startsWith("min") ? "at least" : "at most";
      return {
        path,
        message: `${path} has ${length} ${unit}; it must have ${bound} ${String(parameters["limit"])}.`,
      };
    }
    default:
      return { path, message: `${is}; it ${error.message ?? "does not fit"}${described(parent)}.` };
  }
}

/** Describes a union by its literals, or by the one branch that the value matches best. */
function explainUnion(error: ErrorObject, path: string): ValidationFault {
  const branches = (Array.isArray(error.schema) ? error.schema : []).filter(isJsonObject);
  if (branches.every((branch) => "const" in branch)) {
    const allowed = branches.map((branch) => shown(branch["const"])).join(", ");
    return { path, message: `${path} is ${shown(error.data)}; it must be one of ${allowed}.` };
  }
  const value: unknown = error.data;
  if (isJsonObject(value)) {
    const key = discriminatorOf(branches);
    if (key !== null) {
      const meant = branches.filter((branch) => constantOf(branch, key) === value[key]);
      const closest = meant.toSorted((a, b) => strangeFields(a, value) - strangeFields(b, value))[0];
      if (!closest) {
        const kinds = [...new Set(branches.map((branch) => shown(constantOf(branch, key))))].join(", ");
        const is = key in value ? `is ${shown(value[key])}` : "is missing";
        return { path: `${path}.${key}`, message: `${path}.${key} ${is}; it must be one of ${kinds}.` };
      }
      const inner = validate(closest, value, path);
      if (inner) return inner;
    }
  }
  const is = isJsonObject(value)
    ? `has the fields ${Object.keys(value).join(", ").slice(0, 200) || "(none)"}`
    : `is ${shown(value)}`;
  return { path, message: `${path} ${is}; it must be ${branches.map(formOf).join(" or ")}.` };
}

function formOf(branch: Record<string, unknown>): string {
  const { type, required } = branch;
  if (type === "object" && Array.isArray(required)) return `{ ${required.join(", ")} }`;
  return typeof type === "string" ? article(type).replace("a null", "null") : "another form";
}

function discriminatorOf(branches: readonly Record<string, unknown>[]): string | null {
  const [first] = branches;
  if (!first || !isJsonObject(first["properties"])) return null;
  const keys = Object.keys(first["properties"]);
  return keys.find((key) => branches.every((branch) => constantOf(branch, key) !== undefined)) ?? null;
}

function constantOf(branch: Record<string, unknown>, key: string): unknown {
  const properties = branch["properties"];
  const property = isJsonObject(properties) ? properties[key] : undefined;
  return isJsonObject(property) ? property["const"] : undefined;
}

function strangeFields(branch: Record<string, unknown>, value: Record<string, unknown>): number {
  const known = isJsonObject(branch["properties"]) ? branch["properties"] : {};
  return Object.keys(value).filter((key) => !Object.hasOwn(known, key)).length;
}

export function pathOf(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((part) => (/^\d+$/.test(part) ? `[${part}]` : `.${part.slice(0, 80)}`))
    .join("");
}

function shown(value: unknown): string {
  if (value === undefined) return "missing";
  if (isJsonObject(value)) return "an object";
  if (Array.isArray(value)) return "an array";
  const text = JSON.stringify(typeof value === "string" ? value.slice(0, 80) : value);
  return typeof value === "string" && value.length > 80 ? `${text}…` : text;
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function described(schema: Record<string, unknown>): string {
  return typeof schema["description"] === "string" ? ` (${schema["description"]})` : "";
}
