import { isJsonObject } from "../base/json.ts";
import { closest } from "../base/suggest.ts";
import { diagnostic, maxDiagnostics, type Diagnostic, type Fix } from "./text/diagnostics.ts";
import { draft07, keywords, schemasIn } from "./schema/json-schema.ts";
import { rename, withoutEntry, write } from "./fixes/repairs.ts";
import { PatternBudget, patternFault } from "./pattern-checks.ts";
import { referenceTarget } from "./schema-fan-out.ts";
import { pointerTo, type ParsedDocument } from "./text/source.ts";

/** The owner of a schema, and the schema's place in the document. */
export interface ParametersPlace {
  readonly document: ParsedDocument;
  readonly pointer: string;
  /** The subject of the schema, for the beginning of a sentence, in the plural: `The parameters of "search"`. */
  readonly subject: string;
  /** The operation that fails if the schema cannot be used, for a sentence: `call of "search"`. */
  readonly use: string;
}

type Subschema = Readonly<Record<string, unknown>>;

/** Keywords of later drafts, each with its draft-07 equivalent. */
const later: Readonly<Record<string, string>> = {
  prefixItems: "items with a list of schemas",
  unevaluatedItems: "additionalItems",
  unevaluatedProperties: "additionalProperties",
  dependentRequired: "dependencies",
  dependentSchemas: "dependencies",
  minContains: "contains",
  maxContains: "contains",
  $dynamicRef: "$ref",
  $recursiveRef: "$ref",
};

/** Keywords in common use that are not misspellings. */
const annotations: ReadonlySet<string> = new Set([
  "example",
  "$anchor",
  "$vocabulary",
  "contentSchema",
  "id",
]);

/** Keywords that `$ref` beside them does not affect: annotations and definitions. */
const saidBesideReference: ReadonlySet<string> = new Set([
  "$ref",
  "$id",
  "$schema",
  "$comment",
  "definitions",
  "$defs",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
]);

/** Maximum number of a schema's unknown keywords that are compared with the known ones. */
const maxUnknown = 20;

/** Warns about schemas that are valid but constrain nothing, or make each call fail. */
export function parameterWarnings(parameters: Subschema, place: ParametersPlace): Diagnostic[] {
  const walk = new Walk(parameters, place);
  walk.visit(parameters, place.pointer);
  return walk.found;
}

/** Maximum number of keywords beside a `$ref` that a message lists. */
const maxNamed = 5;

/** Returns the keywords that draft-07 ignores because they are beside a `$ref`. */
function ignoredKeywords(schema: Subschema, isRoot: boolean): ReadonlySet<string> {
  if (typeof schema["$ref"] !== "string") return new Set();
  // The schema of parameters requires a type.
  const isIgnored = (keyword: string): boolean =>
    Object.hasOwn(keywords, keyword) && !saidBesideReference.has(keyword) && !(isRoot && keyword === "type");
  return new Set(Object.keys(schema).filter(isIgnored));
}

class Walk {
  readonly found: Diagnostic[] = [];
  readonly #parameters: Subschema;
  readonly #place: ParametersPlace;
  /** Base URIs of its own change the meaning of a schema's references. */
  readonly #hasOwnAddresses: boolean;
  #unknown = 0;
  readonly #patterns = new PatternBudget();

  constructor(parameters: Subschema, place: ParametersPlace) {
    this.#parameters = parameters;
    this.#place = place;
    this.#hasOwnAddresses = /"\$(?:id|anchor)":/.test(JSON.stringify(parameters));
  }

  visit(schema: unknown, pointer: string): void {
    if (!isJsonObject(schema)) return;
    const ignored = ignoredKeywords(schema, pointer === this.#place.pointer);
    if (ignored.size > 0) this.#besideReference([...ignored], pointer);
    else this.#names(schema, pointer);
    for (const [keyword, value] of Object.entries(schema)) {
      if (this.found.length >= maxDiagnostics) return;
      if (ignored.has(keyword)) continue;
      const at = pointerTo(pointer, keyword);
      if (!Object.hasOwn(keywords, keyword)) this.#unknownKeyword(schema, keyword, at);
      else if (keyword === "$ref") this.#reference(value, at);
      else if (keyword === "pattern") this.#pattern(value, at, "value");
      else this.#subschemas(keyword, value, at);
    }
  }

  #subschemas(keyword: string, value: unknown, at: string): void {
    const kind = schemasIn(keyword);
    if (kind === null || typeof value !== "object" || value === null) return;
    if (kind === "one" && !Array.isArray(value)) return this.visit(value, at);
    for (const [name, child] of Object.entries(value)) {
      if (keyword === "patternProperties") this.#pattern(name, pointerTo(at, name), "key");
      this.visit(child, pointerTo(at, name));
    }
  }

  #unknownKeyword(schema: Subschema, keyword: string, at: string): void {
    if (Object.hasOwn(later, keyword)) {
      const message = `Parameters are read as JSON Schema draft-07, which has no ${keyword}: nothing is checked by it. Write ${later[keyword]}.`;
      return this.#warn(at, "key", message);
    }
    if (annotations.has(keyword) || ++this.#unknown > maxUnknown) return;
    const meant = closest(keyword, Object.keys(keywords));
    if (meant === undefined) return;
    const message = `JSON Schema has no "${keyword}", and nothing is checked by it; did you mean "${meant}"?`;
    const { document } = this.#place;
    this.#warn(at, "key", message, Object.hasOwn(schema, meant) ? [] : [rename(document, at, meant)]);
  }

  #besideReference(ignored: readonly string[], pointer: string): void {
    const names = ignored.slice(0, maxNamed).join(", ") + (ignored.length > maxNamed ? ", …" : "");
    const message = `JSON Schema draft-07 ignores what stands beside $ref: nothing is checked by ${names}. Put the $ref and the rest into a list under allOf.`;
    this.#warn(pointerTo(pointer, ignored[0] ?? ""), "key", message);
  }

  #reference(reference: unknown, at: string): void {
    if (typeof reference !== "string" || this.#hasOwnAddresses || reference.startsWith(draft07)) return;
    if (referenceTarget(this.#parameters, reference) !== undefined) return;
    const names = ["definitions", "$defs"].flatMap((holder) => {
      const definitions = this.#parameters[holder];
      return isJsonObject(definitions) ? Object.keys(definitions).map((name) => `#/${holder}/${name}`) : [];
    });
    const meant = closest(reference, names);
    const message = reference.startsWith("#")
      ? `There is nothing at "${reference}" in this schema, so that each ${this.#place.use} fails.`
      : `"${reference}" leads out of this schema, and nothing is fetched: each ${this.#place.use} fails.`;
    this.#warn(at, "value", message, meant === undefined ? [] : [write(this.#place.document, at, meant)]);
  }

  #pattern(pattern: unknown, at: string, part: "key" | "value"): void {
    const fault = typeof pattern === "string" ? patternFault(pattern, this.#patterns) : null;
    if (fault === null) return;
    const message = `The pattern is not a regular expression of RE2's syntax, so that each ${this.#place.use} fails: ${fault}.`;
    this.#warn(at, part, message);
  }

  /** Reports names that are both required and forbidden. */
  #names(
    { required, properties, additionalProperties, patternProperties }: Subschema,
    pointer: string,
  ): void {
    if (additionalProperties !== false || patternProperties !== undefined || !Array.isArray(required)) return;
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    const known = new Set(names);
    for (const [index, name] of required.entries()) {
      if (typeof name !== "string" || known.has(name) || this.found.length >= maxDiagnostics) continue;
      const at = pointerTo(pointer, "required", index);
      const meant = closest(name, names);
      const { document } = this.#place;
      this.#warn(
        at,
        "value",
        `"${name}" has to be given, but it is not among the properties, and no others are allowed.`,
        [
          meant === undefined || required.includes(meant) ? null : write(document, at, meant),
          withoutEntry(document, at, JSON.stringify(name)),
        ],
      );
    }
  }

  #warn(at: string, part: "key" | "value", message: string, fixes: readonly (Fix | null)[] = []): void {
    const { document } = this.#place;
    this.found.push(diagnostic("doubtful-parameters", document.locate(at, part), message, fixes));
  }
}
