import { line } from "../webviews/shared/text.ts";

/** A stranger's text where the editor makes pictures of `$(name)`: it stays the text that it is. */
export function plainLabel(text: string, maxCharacters = 120): string {
  return line(text, maxCharacters).replaceAll("$(", String.raw`\$(`);
}
