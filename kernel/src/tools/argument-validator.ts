import { Ajv, type ValidateFunction } from "ajv";
import { compilePattern } from "../base/linear-pattern.ts";
import { argumentFormats } from "./argument-formats.ts";

/** Patterns come from manifests, so they run on RE2, in linear time. */
const linearRegExp = Object.assign(
  (pattern: string) => {
    const ready = compilePattern(pattern);
    // ajv identifies compiled patterns by their string form.
    return { test: (text: string) => ready.test(text), toString: () => pattern };
  },
  { code: "linearRegExp" },
);

/** Compiles a draft-07 JSON Schema. Throws if it is invalid, or if a pattern or `$ref` cannot be resolved. */
export function compileSchema(schema: object | boolean): ValidateFunction {
  // Each schema has its own validator, so that an `$id` in one does not affect another.
  const ajv = new Ajv({
    allErrors: false,
    strict: false,
    logger: false,
    // Inlining at every use could expand a small schema to much code.
    inlineRefs: false,
    // Only own properties count, so arguments never satisfy a required "toString" or "constructor".
    ownProperties: true,
    // As draft-07 requires.
    ignoreKeywordsWithRef: true,
    formats: argumentFormats,
    code: { regExp: linearRegExp },
  });
  return ajv.compile(schema);
}
