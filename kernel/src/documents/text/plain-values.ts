import type { Reading, ReportFault, SourceNode } from "./source.ts";

/**
 * Returns the reading with JSON values only: null, booleans, finite numbers, well-formed strings, lists, and maps
 * with only own properties. Any other value (a Date, a Symbol, bytes) becomes null and an error at its place.
 * Later stages may rely on JSON.
 */
export function plainReading<Read extends Reading>(reading: Read, report: ReportFault): Read {
  return { ...reading, value: plain(reading.value, reading.root, reading.root, report) };
}

function plain(value: unknown, node: SourceNode | undefined, near: SourceNode, report: ReportFault): unknown {
  const place = node ?? near;
  const refuse = (code: "unsupported-value" | "unsupported-number", what: string): null => {
    report(code, place.start, place.end, what);
    return null;
  };
  switch (typeof value) {
    case "boolean":
      return value;
    case "string":
      return value.isWellFormed()
        ? value
        : refuse("unsupported-value", "The text holds half of a surrogate pair, which is not a character.");
    case "number":
      if (Number.isFinite(value)) return value === 0 ? 0 : value;
      return refuse("unsupported-number", "The number is not finite.");
    case "object":
      if (value === null) return null;
      if (Array.isArray(value))
        return value.map((item, index) => plain(item, node?.children.get(String(index)), place, report));
      if (Object.getPrototypeOf(value) === Object.prototype) {
        const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
          if (!key.isWellFormed())
            refuse(
              "unsupported-value",
              "A key of this map holds half of a surrogate pair, which is not a character.",
            );
          return [key, plain(item, node?.children.get(key), place, report)];
        });
        return Object.fromEntries(entries);
      }
      break;
    case "bigint":
    case "function":
    case "symbol":
    case "undefined":
      break;
  }
  return refuse("unsupported-value", "This value is none that a document can hold: write it as text.");
}
