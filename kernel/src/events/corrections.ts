import type { Environment } from "@marcbachmann/cel-js";
import { callOf, writtenNodes, type ExpressionNode } from "./expression.ts";
import { areEqual, durationText, type Duration } from "./values.ts";
import { WallClock } from "./wall-clock.ts";

/*
 * Corrects cel-js where it deviates from CEL's specification in a way that a filter can notice. `budget.ts`, which sees
 * every value, rejects values out of range; README.md lists the deviations that remain.
 */

const timestamp = "google.protobuf.Timestamp";
const duration = "google.protobuf.Duration";

/** No filter can contain a name with a space, so the library's own method cannot be called under this name. */
const replacement = " of Lares";

/** Declares a method that replaces the library's for calls with this number of arguments. See `replacedMethods`. */
export function replaceMethod(
  environment: Environment,
  { name, receiver, parameters, result }: MethodSignature,
  handler: (...values: never[]) => unknown,
): void {
  environment.registerFunction({
    name: name + replacement,
    receiverType: receiver,
    params: parameters.map((type, index) => ({ name: `argument${index}`, type })),
    returnType: result,
    async: false,
    handler,
  });
}

interface MethodSignature {
  readonly name: string;
  readonly receiver: string;
  readonly parameters: readonly string[];
  readonly result: string;
}

/** Returns a name, or a text of the library, with methods named as filters write them. */
export function asWritten(text: string): string {
  return text.replaceAll(replacement, "");
}

/** Returns true if the library has a method under this name that no filter can write. */
export function isReplacement(name: string): boolean {
  return name.endsWith(replacement);
}

/** Declares functions that the library lacks, and replaces its methods on times that use the local time zone. */
export function correctFunctions(environment: Environment): void {
  const sync = { async: false };
  const conversions: Readonly<Record<string, (value: never) => unknown>> = {
    [`int(${timestamp}): int`]: (time: Date) => BigInt(Math.floor(time.getTime() / 1000)),
    "int(uint): int": (value: { valueOf: () => bigint }) => value.valueOf(),
    [`string(${timestamp}): string`]: (time: Date) => time.toISOString().replace(".000Z", "Z"),
    [`string(${duration}): string`]: (span: Duration) => durationText(span),
    [`timestamp(${timestamp}): ${timestamp}`]: (time: Date) => time,
    [`duration(${duration}): ${duration}`]: (span: Duration) => span,
  };
  for (const [signature, convert] of Object.entries(conversions))
    environment.registerFunction(signature, convert, sync);
  for (const [name, part] of Object.entries(partsOfTime)) {
    const method = { name, receiver: timestamp, parameters: ["string"], result: "int" };
    replaceMethod(environment, method, (time: Date, timezone: string) =>
      BigInt(part(new Date(clockOf(timezone).wallTimeAt(time.getTime())))),
    );
  }
  const dayOfYear = { name: "getDayOfYear", receiver: timestamp, parameters: [], result: "int" };
  replaceMethod(environment, dayOfYear, (time: Date) => BigInt(partsOfTime.getDayOfYear(time)));
}

/** Reads the parts of a time whose UTC fields hold the wall time. */
const partsOfTime = {
  getFullYear: (time: Date) => time.getUTCFullYear(),
  getMonth: (time: Date) => time.getUTCMonth(),
  getDate: (time: Date) => time.getUTCDate(),
  getDayOfMonth: (time: Date) => time.getUTCDate() - 1,
  getDayOfWeek: (time: Date) => time.getUTCDay(),
  getDayOfYear: (time: Date) => Math.floor((time.getTime() - new Date(time).setUTCMonth(0, 1)) / 86_400_000),
  getHours: (time: Date) => time.getUTCHours(),
  getMinutes: (time: Date) => time.getUTCMinutes(),
  getSeconds: (time: Date) => time.getUTCSeconds(),
};

/** The methods to replace, with their numbers of arguments. Without a time zone the library's results are right. */
const replacedMethods = new Map<string, readonly number[]>([
  ["matches", [1]],
  ...Object.keys(partsOfTime).map((name) => [name, [1]] as const),
  ["getDayOfYear", [0, 1]],
]);

/** Clocks of time zones, the oldest evicted first: a zone may come from an event. */
const clocks = new Map<string, WallClock>();
const maxClocks = 32;

/**
 * Returns the clock of a time zone: an IANA name, or an offset such as `+02:00`, whose plus may be left out. Throws if
 * there is no such zone.
 */
function clockOf(timezone: string): WallClock {
  let clock = clocks.get(timezone);
  if (clock === undefined) {
    clock = new WallClock(/^\d/.test(timezone) ? `+${timezone}` : timezone);
    if (clocks.size >= maxClocks) clocks.delete(clocks.keys().next().value ?? "");
    clocks.set(timezone, clock);
  }
  return clock;
}

/** Corrects the nodes of a parsed expression. Must be called before its types are checked. */
export function correctNodes(root: ExpressionNode): void {
  for (const node of writtenNodes(root)) {
    const call = callOf(node);
    const isReplaced =
      call?.receiver !== undefined && replacedMethods.get(call.name)?.includes(call.arguments.length);
    if (isReplaced === true) (node.args as unknown[])[0] = call?.name + replacement;
    if (node.op === "list" || node.op === "map") typeOfEmpty(node);
    if (node.op === "+") typeOfTime(node);
    if (node.op === "==" || node.op === "!=" || node.op === "in") compareValues(node);
  }
}

/** Gives items of empty lists and maps the type `dyn`. The library has no operators for its own choice of type. */
function typeOfEmpty(node: ExpressionNode): void {
  if ((node.args as readonly unknown[]).length > 0) return;
  const type = node.op === "list" ? "list<dyn>" : "map<dyn, dyn>";
  const check = node.check;
  node.check = (checker, self, context) => {
    // The library's own check prepares the node for evaluation.
    check.call(node, checker, self, context);
    return checker.getType(type);
  };
}

/** Adding a duration and a timestamp yields a timestamp; the library types the sum as a duration. */
function typeOfTime(node: ExpressionNode): void {
  const check = node.check;
  node.check = (checker, self, context) => {
    const type = check.call(node, checker, self, context);
    const [left, right] = node.args as readonly ExpressionNode[];
    return left?.checkedType?.name === duration && right?.checkedType?.name === timestamp
      ? right.checkedType
      : type;
  };
}

/** The library does not find a uint in a list of other numbers, and lists with different number types never equal. */
function compareValues(node: ExpressionNode): void {
  const [left, right] = node.args as readonly [ExpressionNode, ExpressionNode];
  node.evaluate = (evaluator, _self, context) => {
    const [one, other] = [evaluator.run(left, context), evaluator.run(right, context)];
    if (node.op !== "in") return areEqual(one, other) === (node.op === "==");
    if (Array.isArray(other)) return other.some((item) => areEqual(one, item));
    return node.handle?.(one, other, node, evaluator);
  };
}
