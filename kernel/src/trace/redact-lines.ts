import { isJsonObject } from "../base/json.ts";
import { redactedMark, textRemover } from "../base/without-texts.ts";

/** Long texts are cut in traces: so many characters of the beginning are enough to find a piece of one. */
const cutCharacters = 64;

/** Finds and removes texts in the lines of traces, also those that were cut there. */
export function traceRemover(texts: readonly string[]): {
  /** True if the bytes of a file may have one. */
  isIn(bytes: Buffer): boolean;
  /** Returns a line without them. */
  from(line: string): string;
} {
  const whole = textRemover(texts);
  const beginnings = textRemover(
    texts.filter(({ length }) => length > cutCharacters).map((text) => text.slice(0, cutCharacters)),
  );
  const wanted = [...whole.forms, ...beginnings.forms].map((form) => Buffer.from(form));
  const replaced = (value: unknown): unknown => {
    if (typeof value === "string") {
      const left = whole.from(value);
      return beginnings.holds(left) ? redactedMark : left;
    }
    if (Array.isArray(value)) return value.map(replaced);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [whole.from(name), replaced(each)]),
    );
  };
  return {
    isIn: (bytes) => wanted.some((each) => bytes.includes(each)),
    from: (line) => {
      if (!whole.holds(line) && !beginnings.holds(line)) return line;
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        // A line that was written in part, or by nobody: nothing of it is needed.
        return "";
      }
      return JSON.stringify(replaced(value));
    },
  };
}
