import { pathsIn } from "../shared/paths.tsx";
import { summaryOf } from "../shared/text.ts";

/** The value that an entry's fields are; undefined where they were cut, and are no JSON any more. */
export function parseFields(json: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(json) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** An entry's fields on one line, "path: notes/a.md · words: 12"; what there is of them where they were cut. */
export function fieldsLine(json: string): string {
  const parsed = parseFields(json);
  return summaryOf(parsed === undefined ? json : parsed.value);
}

/** The first file that an entry names. */
export function firstPathOf(json: string | undefined): string | undefined {
  const parsed = json === undefined ? undefined : parseFields(json);
  return parsed === undefined ? undefined : pathsIn(parsed.value)[0];
}
