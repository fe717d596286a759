import { isJsonObject } from "../base/json.ts";

/** The work of one check in the kernel's own thread: places of the value, their names, and characters that are counted. */
const maxSteps = 2000;
/** Characters that are counted in one step. */
const charactersPerStep = 100;
/** The number of schemas, names and listed values in a schema. */
const maxSchemaParts = 500;
const maxDepth = 32;

/** What is left of one check's work. A check that needs more fails. */
interface Work {
  steps: number;
}

type Check = (value: unknown, work: Work) => boolean;

/** What is left of a schema's parts while it is compiled. */
interface Parts {
  left: number;
}

class NotPlain extends Error {}

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isScalar = (value: unknown): boolean => value === null || typeof value !== "object";

const types = new Map<unknown, (value: unknown) => boolean>([
  ["string", (value) => typeof value === "string"],
  ["number", isNumber],
  ["integer", Number.isInteger],
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
  ["object", isJsonObject],
  ["array", Array.isArray],
]);

/**
 * Compiles a draft-07 JSON Schema that is cheap to check whatever the value is: without references, patterns, formats and
 * alternatives, each place of a value is looked at once. Returns null for any other schema, valid or not. The check
 * returns true only if all values fit; false if one does not, or if finding out takes too many steps.
 */
export function plainSchema(schema: unknown): ((...values: readonly unknown[]) => boolean) | null {
  try {
    const check = compiled(schema, { left: maxSchemaParts }, 0);
    return (...values) => {
      const work = { steps: maxSteps };
      return values.every((value) => check(value, work));
    };
  } catch (error) {
    if (error instanceof NotPlain) return null;
    throw error;
  }
}

function require(holds: boolean): asserts holds {
  if (!holds) throw new NotPlain();
}

function compiled(schema: unknown, parts: Parts, depth: number): Check {
  parts.left -= 1;
  require(parts.left >= 0 && depth <= maxDepth);
  if (typeof schema === "boolean") return () => schema;
  require(isJsonObject(schema));
  const checks: Check[] = [];
  const below = (part: unknown): Check => compiled(part, parts, depth + 1);
  const list = (part: unknown): readonly unknown[] => {
    require(Array.isArray(part));
    parts.left -= part.length;
    require(parts.left >= 0);
    return part;
  };
  for (const [keyword, given] of Object.entries(schema)) {
    switch (keyword) {
      case "title":
      case "description":
        require(typeof given === "string");
        break;
      case "default":
        break;
      case "type":
        checks.push(ofType(typeof given === "string" ? [given] : list(given)));
        break;
      case "enum":
        checks.push(oneOf(list(given)));
        break;
      case "const":
        checks.push(oneOf([given]));
        break;
      case "minimum":
        checks.push(ofNumber(given, (value, bound) => value >= bound));
        break;
      case "maximum":
        checks.push(ofNumber(given, (value, bound) => value <= bound));
        break;
      case "exclusiveMinimum":
        checks.push(ofNumber(given, (value, bound) => value > bound));
        break;
      case "exclusiveMaximum":
        checks.push(ofNumber(given, (value, bound) => value < bound));
        break;
      case "minLength":
        checks.push(
          ofLength(
            given,
            (least, _most, bound) => least >= bound,
            (length, bound) => length >= bound,
          ),
        );
        break;
      case "maxLength":
        checks.push(
          ofLength(
            given,
            (_least, most, bound) => most <= bound,
            (length, bound) => length <= bound,
          ),
        );
        break;
      case "minItems":
        checks.push(ofItems(given, (length, bound) => length >= bound));
        break;
      case "maxItems":
        checks.push(ofItems(given, (length, bound) => length <= bound));
        break;
      case "items":
        checks.push(eachItem(below(given)));
        break;
      case "required":
        checks.push(withNames(list(given)));
        break;
      case "properties":
      case "additionalProperties":
        // Together, below.
        break;
      default:
        require(false);
    }
  }
  const { properties = {}, additionalProperties = true } = schema;
  require(isJsonObject(properties));
  const named = Object.entries(properties).map(([name, part]) => [name, below(part)] as const);
  checks.push(eachProperty(new Map(named), below(additionalProperties)));
  return (value, work) => {
    work.steps -= 1;
    return work.steps >= 0 && checks.every((check) => check(value, work));
  };
}

function ofType(names: readonly unknown[]): Check {
  const allowed = names.map((name) => types.get(name)).filter((type) => type !== undefined);
  require(names.length > 0 && allowed.length === names.length && new Set(names).size === names.length);
  return (value) => allowed.some((is) => is(value));
}

function oneOf(values: readonly unknown[]): Check {
  const allowed = new Set(values);
  require(values.length > 0 && values.every(isScalar) && allowed.size === values.length);
  return (value) => allowed.has(value);
}

function ofNumber(bound: unknown, holds: (value: number, bound: number) => boolean): Check {
  require(isNumber(bound));
  return (value) => typeof value !== "number" || holds(value, bound);
}

/** Lengths are in code points, which are counted only where the code units do not tell: `isClear`. */
function ofLength(
  bound: unknown,
  isClear: (least: number, most: number, bound: number) => boolean,
  holds: (length: number, bound: number) => boolean,
): Check {
  require(isCount(bound));
  return (value, work) => {
    if (typeof value !== "string") return true;
    if (isClear(Math.ceil(value.length / 2), value.length, bound)) return true;
    work.steps -= Math.ceil(value.length / charactersPerStep);
    return work.steps >= 0 && holds(Array.from(value).length, bound);
  };
}

function ofItems(bound: unknown, holds: (length: number, bound: number) => boolean): Check {
  require(isCount(bound));
  return (value) => !Array.isArray(value) || holds(value.length, bound);
}

function eachItem(check: Check): Check {
  return (value, work) => !Array.isArray(value) || value.every((item) => check(item, work));
}

function withNames(names: readonly unknown[]): Check {
  const required = names.filter((name) => typeof name === "string");
  require(required.length === names.length && new Set(names).size === names.length);
  return (value, work) => {
    if (!isJsonObject(value)) return true;
    work.steps -= required.length;
    return work.steps >= 0 && required.every((name) => Object.hasOwn(value, name));
  };
}

function eachProperty(named: ReadonlyMap<string, Check>, other: Check): Check {
  return (value, work) => {
    if (!isJsonObject(value)) return true;
    const names = Object.keys(value);
    work.steps -= names.length;
    return work.steps >= 0 && names.every((name) => (named.get(name) ?? other)(value[name], work));
  };
}
