import { endedStates, type Process } from "../../../base/vocabulary/conversation.ts";
import { hint } from "../../render/hint.ts";
import type { Surface } from "../../render/style.ts";
import { truncate } from "../../render/width.ts";
import { conclusionOf } from "../state/items.ts";
import { processesAtWork, shortIdOf, type ChatState, type WorkersPanel } from "../state/state.ts";
import { foreignLines, processLines } from "./items.ts";
import { processLine } from "./process-line.ts";

const nothing = "No branch or worker was started in this conversation.";

/** Returns the branches and workers of a conversation, with what they found. */
export function workerLines(state: Pick<ChatState, "transcript" | "nowMs">, surface: Surface): string[] {
  const all = workersOf(state);
  if (all.length === 0) return hint(nothing, surface);
  return [
    headOf(state, all, surface),
    ...all.flatMap((process) => ["", ...closedLines(state, process, surface, true)]),
  ];
}

/** Returns the same as rows, of which the selected one is marked and the open ones show what was done. */
export function workerPanelLines(
  state: ChatState,
  { selected, open }: WorkersPanel,
  surface: Surface,
): {
  readonly lines: readonly string[];
  readonly ranges: ReadonlyMap<string, { start: number; end: number }>;
} {
  const ranges = new Map<string, { start: number; end: number }>();
  const all = workersOf(state);
  if (all.length === 0) return { lines: hint(nothing, surface), ranges };
  const { style } = surface;
  const inner = { ...surface, width: surface.width - 2 };
  const lines = [headOf(state, all, surface)];
  for (const [index, process] of all.entries()) {
    const bar = index === selected ? style.cyan("▌") : " ";
    const own = open.has(process.id)
      ? [...processLines(state, process, true, inner), ...stopLines(process, inner)]
      : closedLines(state, process, inner, false);
    lines.push("");
    const start = lines.length;
    for (const line of own) lines.push(`${bar} ${line}`);
    ranges.set(process.id, { start, end: lines.length });
  }
  return { lines, ranges };
}

function workersOf({ transcript }: Pick<ChatState, "transcript">): Process[] {
  return [...transcript.processes.values()]
    .map(({ value }) => value)
    .filter(({ kind }) => kind !== "channel");
}

function headOf(
  state: Pick<ChatState, "transcript">,
  all: readonly Process[],
  { style, width }: Surface,
): string {
  const working = processesAtWork(state).length;
  return style.bold(
    truncate(`Branches and workers: ${all.length}; ${working === 0 ? "none" : working} at work`, width),
  );
}

function closedLines(
  state: Pick<ChatState, "transcript" | "nowMs">,
  process: Process,
  surface: Surface,
  isOpen: boolean,
): string[] {
  const found = conclusionOf(state.transcript, process.id);
  return [
    processLine(process, state, surface, isOpen),
    ...stopLines(process, surface),
    ...(found === null ? [] : foreignLines(found, surface)),
  ];
}

function stopLines({ id, state }: Process, { style, width }: Surface): string[] {
  return endedStates.has(state) ? [] : [style.dim(truncate(`  /stop ${shortIdOf(id)} stops it`, width))];
}
