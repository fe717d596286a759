import type { Schema } from "./schema-at.ts";

/**
 * JSON Schema as a schema, for authors of a tool's `parameters`: the keywords of draft-07 that the kernel checks,
 * with descriptions. It is recursive, so code only follows it along a pointer.
 */

/** A name in the `properties` beside this list. */
export const propertyName: Schema = { type: "string", description: "A name that has to be given" };
/** A reference to another schema in the same `parameters`. */
export const schemaReference: Schema = {
  type: "string",
  description: "A schema of the same parameters that stands for this one, such as #/definitions/place",
};
/** An example of a value that the enclosing schema describes. */
export const ownValue: Schema = {
  description: "The value where none is given; it is said, and not filled in",
};

/** The checked formats, exactly those of `argumentFormats` in tools/. */
const formatWords = {
  "date-time": "A moment, such as 2026-11-20T12:00:00Z",
  date: "A day, such as 2026-11-20",
  time: "A time of day with its zone, such as 12:00:00Z",
  duration: "A span of time, such as P1DT12H",
  email: "An e-mail address",
  hostname: "A host's name",
  ipv4: "An address such as 192.0.2.1",
  ipv6: "An address such as 2001:db8::1",
  uri: "An address with its scheme",
  url: "An address with its scheme",
  "uri-reference": "An address, or a path that continues one",
  iri: "An address with its scheme, with letters of any script",
  "iri-reference": "The same, or a path that continues one",
  "uri-template": "An address with {names} to fill in",
  uuid: "A UUID",
  regex: "A regular expression",
  "json-pointer": "A place in a document, such as /a/0",
  "json-pointer-uri-fragment": "A place in a document, such as #/a/0",
  "relative-json-pointer": "A place in a document, seen from another, such as 1/a",
  "iso-date-time": "A moment, its zone left out or not",
  "iso-time": "A time of day, its zone left out or not",
  int32: "A whole number of 32 bits",
  int64: "A whole number of 64 bits",
  float: "A number",
  double: "A number",
  byte: "Bytes in Base64",
  binary: "Any text",
  password: "Any text that is not to be shown",
} as const;
export const formatNames: readonly string[] = Object.keys(formatWords);

const typeWords = {
  string: "A text of any length",
  number: "A number",
  integer: "A whole number",
  boolean: "True or false",
  array: "A list of values",
  object: "A map: values by name",
  null: "Nothing; where it may be null besides, in a list of types",
} as const;
type TypeName = keyof typeof typeWords;

function choice(words: Readonly<Record<string, string>>): Schema[] {
  return Object.entries(words).map(([value, description]) => ({ const: value, description }));
}

function text(description: string, more: Partial<Schema> = {}): Schema {
  return { type: "string", description, ...more };
}
const number = (description: string): Schema => ({ type: "number", description });
const count = (description: string): Schema => ({ type: "integer", minimum: 0, description });
const flag = (description: string): Schema => ({ type: "boolean", description });

/** A field that takes a schema. */
function schemaFor(description: string): Schema {
  return {
    description,
    get anyOf() {
      return forms;
    },
  };
}
/** A field that takes a schema or `false`, which forbids everything. */
function schemaOrFlag(description: string): Schema {
  return {
    description,
    get anyOf() {
      return [{ type: "boolean" }, ...forms];
    },
  };
}
const mapOfSchemas = (description: string, each: string): Schema => ({
  type: "object",
  description,
  patternProperties: { "": schemaFor(each) },
});
const listOfSchemas = (description: string): Schema => ({
  type: "array",
  description,
  items: schemaFor("One of the schemas"),
});

const typeChoice: Schema = {
  description: "What kind of value it is; a list of kinds where it may be several",
  anyOf: [...choice(typeWords), { type: "array", items: { anyOf: choice(typeWords) } }],
};

/** Keywords for values of any type. */
const common = {
  description: text("What it is for: people read it in the form, language models before they call the tool"),
  title: text("What people call it"),
  enum: { type: "array", description: "The only values there are", items: ownValue },
  const: { ...ownValue, description: "The only value there is" },
  default: ownValue,
  examples: { type: "array", description: "Values it may have, as a help", items: ownValue },
  anyOf: listOfSchemas("It has to fit one of these at least"),
  oneOf: listOfSchemas("It has to fit exactly one of these"),
  allOf: listOfSchemas("It has to fit all of these"),
  not: schemaFor("It must not fit this"),
  if: schemaFor("What fits this has to fit then, what does not fit it else"),
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, in a table nobody awaits
  then: schemaFor("For what fits if"),
  else: schemaFor("For what does not fit if"),
  $ref: schemaReference,
  definitions: mapOfSchemas("Schemas by name, for $ref", "A schema that $ref can name"),
  $defs: mapOfSchemas("Schemas by name, for $ref", "A schema that $ref can name"),
  nullable: flag("Whether it may be null besides; needs a type"),
  deprecated: flag("Whether it is better left out; only said"),
  readOnly: flag("Whether it is only ever told; only said"),
  writeOnly: flag("Whether it is only ever given; only said"),
  $comment: text("A note for whoever reads the schema"),
} satisfies Record<string, Schema>;

const numbers = {
  minimum: number("The least it may be"),
  maximum: number("The most it may be"),
  exclusiveMinimum: number("It has to be more than this"),
  exclusiveMaximum: number("It has to be less than this"),
  multipleOf: number("It has to be a multiple of this, which is more than 0"),
} satisfies Record<string, Schema>;

/** Keywords that apply only to values of one type. */
const ofType: Readonly<Partial<Record<TypeName, Readonly<Record<string, Schema>>>>> = {
  object: {
    properties: mapOfSchemas("Its values by name", "What the value of this name may be"),
    required: { type: "array", description: "Names that have to be given", items: propertyName },
    additionalProperties: schemaOrFlag(
      "What values of other names may be; false: there are none, so that a slip in a name is refused",
    ),
    patternProperties: mapOfSchemas(
      "Its values by names that match a regular expression",
      "What the values of these names may be",
    ),
    propertyNames: schemaFor("What its names have to fit"),
    minProperties: count("The fewest values it may have"),
    maxProperties: count("The most values it may have"),
    dependencies: {
      type: "object",
      description: "By a name that is given: what else has to be",
      patternProperties: {
        "": {
          type: "array",
          description: "Names that have to be given beside this one",
          items: propertyName,
        },
      },
    },
  },
  array: {
    items: schemaFor("What each of its items may be; a list of schemas: each for the item at its place"),
    additionalItems: schemaOrFlag("What the items behind those may be that items has a list for"),
    minItems: count("The fewest items it may have"),
    maxItems: count("The most items it may have"),
    uniqueItems: flag("Whether no two items may be the same"),
    contains: schemaFor("One item at least has to fit this"),
  },
  string: {
    minLength: count("The fewest characters it may have"),
    maxLength: count("The most characters it may have"),
    pattern: text("A regular expression (RE2) that matches in it; ^ and $ hold it to the whole", {
      examples: ["^[a-z0-9-]+$"],
    }),
    format: { description: "What the text has to be", anyOf: choice(formatWords) },
    contentMediaType: text("What the text contains, as a media type; only said"),
    contentEncoding: text("How the text is encoded, such as base64; only said"),
  },
  integer: numbers,
  number: numbers,
};

function formOf(type: TypeName): Schema {
  const required: Readonly<Partial<Record<TypeName, string>>> = { object: "properties", array: "items" };
  const second = required[type];
  return {
    type: "object",
    properties: {
      type: { const: type, description: typeWords[type] },
      ...ofType[type],
      ...common,
    },
    required: second === undefined ? ["type"] : ["type", second],
  };
}

/** Describes `type`, whose value decides which other keywords apply. */
const plainForm: Schema = { type: "object", properties: { type: typeChoice }, required: ["type"] };
const forms: readonly Schema[] = [
  plainForm,
  ...(["string", "number", "integer", "boolean", "array", "object", "null"] as const).map(formOf),
];

export const draft07 = "http://json-schema.org/draft-07/schema#";

/** The schema of a tool's parameters. Arguments are named, so the outermost schema describes a map. */
export const parametersSchema: Schema = {
  ...formOf("object"),
  properties: {
    ...formOf("object").properties,
    $schema: { const: draft07, description: "The JSON Schema that this is written in" },
  },
};

/** Keywords that are offered everywhere. `$id` is left out, because there is one document. */
export const keywords: Readonly<Record<string, Schema>> = Object.assign(
  { $id: text("The schema's own address") },
  ...forms.toReversed().map(({ properties }) => properties),
) as Record<string, Schema>;

/** Returns how a keyword's value contains schemas; null if it contains none. */
export function schemasIn(keyword: string): "one" | "list" | "map" | null {
  const schema = keywords[keyword];
  if (schema?.anyOf?.includes(plainForm) === true) return "one";
  if (schema?.items?.anyOf?.includes(plainForm) === true) return "list";
  return schema?.patternProperties?.[""]?.anyOf?.includes(plainForm) === true ? "map" : null;
}
