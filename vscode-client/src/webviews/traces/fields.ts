import { pathsIn } from "../shared/paths.tsx";
import { summaryOf } from "../shared/text.ts";
import { parseFields } from "./place.ts";

/** Returns an entry's fields on one line, "path: notes/a.md · words: 12", or their remaining text if they were cut. */
export function fieldsLine(json: string): string {
  const parsed = parseFields(json);
  return summaryOf(parsed === undefined ? json : parsed.value);
}

/** Returns the first file that an entry names. */
export function firstPathOf(json: string | undefined): string | undefined {
  const parsed = json === undefined ? undefined : parseFields(json);
  return parsed === undefined ? undefined : pathsIn(parsed.value)[0];
}
