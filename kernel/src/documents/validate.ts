import type { ErrorObject, ValidateFunction } from "ajv";
import { RE2JS } from "re2js";
import type { TSchema } from "typebox";
import { extensionIdPattern } from "../base/vocabulary/extension.ts";
import { secretNamePattern, secretNameRule } from "../base/vocabulary/secret.ts";
import { closest, didYouMean } from "../base/suggest.ts";
import { diagnostic, maxDiagnostics, type Diagnostic, type Fix } from "./text/diagnostics.ts";
import { durationPattern, parseDuration } from "./schema/durations.ts";
import { modelReferencePattern } from "./schema/models.ts";
import {
  type PropertySchema,
  insertMissing,
  remedyPattern,
  rename,
  retype,
  withoutEntry,
  write,
} from "./fixes/repairs.ts";
import { soundPart } from "./sound-part.ts";
import { pointerKeys, pointerTo, type ParsedDocument } from "./text/source.ts";
import { nextTurn } from "./text/turns.ts";

const validators = new Map<TSchema, ValidateFunction>();

/** Loaded when the first document is checked, because loading and compiling with ajv takes tens of milliseconds. */
async function validatorOf(schema: TSchema): Promise<ValidateFunction> {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const { Ajv } = await import("./ajv.ts");
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    // The schemas are ours, and a test validates them against the meta-schema; compiling that too would double the
    // time.
    meta: false,
    validateSchema: false,
    // Checking 500 lines takes 0.1 ms with or without ajv's optimizer, which makes compiling 50 % slower.
    code: { regExp: linearRegExp, optimize: false },
  });
  const validate = ajv.compile(schema);
  validators.set(schema, validate);
  return validate;
}

/** Patterns run on RE2, because a document's text is untrusted. */
const linearRegExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    // ajv distinguishes compiled patterns by their string form.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => pattern };
  },
  { code: "linearRegExp" },
);

interface Validation {
  /** One message for each error, at its place. */
  readonly faults: readonly Diagnostic[];
  /** The value without its invalid parts; see {@link soundPart}. */
  readonly sound: unknown;
}

/** Maximum number of schema errors that are examined. A document with more is not checked further. */
const maxErrors = 1000;

/** Validates a document against a schema. `sound` is undefined if there are more than {@link maxErrors} errors. */
export async function validate(schema: TSchema, document: ParsedDocument): Promise<Validation> {
  const validator = await validatorOf(schema);
  await nextTurn();
  if (validator(document.value)) return { faults: [], sound: document.value };
  const all = validator.errors ?? [];
  const errors = withoutConsequences(withoutUnions(all.slice(0, maxErrors)));
  await nextTurn();
  const sound = all.length > maxErrors ? undefined : soundPart(schema, document.value, errors);
  const faults: Diagnostic[] = [];
  // One more than is shown indicates that there are more.
  for (const error of errors.slice(0, maxDiagnostics + 1)) {
    await nextTurn();
    faults.push(explain(error, document));
  }
  return { faults, sound };
}

/** A value of the wrong type also fails the other checks; only the type is reported. */
function withoutConsequences(errors: readonly ErrorObject[]): ErrorObject[] {
  const mistyped = new Set(
    errors.filter(({ keyword }) => keyword === "type").map(({ instancePath }) => instancePath),
  );
  return errors.filter(({ keyword, instancePath }) => keyword !== "const" || !mistyped.has(instancePath));
}

/**
 * A value that matches no branch of a union is reported by every branch. If the value identifies the intended
 * branch, its errors are reported, else the union's own.
 */
function withoutUnions(errors: readonly ErrorObject[]): ErrorObject[] {
  const unions = new Map<string, number | undefined>();
  const nameOf = (schemaPath: string, instancePath: string): string => `${schemaPath}\n${instancePath}`;
  for (const error of errors)
    if (error.keyword === "anyOf")
      unions.set(nameOf(error.schemaPath, error.instancePath), meantBranch(error));
  if (unions.size === 0) return [...errors];
  const isKept = (error: ErrorObject): boolean => {
    const { schemaPath, keyword } = error;
    if (keyword === "anyOf" && unions.get(nameOf(schemaPath, error.instancePath)) !== undefined) return false;
    for (const [union, branch] of branchesIn(schemaPath)) {
      for (const place of placesAround(error.instancePath)) {
        const name = nameOf(union, place);
        if (unions.has(name) && unions.get(name) !== branch) return false;
      }
    }
    return true;
  };
  return errors.filter(isKept);
}

/** Returns the unions on a schema path, each with the index of the branch that the path takes. */
function branchesIn(schemaPath: string): [union: string, branch: number][] {
  return [...schemaPath.matchAll(/\/anyOf\/(\d+)(?=\/)/g)].map(({ index, 1: branch = "" }) => [
    schemaPath.slice(0, index + "/anyOf".length),
    Number(branch),
  ]);
}

/** Returns a JSON pointer and those of all its ancestors. */
function placesAround(pointer: string): string[] {
  const places = [pointer];
  for (let at = pointer.lastIndexOf("/"); at >= 0; at = at === 0 ? -1 : pointer.lastIndexOf("/", at - 1))
    places.push(pointer.slice(0, at));
  return places;
}

interface Branch {
  readonly type?: string;
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, { readonly const?: string }>>;
}

function branchesOf(union: ErrorObject): readonly Branch[] {
  return union.schema as readonly Branch[];
}

/** Returns the field whose value distinguishes the union's maps, such as kind or api; undefined if there is none. */
function discriminatorOf(union: ErrorObject): string | undefined {
  const [first, ...others] = branchesOf(union).filter(({ type }) => type === "object");
  if (first === undefined || others.length === 0) return undefined;
  const isConst = ({ properties = {} }: Branch, field: string): boolean =>
    properties[field]?.const !== undefined;
  return Object.keys(first.properties ?? {}).find((field) =>
    [first, ...others].every((branch) => isConst(branch, field)),
  );
}

function meantBranch(union: ErrorObject): number | undefined {
  const { data } = union;
  const branches = branchesOf(union).map((branch, index) => ({ branch, index }));
  if (typeof data === "string") {
    const texts = branches.filter(({ branch }) => branch.type === "string" && !("const" in branch));
    return texts.length === 1 && branches.every(({ branch }) => !("const" in branch))
      ? texts[0]?.index
      : undefined;
  }
  if (typeof data !== "object" || data === null || Array.isArray(data)) return undefined;
  const maps = branches.filter(({ branch }) => branch.type === "object");
  if (maps.length === 1) return maps[0]?.index;
  const field = discriminatorOf(union);
  const value = field === undefined ? undefined : (data as Record<string, unknown>)[field];
  if (field === undefined || value === undefined) return undefined;
  return maps.find(({ branch }) => branch.properties?.[field]?.const === value)?.index;
}

function explain(error: ErrorObject, document: ParsedDocument): Diagnostic {
  const pointer = error.instancePath;
  const name = fieldName(pointer);
  const at = document.locate(pointer);
  const { data } = error;
  const params = error.params as Record<string, unknown>;
  const invalid = (message: string, ...fixes: (Fix | null)[]): Diagnostic =>
    diagnostic("invalid-value", at, message, fixes);
  switch (error.keyword) {
    case "additionalProperties":
      return unknownField(error, document, String(params["additionalProperty"]));
    case "required": {
      const missing = String(params["missingProperty"]);
      const owner = pointer === "" ? "The document" : name;
      return diagnostic(
        "missing-field",
        document.locate(pointer, "key"),
        `${owner} lacks the field "${missing}"${hint(error, missing)}`,
        [insertMissing(document, pointer, missing, propertyOf(error, missing))],
      );
    }
    case "type":
      if (secretOf(error.parentSchema) !== undefined) return invalid(`${name} ${keyRule}`);
      return diagnostic(
        "wrong-type",
        at,
        `${name} has to be ${typeName(String(params["type"]))}, but is ${shown(data)}.`,
        [retype(document, pointer, data, String(params["type"]), error.parentSchema)],
      );
    case "const":
      return invalid(
        `${name} has to be ${shown(params["allowedValue"])}, but is ${shown(data)}.`,
        write(document, pointer, params["allowedValue"]),
      );
    case "anyOf":
      return unfitting(error, name, document);
    case "pattern":
      if (params["pattern"] === durationPattern) {
        const duration = parseDuration(String(data));
        return diagnostic(
          "invalid-duration",
          at,
          `${name}: ${duration.ok ? "not a span of time" : duration.message}`,
          [remedyPattern(document, pointer, "duration", data)],
        );
      }
      if (params["pattern"] === extensionIdPattern) {
        return diagnostic(
          "invalid-id",
          at,
          `${name} has to be a reverse domain name such as "com.example.photos", in lower case, but is ${shown(data)}.`,
          [remedyPattern(document, pointer, "id", data)],
        );
      }
      if (params["pattern"] === modelReferencePattern)
        return invalid(`${name} is ${shown(data)}; a model is written provider/model.`);
      if (params["pattern"] === secretNamePattern)
        // It may be the key itself, which is repeated nowhere.
        return invalid(`${name} is not a name of a secret, which has ${secretNameRule}. ${keyStaysOut}`);
      return invalid(
        `${name} is ${shown(data)}, which does not have the form ${String(params["pattern"])}.`,
        remedyPattern(document, pointer, "name", data),
      );
    case "minimum":
      return invalid(
        `${name} has to be at least ${String(params["limit"])}, but is ${shown(data)}.`,
        write(document, pointer, params["limit"]),
      );
    case "maximum":
      return invalid(
        `${name} has to be at most ${String(params["limit"])}, but is ${shown(data)}.`,
        write(document, pointer, params["limit"]),
      );
    case "minLength":
      return invalid(`${name} must not be empty.`);
    case "maxLength":
      return invalid(`${name} has more than ${String(params["limit"])} characters.`);
    case "maxItems":
      return invalid(`${name} has more than ${String(params["limit"])} items.`);
    default:
      return invalid(`${name} ${error.message ?? "is not allowed"}.`);
  }
}

const keyStaysOut =
  "The key itself never stands in a document: store it with `lares secrets set <name> --host <host>`.";
const keyRule = `has to be a map, { secret: <name> }. ${keyStaysOut}`;

/** Returns the schema of the field "secret" where this is the schema of a provider's key. */
function secretOf(schema: unknown): PropertySchema | undefined {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, PropertySchema> };
  const { secret } = properties;
  return secret?.pattern === secretNamePattern ? secret : undefined;
}

function unknownField(error: ErrorObject, document: ParsedDocument, field: string): Diagnostic {
  const { properties = {} } = error.parentSchema as { properties?: Record<string, { deprecated?: boolean }> };
  const known = Object.keys(properties).filter(
    (key) => key !== "$schema" && properties[key]?.deprecated !== true,
  );
  const place = document.locate(pointerTo(error.instancePath, field), "key");
  const owner = error.instancePath === "" ? "The document" : fieldName(error.instancePath);
  const suggestion = didYouMean(field, known) || `; it has ${known.join(", ")}.`;
  const meant = closest(field, known);
  const pointer = pointerTo(error.instancePath, field);
  // The correct name is already present and cannot be written a second time.
  const isFree = meant !== undefined && !Object.hasOwn(error.data as object, meant);
  return diagnostic("unknown-field", place, `${owner} has no field "${field}"${suggestion}`, [
    isFree ? rename(document, pointer, meant) : null,
    withoutEntry(document, pointer),
  ]);
}

function unfitting(error: ErrorObject, name: string, document: ParsedDocument): Diagnostic {
  const branches = branchesOf(error);
  const field = discriminatorOf(error);
  if (field !== undefined && typeof error.data === "object" && error.data !== null)
    return undiscriminated(error, field, name, document);
  const place = document.locate(error.instancePath);
  const values = branches.filter((branch) => "const" in branch).map((branch) => branch.const);
  if (values.length === branches.length) {
    const words = values.map(String);
    const suggestion = typeof error.data === "string" ? didYouMean(error.data, words) : "";
    return diagnostic(
      "invalid-value",
      place,
      `${name} has to be one of ${words.join(", ")}, but is ${shown(error.data)}${suggestion || "."}`,
      valuesMeant(error.data, values).map((value) => write(document, error.instancePath, value)),
    );
  }
  const kinds = branches.map((branch) =>
    "const" in branch ? shown(branch.const) : branchName(branch, field),
  );
  return diagnostic(
    "wrong-type",
    place,
    `${name} has to be ${kinds.join(" or ")}, but is ${shown(error.data)}.`,
    valuesMeant(
      error.data,
      branches.flatMap((branch) => ("const" in branch ? [branch.const] : [])),
    ).map((value) => write(document, error.instancePath, value)),
  );
}

/** Reports a map of a union whose distinguishing field is missing or has an unknown value. */
function undiscriminated(
  error: ErrorObject,
  field: string,
  name: string,
  document: ParsedDocument,
): Diagnostic {
  const words = branchesOf(error).flatMap(({ properties }) => properties?.[field]?.const ?? []);
  const value = (error.data as Record<string, unknown>)[field];
  const pointer = pointerTo(error.instancePath, field);
  if (value === undefined)
    return diagnostic(
      "missing-field",
      document.locate(error.instancePath, "key"),
      `${name} lacks the field "${field}": one of ${words.join(", ")}.`,
    );
  const suggestion = typeof value === "string" ? didYouMean(value, words) : "";
  return diagnostic(
    "invalid-value",
    document.locate(pointer),
    `${name}.${field} has to be one of ${words.join(", ")}, but is ${shown(value)}${suggestion || "."}`,
    valuesMeant(value, words).map((word) => write(document, pointer, word)),
  );
}

/** Returns the value that was probably misspelled; if none is close, all allowed values, if they are few. */
function valuesMeant(data: unknown, values: readonly unknown[]): readonly unknown[] {
  const meant = typeof data === "string" ? closest(data, values.map(String)) : undefined;
  if (meant !== undefined) return values.filter((value) => String(value) === meant);
  return values.length <= maxValuesOffered ? values : [];
}

/** If there are more values than this, the message does not list them. */
const maxValuesOffered = 6;

function branchName(branch: Branch, field: string | undefined): string {
  const value = field === undefined ? undefined : branch.properties?.[field]?.const;
  return value === undefined ? typeName(branch.type ?? "") : `a map with ${field}: ${value}`;
}

function propertyOf(error: ErrorObject, field: string): PropertySchema | undefined {
  const { properties } = (error.parentSchema ?? {}) as { properties?: Record<string, PropertySchema> };
  return properties?.[field];
}

/** Returns ": description" for a missing field, if the schema has a description. */
function hint(error: ErrorObject, field: string): string {
  const description = propertyOf(error, field)?.description;
  return description === undefined ? "." : `: ${description.charAt(0).toLowerCase()}${description.slice(1)}.`;
}

/** Returns a readable path: `extension.hooks[0].handler`. */
export function fieldName(pointer: string): string {
  if (pointer === "") return "The document";
  return pointerKeys(pointer).reduce(
    (name, key) => (/^\d+$/.test(key) ? `${name}[${key}]` : name === "" ? key : `${name}.${key}`),
    "",
  );
}

function typeName(type: string): string {
  switch (type) {
    case "object":
      return "a map";
    case "array":
      return "a list";
    case "integer":
      return "a whole number";
    case "boolean":
      return "true or false";
    default:
      return `a ${type}`;
  }
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
