import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { parseDocument } from "../../kernel/src/documents/text/parse.ts";
import {
  documentText,
  filesBeneath,
  folderOf,
  howToFetch,
  knownDeviations,
  suites,
  type Deviations,
} from "./support/suites.ts";

const folder = folderOf(suites.yaml);

describe.skipIf(folder === null)(folder === null ? howToFetch(suites.yaml) : "yaml-test-suite", () => {
  const cases =
    folder === null
      ? []
      : filesBeneath(folder)
          .filter((path) => /^[A-Z0-9]{4}\/(?:\d+\/)?in\.yaml$/.test(path))
          .map((path) => dirname(path));
  const isInvalid = (name: string): boolean => existsSync(join(folder ?? "", name, "error"));

  test("every invalid document is refused", () => {
    const invalid = cases.filter(isInvalid);
    expect(invalid.length).toBeGreaterThan(80);
    const accepted: Deviations = {};
    for (const name of invalid) if (read(name).diagnostics.length === 0) accepted[name] = "accepted";
    expect(accepted).toEqual({});
  });

  test("every valid document is read as its value, except those refused on purpose", () => {
    const valid = cases.filter((name) => !isInvalid(name));
    expect(valid.length).toBeGreaterThan(280);
    const deviations: Deviations = {};
    for (const name of valid) {
      const { value, diagnostics } = read(name);
      const [fault] = diagnostics;
      const json = join(folder ?? "", name, "in.json");
      const wanted = existsSync(json) ? jsonOf(readFileSync(json, "utf8")) : undefined;
      if (fault !== undefined) deviations[name] = fault.code;
      else if (wanted !== undefined && !isDeepStrictEqual(value, wanted)) deviations[name] = "another value";
    }
    expect(deviations).toEqual(knownDeviations("yaml"));
  });

  function read(name: string) {
    return parseDocument(documentText(join(folder ?? "", name, "in.yaml")), "yaml");
  }
});

/** Returns the value; undefined if the suite has several, for several documents. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trim() === "" ? null : undefined;
  }
}
