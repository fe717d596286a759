import type { TraceEntry, TraceLevel } from "../../base/vocabulary/trace.ts";
import { oneLine } from "./foreign.ts";
import { clockTime, dayAndTime } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";
import { displayWidth, padEnd, truncate } from "./width.ts";

const agentWidth = 20;
const longestField = 60;

interface TraceLineOptions {
  /** Show the day as well: for past entries, as opposed to live ones. */
  readonly withDay: boolean;
}

/**
 * Renders one trace entry on one line: time, level, agent, message, fields. On a wide enough surface it is cut, never
 * wrapped.
 */
export function renderTrace(entry: TraceEntry, surface: Surface, options: TraceLineOptions): string {
  const { style, width } = surface;
  const time = options.withDay ? dayAndTime(entry.timestamp) : clockTime(entry.timestamp);
  const agent = padEnd(truncate(shortAgent(oneLine(entry.agent)), agentWidth), agentWidth);
  const left = `${style.dim(time)} ${renderLevel(entry.level, style)} ${style.cyan(agent)} `;
  const room = Math.max(20, width - displayWidth(left));
  const message = truncate(oneLine(entry.message), room);
  const text =
    entry.level === "error" ? style.red(message) : entry.level === "warn" ? style.yellow(message) : message;
  const fieldRoom = room - displayWidth(message) - 2;
  const fields = fieldRoom < 8 ? "" : truncate(compactFields(entry.fields), fieldRoom);
  return fields === "" ? left + text : `${left}${text}  ${style.dim(fields)}`;
}

function renderLevel(level: TraceLevel, style: Style): string {
  switch (level) {
    case "debug":
      return style.dim("debug");
    case "info":
      return style.green("info ");
    case "warn":
      return style.yellow("warn ");
    case "error":
      return style.red("error");
  }
}

/**
 * Shortens "dev.lares.filetypes" to "lares.filetypes": in a narrow column the end of an id is more useful than its
 * start.
 */
function shortAgent(id: string): string {
  if (displayWidth(id) <= agentWidth) return id;
  const parts = id.split(".");
  while (parts.length > 1 && displayWidth(parts.join(".")) > agentWidth) parts.shift();
  return parts.join(".");
}

/** Formats {files: 12, name: "a b"} as files=12 name="a b". */
export function compactFields(fields: Readonly<Record<string, unknown>> | undefined): string {
  if (fields === undefined) return "";
  return Object.entries(fields)
    .map(([key, value]) => `${oneLine(key)}=${truncate(compactValue(value), longestField)}`)
    .join(" ");
}

function compactValue(value: unknown): string {
  if (typeof value === "string")
    return /^[^\s"=]+$/.test(value) ? oneLine(value) : oneLine(JSON.stringify(value));
  return oneLine(JSON.stringify(value) ?? "undefined");
}
