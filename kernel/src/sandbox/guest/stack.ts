import { originalPositionFor, TraceMap } from "@jridgewell/trace-mapping";

/** A frame of the program, as the engine writes it: the name it has in the guest, line and column from 1. */
const programFrame = /\bagent\.js:(\d+):(\d+)/;
/** Frames that are the runtime's and the engine's own. */
const foreignFrame = /^\s+at .*(\blares:runtime:|<input>:\d+:\d+)/;
/** Of the bundler: the virtual entry, and files of the SDK. */
const foreignSource = /^(sdk|entry):/;
const ownSource = /^program:/;

/** Parsed maps of the programs whose stacks were mapped last. */
const maxParsedMaps = 16;
const parsedMaps = new Map<string, TraceMap>();

/**
 * Rewrites a guest's stack (or any text with such frames, as on its stderr) so that it names the author's
 * files: `    at handler (lib/helper.ts:17:5)`, paths relative to the extension. Frames of the SDK and the
 * runtime are left out. `sourceMap` is the program's, as `Bundler` made it.
 */
export function mapStack(stack: string, sourceMap: string): string {
  if (!stack.includes("\n") && !programFrame.test(stack)) return stack;
  const map = parsed(sourceMap);
  return stack
    .split("\n")
    .flatMap((line) => mapLine(line, map))
    .join("\n");
}

/** Frames of a stack in which the author's own file is looked for. */
const maxFrames = 64;

/**
 * Returns the author's file (relative to the extension) and line of the first frame that is the program's own; null if
 * there is no such frame. Only the source map names the file: a guest can write any path into its stack.
 */
export function placeInStack(stack: string, sourceMap: string): { path: string; line: number } | null {
  const map = parsed(sourceMap);
  for (const line of stack.split("\n", maxFrames)) {
    const frame = foreignFrame.test(line) ? null : programFrame.exec(line);
    if (frame === null) continue;
    const found = originalPositionFor(map, {
      line: Math.max(1, Number(frame[1])),
      column: Math.max(0, Number(frame[2]) - 1),
    });
    if (found.source !== null && ownSource.test(found.source))
      return { path: found.source.replace(ownSource, ""), line: found.line };
  }
  return null;
}

function mapLine(line: string, map: TraceMap): string[] {
  if (foreignFrame.test(line)) return [];
  const frame = programFrame.exec(line);
  if (frame === null) return [line];
  const position = originalPositionFor(map, { line: Number(frame[1]), column: Number(frame[2]) - 1 });
  // Not from any file: glue that the bundler wrote.
  if (position.source === null || foreignSource.test(position.source)) return [];
  const place = `${position.source.replace(ownSource, "")}:${position.line}:${position.column + 1}`;
  return [line.replace(frame[0], place)];
}

function parsed(sourceMap: string): TraceMap {
  const known = parsedMaps.get(sourceMap);
  parsedMaps.delete(sourceMap);
  const map = known ?? new TraceMap(sourceMap);
  parsedMaps.set(sourceMap, map);
  const [oldest] = parsedMaps.keys();
  if (parsedMaps.size > maxParsedMaps && oldest !== undefined) parsedMaps.delete(oldest);
  return map;
}
