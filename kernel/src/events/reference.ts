import { languageOf } from "./filter.ts";
import { commonFields, entryFields, entryMethods, eventType } from "./types.ts";
import type { Field } from "./event-type.ts";

/** A word of the filter language, for help in editors and documentation. */
export interface FilterWord {
  readonly name: string;
  readonly kind: "field" | "function" | "method" | "keyword";
  /** "string", or "contains(string): bool". */
  readonly signature: string;
  readonly description: string;
  /** All possible values, if they are few. */
  readonly values?: readonly string[];
}

/** Returns the words with which a filter of this event may begin, or continue after an operator. */
export function filterWords(eventName: string): readonly FilterWord[] {
  const fields = { ...eventType(eventName)?.fields, ...commonFields };
  return [
    ...Object.entries(fields).map(wordOfField),
    ...(eventType(eventName) === undefined ? [customEvent] : []),
    ...wordsOf(functions, "function", signaturesOf(eventName, null)),
    ...keywords,
  ];
}

/**
 * Returns the words that may follow the dot after the expression `receiver`. If its type is unknown, as for a variable
 * of `exists`, returns every method.
 */
export function filterMembers(receiver: string, eventName: string): readonly FilterWord[] {
  const type = typeOf(receiver, eventName);
  if (type === "Entry") return entryMembers;
  const methods = wordsOf(methodDescriptions, "method", signaturesOf(eventName, type));
  return receiver === "event" ? [...Object.entries(commonFields).map(wordOfField), ...methods] : methods;
}

/** Returns the type in CEL's notation; null if it is unknown. */
function typeOf(expression: string, eventName: string): string | null {
  const { environment } = languageOf(eventName);
  const checked = environment.check(expression);
  return checked.valid && checked.type !== undefined && !checked.type.startsWith("dyn") ? checked.type : null;
}

function wordOfField([name, { type, description, values }]: [string, Field]): FilterWord {
  return { name, kind: "field", signature: type, description, ...(values === undefined ? {} : { values }) };
}

const entryMembers: readonly FilterWord[] = [
  ...Object.entries(entryFields).map(wordOfField),
  ...Object.entries(entryMethods).map(([name, media]) => ({
    name,
    kind: "method" as const,
    signature: `${name}(): bool`,
    description: `Whether its media is "${media}"`,
  })),
];

/**
 * Returns the first signature of each method of this receiver, by name. Null stands for functions; an unknown type has
 * every method.
 */
function signaturesOf(eventName: string, receiver: string | null): ReadonlyMap<string, string> {
  const { environment } = languageOf(eventName);
  const signatures = new Map<string, string>();
  for (const { name, signature, receiverType } of environment.getDefinitions().functions) {
    if (receiver !== null && receiverType !== null && headOf(receiverType) !== headOf(receiver)) continue;
    const key = receiverType === null ? name : `.${name}`;
    if (!signatures.has(key)) signatures.set(key, signature.slice(signature.indexOf(`${name}(`)));
  }
  return signatures;
}

/** "list" of "list<string>". */
function headOf(type: string): string {
  return type.replace(/<.*/s, "");
}

function wordsOf(
  descriptions: Readonly<Record<string, { description: string; signature?: string }>>,
  kind: "function" | "method",
  signatures: ReadonlyMap<string, string>,
): FilterWord[] {
  return Object.entries(descriptions).flatMap(([name, { description, signature }]) => {
    const declared = signatures.get(kind === "method" ? `.${name}` : name);
    return declared === undefined ? [] : [{ name, kind, signature: signature ?? declared, description }];
  });
}

const customEvent: FilterWord = {
  name: "event",
  kind: "field",
  signature: "map<string, dyn>",
  description: "What it was emitted with, by name",
};

const keywords: readonly FilterWord[] = [
  { name: "in", kind: "keyword", signature: "value in list", description: "Whether a list has the value" },
  { name: "true", kind: "keyword", signature: "bool", description: "Always" },
  { name: "false", kind: "keyword", signature: "bool", description: "Never" },
  { name: "null", kind: "keyword", signature: "null", description: "Nothing" },
];

/** CEL's other functions are of no use in a filter. */
const functions: Readonly<Record<string, { description: string; signature?: string }>> = {
  inGrantedScope: {
    description: "Whether the path is in a folder that this extension may see",
    signature: "inGrantedScope(path): bool",
  },
  has: {
    description: "Whether the field is there, e.g. has(entry.fields.photos)",
    signature: "has(field): bool",
  },
  size: {
    description: "Characters of a string, items of a list, keys of a map",
    signature: "size(value): int",
  },
  timestamp: { description: "A moment to compare with, from ISO 8601, e.g. timestamp(entry.modified)" },
  duration: { description: 'A span of time, e.g. duration("24h")' },
  int: { description: "The value as a whole number", signature: "int(value): int" },
  double: { description: "The value as a number", signature: "double(value): double" },
  string: { description: "The value as text", signature: "string(value): string" },
};

const methodDescriptions: Readonly<Record<string, { description: string; signature?: string }>> = {
  startsWith: { description: "Whether it begins with the text" },
  endsWith: { description: "Whether it ends with the text" },
  contains: { description: "Whether the text stands in it" },
  matches: {
    description: "Whether the regular expression (RE2) is found in it",
    signature: "matches(pattern): bool",
  },
  lowerAscii: { description: "The same with the letters A to Z made small" },
  upperAscii: { description: "The same with the letters a to z made large" },
  trim: { description: "The same without white space around it" },
  indexOf: { description: "Where the text first stands in it, from 0; -1 where it does not" },
  lastIndexOf: { description: "Where the text last stands in it, from 0; -1 where it does not" },
  substring: { description: "From this character on, from 0", signature: "substring(start, end?): string" },
  split: { description: "Its parts between the separators", signature: "split(separator): list<string>" },
  exists: {
    description: 'Whether it is true of any, e.g. exists(t, t == "done")',
    signature: "exists(each, condition): bool",
  },
  all: { description: "Whether it is true of all", signature: "all(each, condition): bool" },
  exists_one: {
    description: "Whether it is true of exactly one",
    signature: "exists_one(each, condition): bool",
  },
  filter: { description: "Those it is true of", signature: "filter(each, condition): list" },
  map: { description: "What is made of each", signature: "map(each, value): list" },
  join: { description: "All of them in one text", signature: "join(separator): string" },
  size: { description: "How many characters, items or keys it has", signature: "size(): int" },
  getFullYear: {
    description: "The year; in UTC, or in a time zone",
    signature: "getFullYear(timezone?): int",
  },
  getMonth: { description: "The month, from 0", signature: "getMonth(timezone?): int" },
  getDate: { description: "The day of the month, from 1", signature: "getDate(timezone?): int" },
  getDayOfWeek: {
    description: "The day of the week, Sunday is 0",
    signature: "getDayOfWeek(timezone?): int",
  },
  getDayOfYear: { description: "The day of the year, from 0", signature: "getDayOfYear(timezone?): int" },
  getHours: { description: "The hours: of a day, or of the whole span", signature: "getHours(): int" },
  getMinutes: {
    description: "The minutes: of an hour, or of the whole span",
    signature: "getMinutes(): int",
  },
  getSeconds: {
    description: "The seconds: of a minute, or of the whole span",
    signature: "getSeconds(): int",
  },
};
