/** Entry file of the process that validates tools' arguments against their schemas. */
import type { ErrorObject, ValidateFunction } from "ajv";
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

function check({ schema, args, each }: ArgumentRequest): ArgumentVerdict {
  let validate: ValidateFunction;
  try {
    validate = validatorOf(schema);
  } catch (error) {
    return { kind: "bad schema", message: cut(faultOfSchema(messageOf(error))) };
  }
  const index = each === true && Array.isArray(args) ? args.findIndex((item) => !validate(item)) : undefined;
  if (index === undefined ? validate(args) : index === -1) return { kind: "fits" };
  const [error] = validate.errors ?? [];
  const path = cut(error?.instancePath ?? "");
  const message = cut(messageOfMisfit(error));
  const params: object | undefined = error?.params;
  const isShort = params !== undefined && JSON.stringify(params).length <= maxSentenceCharacters;
  return {
    kind: "unfit",
    path,
    message,
    ...(index === undefined ? {} : { index }),
    ...(isShort ? { params } : {}),
  };
}

/** The validator's own sentence, except where it leaves out what is expected. */
function messageOfMisfit(error: ErrorObject | undefined): string {
  if (error === undefined) return "must fit the schema";
  const params: Readonly<Record<string, unknown>> = error.params;
  switch (error.keyword) {
    case "required":
      return `must have required property ${JSON.stringify(params["missingProperty"])}`;
    case "additionalProperties":
      return `must not have the property ${JSON.stringify(params["additionalProperty"])}`;
    case "enum":
      return `must be one of ${(params["allowedValues"] as readonly unknown[]).map((each) => JSON.stringify(each)).join(", ")}`;
    case "const":
      return `must be ${JSON.stringify(params["allowedValue"])}`;
    default:
      return error.message ?? "must fit the schema";
  }
}

/** The validator repeats that the schema is invalid, and calls the schema its data. */
function faultOfSchema(message: string): string {
  const repeated = "schema is invalid: ";
  if (!message.startsWith(repeated)) return message;
  // At the beginning of each fault, and in no name that ends in "data".
  return message
    .slice(repeated.length)
    .replaceAll(/(^|, )data\//g, "$1/")
    .replaceAll(/(^|, )data /g, "$1it ");
}

function cut(text: string): string {
  return text.length <= maxSentenceCharacters
    ? text
    : `${text.slice(0, maxSentenceCharacters - 1).toWellFormed()}…`;
}

// ArgumentChecker sends requests of this type.
serveRequests((request) => check(request as ArgumentRequest));
