import { decodedMappings, encodedMap, type SourceMapSegment, TraceMap } from "@jridgewell/trace-mapping";

/** Sources that the bundler adds: the virtual entry, and files of the SDK. */
const addedSource = /^(sdk|entry):/;

/**
 * Adjusts a source map so that it reports the position of a thrown error as people expect it, and says nothing about code
 * that is not the author's: no reader of a stack is shown it, and it is nearly all of a small program.
 *
 * QuickJS reports the position of the class after `new` (`throw new ▸Error("x")`). Without the segments for the code
 * after `throw ` and `new `, a lookup yields the keyword itself: an error created in a `throw` statement is reported at
 * `throw`, any other at its `new`.
 */
export function ownPositions(sourceMap: string, code: string): string {
  const map = new TraceMap(sourceMap);
  const lines = code.split("\n");
  const own = map.sources.flatMap((source, at) =>
    source === null || addedSource.test(source) ? [] : [{ source, at }],
  );
  const indexOf = new Map(own.map(({ at }, index) => [at, index]));
  const mappings = decodedMappings(map).map((segments, index) => {
    const line = lines[index] ?? "";
    let thrown = false;
    const reported = segments.filter(([column]) => {
      if (thrown) return false;
      // The bundler writes one statement per line and maps the start of each statement at the space before it, so the
      // text here is the keyword and not a word in a string.
      thrown = line.slice(column).trimStart().startsWith("throw ");
      return thrown || column < 4 || line.slice(column - 4, column) !== "new ";
    });
    return withSources(reported, indexOf);
  });
  const { names } = map;
  const sources = own.map(({ source }) => source);
  return JSON.stringify(encodedMap(new TraceMap({ version: 3, names, sources, mappings })));
}

/** Renumbers the sources. Code of a source without a number gets one segment without a source, or none at a line's start. */
function withSources(
  segments: readonly SourceMapSegment[],
  indexOf: ReadonlyMap<number, number>,
): SourceMapSegment[] {
  const result: SourceMapSegment[] = [];
  for (const segment of segments) {
    const source = segment[1] === undefined ? undefined : indexOf.get(segment[1]);
    if (source !== undefined)
      result.push([segment[0], source, ...(segment.slice(2) as [number, number])] as SourceMapSegment);
    else if ((result.at(-1)?.length ?? 1) > 1) result.push([segment[0]]);
  }
  return result;
}
