/** Entry file of the process that validates tools' arguments against their schemas. */
import type { ValidateFunction } from "ajv";
import { messageOf } from "../base/errors.ts";
import { serveRequests } from "../platform/children/helper-requests.ts";
import type { ArgumentRequest, ArgumentVerdict } from "./argument-checker.ts";
import { compileSchema } from "./argument-validator.ts";

/** The number of compiled schemas that are cached. */
const maxCompiled = 512;
/** Maximum characters of a message about arguments. */
const maxSentenceCharacters = 1000;

const compiled = new Map<string, ValidateFunction>();

function validatorOf(schema: string): ValidateFunction {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const validate = compileSchema(JSON.parse(schema) as object);
  const oldest = compiled.keys().next();
  if (compiled.size >= maxCompiled && oldest.done !== true) compiled.delete(oldest.value);
  compiled.set(schema, validate);
  return validate;
}

function check({ schema, args }: ArgumentRequest): ArgumentVerdict {
  let validate: ValidateFunction;
  try {
    validate = validatorOf(schema);
  } catch (error) {
    return { kind: "bad schema", message: cut(messageOf(error)) };
  }
  if (validate(args)) return { kind: "fits" };
  const [error] = validate.errors ?? [];
  const path = cut(error?.instancePath ?? "");
  const message = cut(error?.message ?? "do not fit");
  const facts = error?.params === undefined ? "" : cut(` (${JSON.stringify(error.params)})`);
  return { kind: "unfit", path, message, facts };
}

function cut(text: string): string {
  return text.length <= maxSentenceCharacters
    ? text
    : `${text.slice(0, maxSentenceCharacters - 1).toWellFormed()}…`;
}

// ArgumentChecker sends requests of this type.
serveRequests((request) => check(request as ArgumentRequest));
