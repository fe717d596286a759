import { invalidParams, type LaresError } from "../base/errors.ts";
import { canonicalJson, isJsonObject, type JsonValue } from "../base/json.ts";
import type { Where } from "./queries.ts";

/**
 * The meaning of a query's conditions, for all kinds of memory and for shared types.
 *
 * A field is a path of keys, "a.b.c"; a number is the place of an element where it meets an array. Keys with a dot in
 * them, and empty ones, cannot be reached. No character has another meaning.
 *
 * - `eq`: the same JSON value. Numbers are equal as doubles, objects whatever the order of their keys, strings code point
 *   by code point. Nothing equals what is of another type: not 1 and "1", not null and a field that is not there.
 * - `ne`: all that is not `eq`, so also where the field is not there.
 * - `in`: `eq` to one of the value's elements.
 * - `gt`, `gte`, `lt`, `lte`: of numbers with a number, and of strings with a string, by code points (so ISO times go by
 *   time). Values of another type do not match.
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
export type Comparison = "gt" | "gte" | "lt" | "lte";
/** Keys and indexes, none of them empty. */
export type Path = readonly string[];
export interface Place {
  readonly latitude: number;
  readonly longitude: number;
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
export const placeKeys = [
  ["lat", "lon"],
  ["lat", "lng"],
  ["latitude", "longitude"],
] as const;

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
