import { Environment } from "@marcbachmann/cel-js";
import { RE2JS } from "re2js";
import type { Entry } from "../base/vocabulary/entry.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import { correctFunctions, replaceMethod } from "./corrections.ts";
import { mixNumbers } from "./numbers.ts";
import type { Field } from "./event-type.ts";
import { commonFields, declaredEventFields, entryFields, entryMethods, eventType } from "./types.ts";

/** Bounds on a filter's text and structure; see `budget.ts` for the cost of evaluating it. */
export const filterLimits = {
  length: 4096,
  nodes: 500,
  depth: 24,
  elements: 100,
  callArguments: 8,
  patternLength: 512,
  /** Instructions of a compiled pattern: `(a?){1000}` is short and has 4,000. */
  patternInstructions: 1000,
} as const;

/** Characters times instructions that make one step of the budget; an engine without backtracking may need them all. */
const patternWorkPerStep = 8;

/** What an evaluation needs besides the event; functions of the language access it through the session. */
export interface FilterScope {
  readonly inGrantedScope: (path: string) => boolean;
}

/** A language for filters of one kind of event. Evaluation is synchronous, so all filters share one session. */
export interface FilterLanguage {
  readonly environment: Environment;
  /** The fields that filters may use; of an undeclared custom event, those that every event has. */
  readonly fields: Readonly<Record<string, Field>>;
  readonly session: { scope: FilterScope | null; spend: (steps: number) => void };
  readonly valuesOf: (event: LaresEvent) => Record<string, unknown>;
}

const sync = { async: false };

/**
 * Declares the fields of the event. A custom event has the fields that it was emitted with; with `declared`, a filter
 * may use those of the declaration only.
 */
export function createLanguage(
  eventName: string,
  declared: Readonly<Record<string, Field>> | null = null,
): FilterLanguage {
  const type = eventType(eventName);
  const session: FilterLanguage["session"] = { scope: null, spend: () => undefined };
  const environment = new Environment({
    unlistedVariablesAreDyn: type === undefined && declared === null,
    homogeneousAggregateLiterals: false,
    limits: {
      maxAstNodes: filterLimits.nodes,
      maxDepth: filterLimits.depth,
      maxListElements: filterLimits.elements,
      maxMapEntries: filterLimits.elements,
      maxCallArguments: filterLimits.callArguments,
    },
  });
  mixNumbers(environment);
  correctFunctions(environment);
  const fieldTypes = Object.entries(entryFields).map(([name, field]) => [name, field.type]);
  environment.registerType("Entry", { ctor: EntryValue, fields: Object.fromEntries(fieldTypes) });
  for (const [method, media] of Object.entries(entryMethods)) {
    environment.registerFunction(
      `Entry.${method}(): bool`,
      (entry: EntryValue) => entry.media === media,
      sync,
    );
  }
  environment.registerFunction(
    "inGrantedScope(string): bool",
    (path: string) => session.scope?.inGrantedScope(path) ?? false,
    sync,
  );
  environment.registerFunction(
    "string.starts_with(string): bool",
    (text: string, start: string) => text.startsWith(start),
    sync,
  );
  environment.registerFunction(
    "string.ends_with(string): bool",
    (text: string, end: string) => text.endsWith(end),
    sync,
  );
  // The library runs patterns on JavaScript's backtracking engine.
  replaceMethod(
    environment,
    { name: "matches", receiver: "string", parameters: ["string"], result: "bool" },
    (text: string, pattern: string) => {
      const compiled = compilePattern(pattern);
      session.spend(Math.ceil(((text.length + 1) * compiled.programSize()) / patternWorkPerStep));
      return compiled.matcher(text).find();
    },
  );
  const fields = {
    ...type?.fields,
    ...declared,
    ...(declared === null ? {} : declaredEventFields),
    ...commonFields,
  };
  for (const [name, field] of Object.entries(fields)) {
    try {
      environment.registerVariable(name, field.type);
    } catch (error) {
      // A field whose name means something else in CEL is reached as event.name.
      if (declared === null) throw error;
    }
  }
  // A custom event may have fields whose names are reserved in CEL ("type", "list"), or fields that are not always
  // present.
  if (type === undefined) environment.registerVariable("event", "map<string, dyn>");
  return {
    environment,
    fields,
    session,
    valuesOf: (event) => {
      // Without a prototype, so that no name resolves to an inherited property.
      const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
      for (const name of type === undefined ? Object.keys(event) : Object.keys(fields)) {
        values[name] = celValue(event[name], Object.hasOwn(fields, name) ? fields[name]?.type : undefined);
      }
      if (type === undefined) values["event"] = event;
      return values;
    },
  };
}

function celValue(value: unknown, type: string | undefined): unknown {
  if (type === "Entry") return new EntryValue(value as Entry);
  if (type === "int" && typeof value === "number") return BigInt(Math.trunc(value));
  return value;
}

/** An entry as CEL sees it: the same fields, with its size as an integer. */
class EntryValue {
  readonly id: string;
  readonly path: string;
  readonly name: string;
  readonly kind: string;
  readonly media: string;
  readonly extension: string;
  readonly mime: string;
  readonly size: bigint;
  readonly created: string;
  readonly modified: string;
  readonly content_id: string | null;
  readonly tags: readonly string[];
  readonly fields: Entry["fields"];
  readonly sidecars: readonly string[];
  readonly location: string;

  constructor(entry: Entry) {
    this.id = entry.id;
    this.path = entry.path;
    this.name = entry.name;
    this.kind = entry.kind;
    this.media = entry.media;
    this.extension = entry.extension;
    this.mime = entry.mime;
    this.size = BigInt(Math.trunc(entry.size));
    this.created = entry.created;
    this.modified = entry.modified;
    this.content_id = entry.content_id;
    this.tags = entry.tags;
    this.fields = entry.fields;
    this.sidecars = entry.sidecars;
    this.location = entry.location;
  }
}

/** Compiled patterns, the oldest evicted first: patterns are literals, so they repeat. */
const patterns = new Map<string, RE2JS>();
const maxPatterns = 256;

/** Compiles a pattern in RE2 syntax; throws if it is invalid or too large. */
export function compilePattern(pattern: string): RE2JS {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = RE2JS.compile(pattern);
    const instructions = compiled.programSize();
    if (instructions > filterLimits.patternInstructions) {
      throw new RangeError(
        `it stands for ${instructions} steps of matching, and at most ${filterLimits.patternInstructions} are allowed; repeat less`,
      );
    }
    if (patterns.size >= maxPatterns) patterns.delete(patterns.keys().next().value ?? "");
    patterns.set(pattern, compiled);
  }
  return compiled;
}
