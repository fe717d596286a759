import { canonicalJson, type JsonValue } from "../../base/json.ts";
import {
  checkedConditions,
  type Comparison,
  type Condition,
  earthRadiusKm,
  type Path,
  placeKeys,
} from "../../memory-contract/conditions.ts";
import type { Where } from "../../memory-contract/queries.ts";
import type { SqlValue } from "./port.ts";

export interface SqlCondition {
  /** A boolean expression that is never NULL, with a `?` for each parameter. */
  readonly sql: string;
  readonly params: readonly SqlValue[];
}

const comparisons: Readonly<Record<Comparison, string>> = { gt: ">", gte: ">=", lt: "<", lte: "<=" };

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
