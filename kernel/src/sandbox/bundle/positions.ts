import { decodedMappings, encodedMap, TraceMap } from "@jridgewell/trace-mapping";

/**
 * Makes a source map say where an error was thrown, in the way people read it.
 *
 * QuickJS gives an error the position of the class behind `new` (`throw new ▸Error("x")`). Without the
 * segments for what follows `throw ` and `new ` on a line, a lookup falls on the keyword itself: an error
 * made in a `throw` statement is shown at `throw`, any other at its `new`.
 */
export function withThrowPositions(sourceMap: string, code: string): string {
  const map = new TraceMap(sourceMap);
  const lines = code.split("\n");
  const mappings = decodedMappings(map).map((segments, index) => {
    const line = lines[index] ?? "";
    let thrown = false;
    return segments.filter(([column]) => {
      if (thrown) return false;
      // The bundler writes one statement a line and maps each statement's start, at the space before it: what
      // begins here is the keyword and not a word in a string.
      thrown = line.slice(column).trimStart().startsWith("throw ");
      return thrown || column < 4 || line.slice(column - 4, column) !== "new ";
    });
  });
  const { names, sources } = map;
  return JSON.stringify(encodedMap(new TraceMap({ version: 3, names, sources, mappings })));
}
