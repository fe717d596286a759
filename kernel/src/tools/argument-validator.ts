import { Ajv, type ValidateFunction } from "ajv";
import { compilePattern } from "../base/linear-pattern.ts";
import { argumentFormats } from "./argument-formats.ts";

/** Patterns come from manifests: they run on RE2, where none can be slow. */
const linearRegExp = Object.assign(
  (pattern: string) => {
    const ready = compilePattern(pattern);
    // ajv tells compiled patterns apart by what they print as.
    return { test: (text: string) => ready.test(text), toString: () => pattern };
  },
  { code: "linearRegExp" },
);

/** Compiles a draft-07 JSON Schema. Throws if it is invalid, or if a pattern or `$ref` cannot be resolved. */
export function compileSchema(schema: object | boolean): ValidateFunction {
  // A validator for each, so that an `$id` in one schema says nothing in another.
  const ajv = new Ajv({
    allErrors: false,
    strict: false,
    logger: false,
    // A copy at every use would let a small schema become much code.
    inlineRefs: false,
    // Only own properties count, so arguments never satisfy a required "toString" or "constructor".
    ownProperties: true,
    // As draft-07 says.
    ignoreKeywordsWithRef: true,
    formats: argumentFormats,
    code: { regExp: linearRegExp },
  });
  return ajv.compile(schema);
}
