import { evaluate } from "@marcbachmann/cel-js";

/** A duration as cel-js represents it: whole seconds, and nanoseconds of the same sign. */
export interface Duration {
  readonly seconds: bigint;
  readonly nanos: number;
}

// The library does not export these classes, so they are taken from values.
const UnsignedInt = constructorOf(evaluate("0u"));
const DurationClass = constructorOf(evaluate("duration('0s')"));

const [minInt, maxInt] = [-(2n ** 63n), 2n ** 63n - 1n];
/** CEL's timestamps range from the year 1 to the year 9999; a duration is at most as long. */
const [minTime, maxTime] = [Date.parse("0001-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59.999Z")];
const maxDurationSeconds = 315_576_000_000n;

/** Returns the value. Throws a RangeError if it lies outside the range that CEL defines for its type. */
export function inRange(value: unknown): unknown {
  if (typeof value === "bigint") {
    if (value < minInt || value > maxInt) throw new RangeError(`${value} is too large for an int.`);
  } else if (value instanceof Date) {
    const time = value.getTime();
    if (!(time >= minTime && time <= maxTime))
      throw new RangeError("A timestamp has to be between the years 1 and 9999.");
  } else if (isDuration(value)) {
    const { seconds, nanos } = value;
    const beyond = seconds < 0n ? -seconds - maxDurationSeconds : seconds - maxDurationSeconds;
    if (beyond > 0n || (beyond === 0n && nanos !== 0))
      throw new RangeError("A duration can be at most 10,000 years.");
  }
  return value;
}

/** Returns true if two values are equal in CEL: numbers of any type by value, lists and maps by their contents. */
export function areEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (isNumber(one)) return isNumber(other) && one.valueOf() == other.valueOf();
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => areEqual(item, other[index]));
  }
  if (one instanceof Date) return other instanceof Date && one.getTime() === other.getTime();
  if (isDuration(one)) return isDuration(other) && nanosecondsOf(one) === nanosecondsOf(other);
  if (one instanceof Uint8Array)
    return (
      other instanceof Uint8Array &&
      one.length === other.length &&
      one.every((byte, at) => byte === other[at])
    );
  if (!isMap(one) || !isMap(other)) return false;
  const [ones, others] = [membersOf(one), membersOf(other)];
  if (ones.size !== others.size) return false;
  return [...ones].every(([key, value]) => others.has(key) && areEqual(value, others.get(key)));
}

/** Formats a duration as CEL does, in seconds: `-1.5s`. */
export function durationText(duration: Duration): string {
  const total = nanosecondsOf(duration);
  const [sign, size] = total < 0n ? ["-", -total] : ["", total];
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, "0")
    .replace(/(?<!0)0+$/, "");
  return `${sign}${size / 1_000_000_000n}${fraction === "" ? "" : `.${fraction}`}s`;
}

function nanosecondsOf({ seconds, nanos }: Duration): bigint {
  return seconds * 1_000_000_000n + BigInt(nanos);
}

/** An int is a bigint and a double is a number; a uint is an object of the library. */
function isNumber(value: unknown): value is number | bigint | { valueOf: () => bigint } {
  return typeof value === "number" || typeof value === "bigint" || value instanceof UnsignedInt;
}

function isDuration(value: unknown): value is Duration {
  return value instanceof DurationClass;
}

/** An entry, an optional value and a type are objects, too, but equal only to themselves. */
function isMap(value: object): value is ReadonlyMap<unknown, unknown> | Readonly<Record<string, unknown>> {
  if (value instanceof Map) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** By keys as text, which is how the library stores the keys of a map literal. */
function membersOf(
  map: ReadonlyMap<unknown, unknown> | Readonly<Record<string, unknown>>,
): Map<string, unknown> {
  const members = map instanceof Map ? [...(map as ReadonlyMap<unknown, unknown>)] : Object.entries(map);
  return new Map(members.map(([key, value]) => [String(key), value]));
}

function constructorOf(value: unknown): new () => unknown {
  return (value as object).constructor as new () => unknown;
}
