import { isDeepStrictEqual } from "node:util";
import type { JsonValue } from "../../../base/json.ts";
import type { Where } from "../../../memory-contract/queries.ts";
import { checkedPath, earthRadiusKm, type Path, placeOf } from "../../../memory-contract/conditions.ts";

/** A simple reference for the conditions of `where.ts`: works on one value at a time. */
export function matches(data: JsonValue, where: readonly Where[]): boolean {
  return where.every((condition) => matchesOne(valueAt(data, checkedPath(condition.field)), condition));
}

function matchesOne(found: JsonValue | undefined, { op, value, km }: Where): boolean {
  switch (op) {
    case "eq":
      return same(found, value);
    case "ne":
      return !same(found, value);
    case "in":
      return (value as JsonValue[]).some((one) => same(found, one));
    case "gt":
    case "gte":
    case "lt":
    case "lte": {
      if (typeof found !== typeof value || (typeof found !== "number" && typeof found !== "string"))
        return false;
      const order =
        typeof found === "number" ? found - (value as number) : byCodePoints(found, value as string);
      return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[op];
    }
    case "contains":
      if (Array.isArray(found)) return found.some((one) => same(one, value));
      return typeof found === "string" && typeof value === "string" && formed(found).includes(formed(value));
    case "near": {
      const [here, there] = [placeOf(found), placeOf(value)];
      if (here === null || there === null) return false;
      return kilometres(here, there) <= (km ?? 0);
    }
  }
}

function valueAt(data: JsonValue, path: Path): JsonValue | undefined {
  let found: unknown = data;
  for (const key of path) {
    if (Array.isArray(found)) found = /^(0|[1-9]\d*)$/.test(key) ? found[Number(key)] : undefined;
    else if (typeof found === "object" && found !== null && Object.hasOwn(found, key)) {
      found = (found as Record<string, unknown>)[key];
    } else return undefined;
  }
  return found as JsonValue | undefined;
}

const formed = (text: string): string => text.toWellFormed();

// -0 is 0 in JSON.
const same = (left: JsonValue | undefined, right: JsonValue): boolean =>
  left !== undefined && isDeepStrictEqual(plain(left), plain(right));
const plain = (value: JsonValue): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === "string" ? formed(inner) : inner)),
  );

function byCodePoints(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

type Place = NonNullable<ReturnType<typeof placeOf>>;
function kilometres(here: Place, there: Place): number {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const half =
    Math.sin(radians(here.latitude - there.latitude) / 2) ** 2 +
    Math.cos(radians(here.latitude)) *
      Math.cos(radians(there.latitude)) *
      Math.sin(radians(here.longitude - there.longitude) / 2) ** 2;
  return 2 * earthRadiusKm * Math.asin(Math.sqrt(Math.min(1, half)));
}
