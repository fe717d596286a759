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

/** Compiles a JSON Schema of draft-07. Throws where it is none, or names a pattern or a `$ref` there is not. */
export function compileSchema(schema: object | boolean): ValidateFunction {
  // A validator for each, so that an `$id` in one schema says nothing in another.
  const ajv = new Ajv({
    allErrors: false,
    strict: false,
    logger: false,
    // A copy at every use would let a small schema become much code.
    inlineRefs: false,
    // What arguments do not have themselves they do not have: no "toString", no "constructor".
    ownProperties: true,
    // As draft-07 says.
    ignoreKeywordsWithRef: true,
    formats: argumentFormats,
    code: { regExp: linearRegExp },
  });
  return ajv.compile(schema);
}
