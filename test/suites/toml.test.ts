import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseDocument } from "../../kernel/src/documents/text/parse.ts";
import {
  documentText,
  folderOf,
  howToFetch,
  knownDeviations,
  suites,
  type Deviations,
} from "./support/suites.ts";

const folder = folderOf(suites.toml);

describe.skipIf(folder === null)(folder === null ? howToFetch(suites.toml) : "toml-test, TOML 1.0", () => {
  const tests = join(folder ?? "", "tests");
  const cases =
    folder === null
      ? []
      : readFileSync(join(tests, "files-toml-1.0.0"), "utf8")
          .split("\n")
          .filter((name) => name.endsWith(".toml"));

  test("every invalid document is refused", () => {
    const invalid = cases.filter((name) => name.startsWith("invalid/"));
    expect(invalid.length).toBeGreaterThan(400);
    const accepted = invalid.filter(
      (name) => parseDocument(documentText(join(tests, name)), "toml").diagnostics.length === 0,
    );
    expect(accepted).toEqual([]);
  });

  test("every valid document is read as its value, except those refused on purpose", () => {
    const valid = cases.filter((name) => name.startsWith("valid/"));
    expect(valid.length).toBeGreaterThan(180);
    const deviations: Deviations = {};
    for (const name of valid) {
      const { value, diagnostics } = parseDocument(documentText(join(tests, name)), "toml");
      const [fault] = diagnostics;
      if (fault !== undefined) {
        deviations[name] = fault.code;
        continue;
      }
      const wanted: unknown = JSON.parse(readFileSync(join(tests, name.replace(/toml$/, "json")), "utf8"));
      if (!isSame(value, wanted)) deviations[name] = "another value";
    }
    expect(deviations).toEqual(knownDeviations("toml"));
  });
});

interface Tagged {
  readonly type: string;
  readonly value: string;
}

function isTagged(value: unknown): value is Tagged {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.keys(value).toSorted().join() === "type,value" &&
    typeof (value as Tagged).value === "string"
  );
}

function isSame(value: unknown, wanted: unknown): boolean {
  if (isTagged(wanted)) return isSameScalar(value, wanted);
  if (Array.isArray(wanted))
    return (
      Array.isArray(value) &&
      value.length === wanted.length &&
      wanted.every((item, index) => isSame(value[index], item))
    );
  const [own, other] = [value, wanted] as Record<string, unknown>[];
  if (own === undefined || other === undefined || own === null || Array.isArray(own)) return false;
  return (
    Object.keys(own).toSorted().join("\n") === Object.keys(other).toSorted().join("\n") &&
    Object.entries(other).every(([key, item]) => isSame(own[key], item))
  );
}

function isSameScalar(value: unknown, { type, value: written }: Tagged): boolean {
  switch (type) {
    case "string":
      return value === written;
    case "bool":
      return value === (written === "true");
    case "integer":
    case "float":
      return value === Number(written);
    default:
      // Dates are strings in documents; the suite writes fractions of seconds without trailing zeros.
      return typeof value === "string" && withoutZeros(value) === withoutZeros(written);
  }
}

function withoutZeros(date: string): string {
  return date
    .toUpperCase()
    .replace(" ", "T")
    .replace(/\.(\d*?)0+(?=\D|$)/, (_all, digits: string) => (digits === "" ? "" : `.${digits}`));
}
