import { decodedMappings, encodedMap, TraceMap } from "@jridgewell/trace-mapping";

/**
 * Adjusts a source map so that it reports the position of a thrown error as people expect it.
 *
 * QuickJS reports the position of the class after `new` (`throw new ▸Error("x")`). Without the segments for the code
 * after `throw ` and `new `, a lookup yields the keyword itself: an error created in a `throw` statement is reported at
 * `throw`, any other at its `new`.
 */
export function withThrowPositions(sourceMap: string, code: string): string {
  const map = new TraceMap(sourceMap);
  const lines = code.split("\n");
  const mappings = decodedMappings(map).map((segments, index) => {
    const line = lines[index] ?? "";
    let thrown = false;
    return segments.filter(([column]) => {
      if (thrown) return false;
      // The bundler writes one statement per line and maps the start of each statement at the space before it, so the
      // text here is the keyword and not a word in a string.
      thrown = line.slice(column).trimStart().startsWith("throw ");
      return thrown || column < 4 || line.slice(column - 4, column) !== "new ";
    });
  });
  const { names, sources } = map;
  return JSON.stringify(encodedMap(new TraceMap({ version: 3, names, sources, mappings })));
}
