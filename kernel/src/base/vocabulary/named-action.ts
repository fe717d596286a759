import { maxActionTitle } from "./bounds.ts";
import { isJsonObject } from "../json.ts";
import { plainLine } from "../plain-text.ts";

/** A named action of an extension. Its handler returns effects, which the kernel proposes. */
export interface NamedAction {
  readonly name: string;
  /** Its title, with parameters in braces: Create album {name}. */
  readonly title: string;
  readonly description: string;
  /** The function under `actions` of the program. */
  readonly handler: string;
  /** JSON Schema. */
  readonly parameters: Record<string, unknown>;
}

/** A parameter in a title. */
const placeholder = /\{([A-Za-z_][A-Za-z0-9_-]*)\}/g;
/** Characters of a parameter that a title shows. */
const maxShownCharacters = 80;

/** Returns the names of the parameters in a title. */
export function placeholdersOf(title: string): string[] {
  return [...title.matchAll(placeholder)].flatMap(([, name]) => name ?? []);
}

/** Returns a title with the values of its parameters, in one line. */
export function filledTitle(title: string, parameters: Readonly<Record<string, unknown>>): string {
  const filled = title.replaceAll(placeholder, (_whole, name: string) => {
    const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    const text = typeof value === "string" ? value : value === undefined ? "…" : JSON.stringify(value);
    return cut(plainLine(text), maxShownCharacters);
  });
  return cut(filled, maxActionTitle);
}

/** Returns a title for a list, where no parameter has a value yet. */
export function listedTitle(title: string): string {
  return filledTitle(title, {});
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

/**
 * True if a person can be asked for the parameters one by one: each one that is required is a text, a number, a truth value or
 * one of a list.
 */
export function canBeAskedFor({ required, properties }: Readonly<Record<string, unknown>>): boolean {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return names.every((name) => {
    if (typeof name !== "string" || !isJsonObject(properties) || !Object.hasOwn(properties, name))
      return false;
    const property = properties[name];
    if (!isJsonObject(property)) return false;
    if (Array.isArray(property["enum"])) return property["enum"].every((value) => typeof value !== "object");
    return ["string", "number", "integer", "boolean"].includes(String(property["type"]));
  });
}
