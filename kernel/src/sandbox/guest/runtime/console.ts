/** The most that a `console` call writes into a trace. */
const maxCharacters = 8 * 1024;
const maxDepth = 4;
const maxItems = 100;

type Level = "debug" | "info" | "warn" | "error";

/** Returns the agents' `console`: every call is one trace entry. */
export function makeConsole(
  trace: (level: Level, message: string) => void,
  now: () => number,
): Record<string, unknown> {
  const counts = new Map<string, number>();
  const timers = new Map<string, number>();
  const at = (level: Level) => {
    return (...args: unknown[]): void => trace(level, formatMessage(args));
  };
  const log = at("info");
  const error = at("error");
  return {
    log,
    info: log,
    dir: (value: unknown) => log(value),
    table: (value: unknown) => log(value),
    debug: at("debug"),
    trace: at("debug"),
    warn: at("warn"),
    error,
    assert: (holds: unknown, ...args: unknown[]) => {
      if (!holds) error("Assertion failed:", ...args);
    },
    count: (label = "default") => {
      const count = (counts.get(String(label)) ?? 0) + 1;
      counts.set(String(label), count);
      log(`${String(label)}: ${count}`);
    },
    time: (label = "default") => void timers.set(String(label), now()),
    timeEnd: (label = "default") => {
      const start = timers.get(String(label));
      timers.delete(String(label));
      if (start !== undefined) log(`${String(label)}: ${(now() - start).toFixed(3)} ms`);
    },
    group: log,
    groupEnd: () => {},
  };
}

/** A small version of Node's `util.format`: %s %d %i %f %j %o %O %%, the rest joined by spaces. */
function formatMessage(args: readonly unknown[]): string {
  let index = 0;
  let text = "";
  const first = args[0];
  if (typeof first === "string") {
    index = 1;
    text = first.replace(/%[sdifjoO%]/g, (mark) => {
      if (mark === "%%") return "%";
      if (index >= args.length) return mark;
      const value = args[index++];
      if (mark === "%s") return typeof value === "string" ? value : inspect(value, maxDepth);
      if (mark === "%d" || mark === "%f") return String(Number(value));
      if (mark === "%i") return String(Math.trunc(Number(value)));
      return inspect(value, maxDepth);
    });
  }
  for (; index < args.length; index++) {
    const value = args[index];
    text += `${index === 0 ? "" : " "}${typeof value === "string" ? value : inspect(value, maxDepth)}`;
  }
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}… (${text.length} characters)` : text;
}

/** Formats a value for people; bounded in depth and width, safe on cycles. */
function inspect(value: unknown, depth: number, seen: readonly object[] = []): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return `[Function ${value.name || "anonymous"}]`;
  if (typeof value !== "object" || value === null) return String(value);
  if (seen.includes(value)) return "[Circular]";
  if (value instanceof Error)
    return value.stack ? `${String(value)}\n${value.stack.trimEnd()}` : String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (depth === 0) return Array.isArray(value) ? "[Array]" : "[Object]";
  const within = [...seen, value];
  const show = (item: unknown): string => inspect(item, depth - 1, within);
  if (Array.isArray(value)) return list("[", value.length, value, show, "]");
  if (ArrayBuffer.isView(value)) return `${value.constructor.name}(${value.byteLength} bytes)`;
  if (value instanceof Map) {
    return list("Map {", value.size, value, ([key, item]) => `${show(key)} => ${show(item)}`, "}");
  }
  if (value instanceof Set) return list("Set {", value.size, value, show, "}");
  if (value instanceof Promise) return "Promise {}";
  const name = value.constructor === Object || !value.constructor ? "" : `${value.constructor.name} `;
  const keys = Object.keys(value);
  return list(
    `${name}{`,
    keys.length,
    keys,
    (key) => `${key}: ${show((value as Record<string, unknown>)[key])}`,
    "}",
  );
}

function list<Item>(
  open: string,
  length: number,
  items: Iterable<Item>,
  show: (item: Item) => string,
  close: string,
): string {
  if (length === 0) return open + close;
  const shown: string[] = [];
  for (const item of items) {
    if (shown.length === maxItems) break;
    shown.push(show(item));
  }
  if (length > maxItems) shown.push(`… ${length - maxItems} more`);
  const space = open === "[" ? "" : " ";
  return `${open}${space}${shown.join(", ")}${space}${close}`;
}
