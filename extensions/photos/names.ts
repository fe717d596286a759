import type { XmpFacts } from "@lares/sdk/xmp";

/** Returns the people, then the keywords, as far as so many bytes of JSON have room for them. */
export function fitting(people: Iterable<string>, keywords: Iterable<string>, maxBytes: number): XmpFacts {
  const encoder = new TextEncoder();
  let left = maxBytes;
  const some = (names: Iterable<string>): string[] =>
    [...names].filter((name) => {
      const bytes = encoder.encode(JSON.stringify(name)).length + 1;
      if (bytes > left) return false;
      left -= bytes;
      return true;
    });
  return { people: some(people), keywords: some(keywords) };
}
