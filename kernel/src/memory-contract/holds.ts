import { canonicalJson, type JsonObject, type JsonValue } from "../base/json.ts";
import { type Condition, earthRadiusKm, type Path, type Place, placeOf } from "./conditions.ts";

/** Returns whether a value meets all conditions, as `conditions.ts` defines them. */
export function holdAll(conditions: readonly Condition[], value: JsonValue): boolean {
  return conditions.every((condition) => holds(condition, valueAt(value, condition.path)));
}

function holds(condition: Condition, found: JsonValue | undefined): boolean {
  switch (condition.op) {
    case "eq":
      return isSame(found, condition.value);
    case "ne":
      return !isSame(found, condition.value);
    case "in":
      return condition.values.some((one) => isSame(found, one));
    case "contains":
      if (Array.isArray(found)) return found.some((one) => isSame(one, condition.value));
      return (
        typeof found === "string" &&
        typeof condition.value === "string" &&
        found.toWellFormed().includes(condition.value)
      );
    case "near": {
      const place = placeOf(found);
      return place !== null && kilometresBetween(place, condition.place) <= condition.km;
    }
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      const order = orderOf(found, condition.value);
      if (order === null) return false;
      return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[condition.op];
    }
  }
}

function valueAt(value: JsonValue, path: Path): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    if (Array.isArray(found)) found = /^(?:0|[1-9]\d*)$/.test(key) ? found[Number(key)] : undefined;
    else found = Object.hasOwn(found, key) ? (found as JsonObject)[key] : undefined;
  }
  return found;
}

/** `wanted` is well-formed already. */
function isSame(found: JsonValue | undefined, wanted: JsonValue): boolean {
  if (found === undefined) return false;
  if (typeof found === "string") return found.toWellFormed() === wanted;
  if (typeof found !== "object" || found === null) return found === wanted;
  return typeof wanted === "object" && wanted !== null && canonicalJson(found) === canonicalJson(wanted);
}

/** Returns null for values of different types, and for types that have no order. */
function orderOf(found: JsonValue | undefined, wanted: number | string): number | null {
  if (typeof found === "number" && typeof wanted === "number") return found - wanted;
  if (typeof found !== "string" || typeof wanted !== "string") return null;
  return byCodePoints(found.toWellFormed(), wanted);
}

/** Compares by code points. JavaScript's own order is by UTF-16 units, in which U+FFFF is after U+10000. */
function byCodePoints(left: string, right: string): number {
  let at = 0;
  while (at < left.length && at < right.length && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  if (at === left.length || at === right.length) return left.length - right.length;
  return rankOf(left.charCodeAt(at)) - rankOf(right.charCodeAt(at));
}

/** Ranks the halves of surrogate pairs, which stand for code points from U+10000, above all other units. */
function rankOf(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

function kilometresBetween(here: Place, there: Place): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const half =
    Math.sin(radians(here.latitude - there.latitude) / 2) ** 2 +
    Math.cos(radians(here.latitude)) *
      Math.cos(radians(there.latitude)) *
      Math.sin(radians(here.longitude - there.longitude) / 2) ** 2;
  return 2 * earthRadiusKm * Math.asin(Math.sqrt(Math.min(1, half)));
}
