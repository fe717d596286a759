import { invalidParams, type LaresError } from "../../base/errors.ts";
import { canonicalJson, isJsonObject, type JsonValue } from "../../base/json.ts";
import type { Where } from "../../memory-contract/queries.ts";
import type { SqlValue } from "./port.ts";

/**
 * What the conditions of a query mean, for all kinds of memory.
 *
 * A field is a path of keys, "a.b.c"; a number is the place of an element where it meets an array. Keys with a dot in
 * them, and empty ones, cannot be reached. No character has another meaning.
 *
 * - `eq`: the same JSON value. Numbers are equal as doubles, objects whatever the order of their keys, strings code point
 *   by code point. Nothing equals what is of another type: not 1 and "1", not null and a field that is not there.
 * - `ne`: all that is not `eq`, so also where the field is not there.
 * - `in`: `eq` to one of the value's elements.
 * - `gt`, `gte`, `lt`, `lte`: of numbers with a number, and of strings with a string, by code points (so ISO times go by
 *   time). What is of another type does not match.
 * - `contains`: of a string, that the value stands in it, upper and lower case as they are; of an array, that one of its
 *   elements is `eq` to the value. All else does not match.
 * - `near`: at most `km` kilometres from the value, along a sphere of 6,371.0088 km. A place is [latitude, longitude],
 *   {lat, lon}, {lat, lng} or {latitude, longitude}, in degrees within ±90 and ±180; what is none does not match.
 *
 * Half a surrogate pair, in a value or a field, stands for U+FFFD.
 */
export type Condition =
  | { readonly op: "eq" | "ne"; readonly path: Path; readonly value: JsonValue }
  | { readonly op: "in"; readonly path: Path; readonly values: readonly JsonValue[] }
  | { readonly op: Comparison; readonly path: Path; readonly value: number | string }
  | { readonly op: "contains"; readonly path: Path; readonly value: JsonValue }
  | { readonly op: "near"; readonly path: Path; readonly place: Place; readonly km: number };
type Comparison = keyof typeof comparisons;
/** Keys and indexes, none of them empty. */
export type Path = readonly string[];
interface Place {
  readonly latitude: number;
  readonly longitude: number;
}

export interface SqlCondition {
  /** A boolean expression that is never NULL, with a `?` for each parameter. */
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

export const maxConditions = 32;
export const maxInValues = 1000;
/** Maximum characters of a field's path. */
export const maxFieldLength = 512;
/** Maximum characters of a condition's value, as JSON. */
const maxValueLength = 65_536;
/** Maximum nesting of arrays and objects in a condition's value. */
const maxValueDepth = 32;
export const earthRadiusKm = 6371.0088;
/** Pairs of keys that make an object a place; the first pair that exists counts. */
const placeKeys = [
  ["lat", "lon"],
  ["lat", "lng"],
  ["latitude", "longitude"],
] as const;

const comparisons = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;

/**
 * Returns conditions that all have to hold, over a column with `storedJson`. Throws InvalidParams that names what would
 * be valid.
 */
export function whereSql(where: readonly Where[], column: string): SqlCondition {
  const parts = checkedConditions(where).map((condition) => conditionSql(condition, column));
  return parts.length === 0
    ? { sql: "true", params: [] }
    : {
        sql: parts.map(({ sql }) => `(${sql})`).join(" AND "),
        params: parts.flatMap(({ params }) => params),
      };
}

/**
 * Returns the text of a JSON value in a column with conditions. It is canonical (RFC 8785), so that equal values are
 * equal texts. A value without a canonical form (half a surrogate pair) is in no journal, which uses the same form.
 */
export function storedJson(value: JsonValue): string {
  // A value from a journal has its keys in order already, unless they look like numbers.
  return hasSortedKeys(value) ? JSON.stringify(value) : canonicalJson(value);
}

function hasSortedKeys(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(hasSortedKeys);
  let before = "";
  for (const [key, inner] of Object.entries(value)) {
    if (key < before || !hasSortedKeys(inner)) return false;
    before = key;
  }
  return true;
}

/** Throws InvalidParams that names what would be valid. */
export function checkedConditions(where: readonly Where[]): Condition[] {
  if (!Array.isArray(where)) throw invalidParams("where must be a list, such as [{ field, op, value }].");
  if (where.length > maxConditions) {
    throw invalidParams(`where has ${where.length} conditions; at most ${maxConditions} are allowed.`);
  }
  return where.map(checkedCondition);
}

function checkedCondition(where: Where): Condition {
  const path = checkedPath(where.field);
  const value = checkedValue(where);
  const { op, field } = where;
  switch (op) {
    case "eq":
    case "ne":
    case "contains":
      return { op, path, value };
    case "in":
      if (!Array.isArray(value)) throw wrong(where, `takes an array of values`);
      if (value.length > maxInValues) throw wrong(where, `takes at most ${maxInValues} values`);
      return { op, path, values: value };
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      if (typeof value !== "number" && typeof value !== "string")
        throw wrong(where, "takes a number or a string");
      return { op, path, value };
    case "near": {
      const place = placeOf(value);
      if (place === null) {
        throw wrong(where, "takes [latitude, longitude] in degrees, within ±90 and ±180");
      }
      const { km } = where;
      if (typeof km !== "number" || !Number.isFinite(km) || km < 0) {
        throw invalidParams(`where ${field} near needs a radius: write km as a number of at least 0.`);
      }
      return { op, path, place, km };
    }
    default:
      throw invalidParams(
        `where has no op "${String(op satisfies never).slice(0, 32)}"; use eq, ne, in, gt, gte, lt, lte, contains or near.`,
      );
  }
}

/** Splits "a.b.c" into its keys. */
export function checkedPath(field: string): Path {
  if (typeof field !== "string" || field.length > maxFieldLength) {
    throw invalidParams(
      `A field must be a text of at most ${maxFieldLength} characters, such as "place.name".`,
    );
  }
  const path = field.toWellFormed().split(".");
  if (path.includes("")) {
    throw invalidParams(
      `"${field}" is not a field. Write keys with dots between them, such as "place.name".`,
    );
  }
  return path;
}

/** Returns the place that a value describes, or null. */
export function placeOf(value: JsonValue | undefined): Place | null {
  if (Array.isArray(value)) return value.length === 2 ? checkedPlace(value[0], value[1]) : null;
  if (!isJsonObject(value)) return null;
  const keys = placeKeys.find(
    ([latitude, longitude]) => Object.hasOwn(value, latitude) && Object.hasOwn(value, longitude),
  );
  return keys === undefined ? null : checkedPlace(value[keys[0]], value[keys[1]]);
}

function checkedPlace(latitude: unknown, longitude: unknown): Place | null {
  return typeof latitude === "number" &&
    typeof longitude === "number" &&
    Math.abs(latitude) <= 90 &&
    Math.abs(longitude) <= 180
    ? { latitude, longitude }
    : null;
}

function checkedValue(where: Where): JsonValue {
  if (where.value === undefined) throw wrong(where, "needs a value");
  if (nestsTooDeep(where.value, maxValueDepth)) {
    throw wrong(where, `takes a value that nests at most ${maxValueDepth} deep`);
  }
  const value = wellFormed(where.value);
  if (canonicalJson(value).length > maxValueLength) {
    throw wrong(where, `takes a value of at most ${maxValueLength} characters as JSON`);
  }
  return value;
}

const nestsTooDeep = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => nestsTooDeep(inner, levels - 1)));

const wrong = ({ field, op }: Where, what: string): LaresError =>
  invalidParams(`where ${field} ${op} ${what}.`);

/** Values from the wire have bounded depth; this refuses values that recursion cannot follow. */
function wellFormed(value: JsonValue): JsonValue {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key.toWellFormed(), wellFormed(inner ?? null)]),
  );
}

/** Returns a field's path as a JSON Pointer (RFC 6901) for DuckDB, in which only ~ and / have a meaning. */
const pointerOf = (path: Path): string =>
  path.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Returns one condition over a column with `storedJson`. */
export function conditionSql(condition: Condition, column: string): SqlCondition {
  const pointer = pointerOf(condition.path);
  const extracted = `json_extract(${column}, ?)`;
  switch (condition.op) {
    case "eq":
      return equalsSql(extracted, pointer, condition.value);
    case "ne": {
      const { sql, params } = equalsSql(extracted, pointer, condition.value);
      return { sql: `NOT (${sql})`, params };
    }
    case "in":
      // DuckDB does not treat nulls in a list as values.
      return {
        sql: `coalesce(list_contains(${listOf(normal)}, ${extracted}), false)${
          condition.values.includes(null) ? ` OR coalesce(json_type(${column}, ?) = 'NULL', false)` : ""
        }`,
        params: [
          canonicalJson(condition.values),
          pointer,
          ...(condition.values.includes(null) ? [pointer] : []),
        ],
      };
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return {
        sql: `coalesce(CASE WHEN json_type(${column}, ?) ${
          typeof condition.value === "number"
            ? `IN ${numberTypes} THEN CAST(json_extract_string(${column}, ?) AS DOUBLE) ${comparisons[condition.op]} CAST(? AS DOUBLE)`
            : `= 'VARCHAR' THEN json_extract_string(${column}, ?) ${comparisons[condition.op]} ?`
        } END, false)`,
        params: [pointer, pointer, condition.value],
      };
    case "contains":
      return containsSql(condition.value, column, pointer);
    case "near":
      return nearSql(condition, column);
  }
}

const numberTypes = "('UBIGINT', 'BIGINT', 'HUGEINT', 'UHUGEINT', 'DOUBLE')";
/** Returns a parameter's JSON in the form in which DuckDB writes what it extracts. */
const normal = "json_extract(?, '$')";
const listOf = (json: string): string => `CAST(${json} AS JSON[])`;

const equalsSql = (extracted: string, pointer: string, value: JsonValue): SqlCondition => ({
  sql: `coalesce(${extracted} = ${normal}, false)`,
  params: [pointer, canonicalJson(value)],
});

function containsSql(value: JsonValue, column: string, pointer: string): SqlCondition {
  const elements = listOf(`json_extract(${column}, ?)`);
  const isElement =
    value === null
      ? { sql: `list_count(${elements}) < len(${elements})`, params: [pointer, pointer] }
      : { sql: `list_contains(${elements}, ${normal})`, params: [pointer, canonicalJson(value)] };
  const inString =
    typeof value === "string"
      ? {
          sql: `WHEN 'VARCHAR' THEN contains(json_extract_string(${column}, ?), ?)`,
          params: [pointer, value],
        }
      : { sql: "", params: [] };
  return {
    sql: `coalesce(CASE json_type(${column}, ?) WHEN 'ARRAY' THEN ${isElement.sql} ${inString.sql} END, false)`,
    params: [pointer, ...isElement.params, ...inString.params],
  };
}

function nearSql({ path, place, km }: Extract<Condition, { op: "near" }>, column: string): SqlCondition {
  const degrees = (key: string, limit: number): SqlCondition => ({
    sql: `CASE WHEN json_type(${column}, ?) IN ${numberTypes}
      AND abs(CAST(json_extract_string(${column}, ?) AS DOUBLE)) <= ${limit}
      THEN CAST(json_extract_string(${column}, ?) AS DOUBLE) END`,
    params: Array.from({ length: 3 }, () => pointerOf([...path, key])),
  });
  const within = (latitudeKey: string, longitudeKey: string): SqlCondition => {
    const latitude = degrees(latitudeKey, 90);
    const longitude = degrees(longitudeKey, 180);
    return {
      sql: `pow(sin(radians(${latitude.sql} - CAST(? AS DOUBLE)) / 2), 2) +
        cos(radians(CAST(? AS DOUBLE))) * cos(radians(${latitude.sql})) *
        pow(sin(radians(${longitude.sql} - CAST(? AS DOUBLE)) / 2), 2) <= CAST(? AS DOUBLE)`,
      params: [
        ...latitude.params,
        place.latitude,
        place.latitude,
        ...latitude.params,
        ...longitude.params,
        place.longitude,
        haversineOf(km),
      ],
    };
  };
  const cases = placeKeys.map(([latitude, longitude]) => {
    const there = [latitude, longitude].map((key) => pointerOf([...path, key]));
    const { sql, params } = within(latitude, longitude);
    return {
      sql: `WHEN json_exists(${column}, ?) AND json_exists(${column}, ?) THEN ${sql}`,
      params: [...there, ...params],
    };
  });
  const pair = within("0", "1");
  const pointer = pointerOf(path);
  return {
    sql: `coalesce(CASE json_type(${column}, ?)
      WHEN 'ARRAY' THEN CASE WHEN json_array_length(${column}, ?) = 2 THEN ${pair.sql} END
      WHEN 'OBJECT' THEN CASE ${cases.map(({ sql }) => sql).join(" ")} END
      END, false)`,
    params: [pointer, pointer, ...pair.params, ...cases.flatMap(({ params }) => params)],
  };
}

/**
 * Returns the haversine value of this distance. Beyond the antipode it is above 1, which no two places exceed except by
 * rounding.
 */
const haversineOf = (km: number): number =>
  km >= Math.PI * earthRadiusKm ? 2 : Math.sin(km / (2 * earthRadiusKm)) ** 2;
