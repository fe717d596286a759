import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { compileSchema } from "../../kernel/src/tools/argument-validator.ts";
import {
  filesBeneath,
  folderOf,
  howToFetch,
  knownDeviations,
  suites,
  type Deviations,
} from "./support/suites.ts";

const folder = folderOf(suites.jsonSchema);

interface Group {
  readonly description: string;
  readonly schema: object | boolean;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    readonly valid: boolean;
  }[];
}

describe.skipIf(folder === null)(
  folder === null ? howToFetch(suites.jsonSchema) : "JSON-Schema-Test-Suite, draft-07",
  () => {
    test("tools' arguments are checked against schemas as in the suite, except in the recorded cases", () => {
      const place = join(folder ?? "", "tests/draft7");
      const deviations: Deviations = {};
      let cases = 0;
      for (const file of filesBeneath(place)) {
        for (const group of JSON.parse(readFileSync(join(place, file), "utf8")) as Group[]) {
          const answerOf = validatorOf(group.schema);
          for (const { description, data, valid } of group.tests) {
            cases++;
            const answer = answerOf(data);
            if (answer !== (valid ? "valid" : "invalid"))
              deviations[`${file} › ${group.description} › ${description}`] = answer;
          }
        }
      }
      expect(cases).toBeGreaterThan(1000);
      expect(deviations).toEqual(knownDeviations("json-schema"));
    });
  },
);

/** A function that answers for one value; compiling is what takes time. */
function validatorOf(schema: object | boolean): (data: unknown) => string {
  try {
    const validate = compileSchema(schema);
    return (data) => (validate(data) ? "valid" : "invalid");
  } catch {
    return () => "no schema";
  }
}
