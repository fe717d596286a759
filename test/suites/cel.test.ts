import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Budget } from "../../kernel/src/events/budget.ts";
import { correctNodes } from "../../kernel/src/events/corrections.ts";
import { createLanguage } from "../../kernel/src/events/environment.ts";
import { rootOf } from "../../kernel/src/events/expression.ts";
import { folderOf, howToFetch, knownDeviations, suites } from "./support/suites.ts";
import {
  fieldOf,
  isMessage,
  messagesOf,
  parseTextProto,
  textOf,
  type TextMessage,
} from "./support/text-proto.ts";

/*
 * cel-spec's simple conformance tests in the language of filters. Left out: protobuf's messages and enums, containers,
 * and extensions of the language that filters do not have.
 */

const files = [
  "basic",
  "comparisons",
  "conversions",
  "fields",
  "fp_math",
  "integer_math",
  "lists",
  "logic",
  "macros",
].concat(["parse", "plumbing", "string", "timestamps"]);
const folder = folderOf(suites.cel);
const data = join(folder ?? "", suites.cel.marker);
const known = knownDeviations("cel");

const { environment } = createLanguage("com.example.a/Seen");

describe.skipIf(folder === null)(folder === null ? howToFetch(suites.cel) : "cel-spec", () => {
  test("every expression has its value or its error, except those written down", () => {
    const deviations: Record<string, string> = {};
    let cases = 0;
    for (const file of files) {
      const read = parseTextProto(readFileSync(join(data, `${file}.textproto`), "utf8"));
      for (const section of messagesOf(read, "section"))
        for (const each of messagesOf(section, "test")) {
          if (!isOfFilters(each)) continue;
          cases++;
          const outcome = outcomeOf(each);
          const name = [file, textOf(fieldOf(section, "name")), textOf(fieldOf(each, "name"))].join("/");
          if (outcome !== null) deviations[name] = outcome;
        }
    }
    expect(cases).toBeGreaterThan(600);
    expect(deviations).toEqual(known);
  });
});

/** Returns true if a case needs nothing but the language itself. */
function isOfFilters(each: TextMessage): boolean {
  const foreign = ["container", "typed_result", "unknown", "any_unknowns", "any_eval_errors", "check_only"];
  if (each.some(([name]) => foreign.includes(name))) return false;
  const whole = JSON.stringify(each, (_, value: unknown) => (value instanceof Uint8Array ? "" : value));
  return (
    !/object_value|enum_value/.test(whole) &&
    !/TestAllTypes|google\.protobuf|proto[23]/.test(textOf(fieldOf(each, "expr")))
  );
}

/** Returns null if the library's result is the expected one, else the difference. */
function outcomeOf(each: TextMessage): string | null {
  const expected = fieldOf(each, "value");
  const isError = fieldOf(each, "eval_error") !== undefined;
  let value: unknown;
  try {
    const parsed = environment.parse(textOf(fieldOf(each, "expr")));
    const root = rootOf(parsed);
    correctNodes(root);
    const checked = fieldOf(each, "disable_check") === "true" ? null : parsed.check();
    if (checked !== null && !checked.valid) return isError ? null : "is refused";
    // Refuses values out of range, in addition to counting steps.
    new Budget(root).reset();
    value = parsed(bindingsOf(each));
  } catch {
    return isError ? null : "fails";
  }
  if (isError) return "does not fail";
  const wanted = isMessage(expected) ? jsonOf(expected) : "true";
  return shown(value) === wanted ? null : `is ${shown(value)}`;
}

function bindingsOf(each: TextMessage): Record<string, unknown> {
  const bindings = messagesOf(each, "bindings").map((binding) => {
    const [outer] = messagesOf(binding, "value");
    const [inner] = outer === undefined ? [] : messagesOf(outer, "value");
    return [textOf(fieldOf(binding, "key")), inner === undefined ? null : nativeOf(inner)];
  });
  return Object.fromEntries(bindings) as Record<string, unknown>;
}

/** Converts a cel.expr.Value to the library's value. */
function nativeOf(message: TextMessage): unknown {
  const [[kind, value] = ["null_value", ""]] = message;
  if (isMessage(value)) {
    if (kind === "list_value") return messagesOf(value, "values").map(nativeOf);
    return new Map(
      messagesOf(value, "entries").map((entry) => {
        const [key = [], item = []] = [...messagesOf(entry, "key"), ...messagesOf(entry, "value")];
        return [nativeOf(key), nativeOf(item)];
      }),
    );
  }
  if (kind === "int64_value") return BigInt(textOf(value));
  if (kind === "uint64_value") return { uint: textOf(value) };
  if (kind === "double_value") return doubleOf(textOf(value));
  if (kind === "bool_value") return value === "true";
  if (kind === "string_value") return textOf(value);
  if (kind === "bytes_value") return value;
  return kind === "type_value" ? { type: textOf(value) } : null;
}

function doubleOf(text: string): number {
  const infinite = /^(-?)inf(?:inity)?$/i.exec(text);
  return infinite === null ? Number(text) : infinite[1] === "-" ? -Infinity : Infinity;
}

function jsonOf(message: TextMessage): string {
  return shown(nativeOf(message));
}

/** Describes a value so that equal values of the same type have the same text. */
function shown(value: unknown): string {
  if (typeof value === "bigint") return `${value}`;
  if (typeof value === "number") return Object.is(value, -0) ? "-0.0" : `double ${value}`;
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return `[${value.map(shown).join(", ")}]`;
  if (value instanceof Map) return entries([...value]);
  if (typeof value !== "object" || value === null) return String(value);
  if ("uint" in value) return `${String(value.uint)}u`;
  if ("type" in value) return `type ${String(value.type)}`;
  const { name } = value.constructor ?? {};
  if (name === "UnsignedInt") return `${String((value as { valueOf: () => bigint }).valueOf())}u`;
  if (name === "Type") return `type ${String((value as { name?: unknown }).name)}`;
  return name === "Object" || name === undefined
    ? entries(Object.entries(value))
    : `${name} ${(value as { toString: () => string }).toString()}`;
}

function entries(pairs: readonly (readonly [unknown, unknown])[]): string {
  return `{${pairs
    .map(([key, value]) => `${shown(key)}: ${shown(value)}`)
    .toSorted()
    .join(", ")}}`;
}
