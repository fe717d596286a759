import type { TraceEntry, TraceLevel } from "../../base/vocabulary/trace.ts";
import { oneLine } from "./foreign.ts";
import { clockTime, dayAndTime } from "./quantities.ts";
import type { Style, Surface } from "./style.ts";
import { displayWidth, padEnd, truncate, wrap } from "./width.ts";

const agentWidth = 20;
const longestField = 60;

interface TraceLineOptions {
  /** Show the day as well: for past entries, as opposed to live ones. */
  readonly withDay: boolean;
  /** Nothing is cut: for a pipe or a file, whose reader searches the text and has no columns. */
  readonly isWhole: boolean;
}

/**
 * Renders one trace entry: time, level, agent, message, fields. It is one line, cut to the surface unless it is wanted
 * whole; only a warning or an error is wrapped instead, because the end of its sentence says what to do.
 */
export function renderTrace(entry: TraceEntry, surface: Surface, options: TraceLineOptions): string[] {
  const { style } = surface;
  const { isWhole } = options;
  const width = isWhole ? Number.POSITIVE_INFINITY : surface.width;
  const time = options.withDay ? dayAndTime(entry.timestamp) : clockTime(entry.timestamp);
  const agent = padEnd(truncate(shortAgent(oneLine(entry.agent)), agentWidth), agentWidth);
  const left = `${style.dim(time)} ${renderLevel(entry.level, style)} ${style.cyan(agent)} `;
  const leftWidth = displayWidth(`${time} error ${agent} `);
  const room = Math.max(20, width - leftWidth);
  const isTrouble = entry.level === "warn" || entry.level === "error";
  const message = oneLine(entry.message);
  const parts = isWhole ? [message] : isTrouble ? wrap(message, room) : [truncate(message, room)];
  const lines = parts.map((part) => renderMessage(part, entry.level, style));
  const fields = compactFields(entry.fields, isWhole ? Number.POSITIVE_INFINITY : longestField);
  const fieldRoom = room - displayWidth(parts.at(-1) ?? "") - 2;
  if (fields !== "" && fieldRoom >= 8)
    lines.push(`${lines.pop() ?? ""}  ${style.dim(truncate(fields, fieldRoom))}`);
  else if (fields !== "" && isTrouble) lines.push(style.dim(truncate(fields, room)));
  return lines.map((line, index) => (index === 0 ? left : " ".repeat(leftWidth)) + line);
}

function renderMessage(text: string, level: TraceLevel, style: Style): string {
  return level === "error" ? style.red(text) : level === "warn" ? style.yellow(text) : text;
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

/** Formats {files: 12, name: "a b"} as files=12 name="a b". Each value is cut to `longest` columns. */
export function compactFields(
  fields: Readonly<Record<string, unknown>> | undefined,
  longest = longestField,
): string {
  if (fields === undefined) return "";
  return Object.entries(fields)
    .map(([key, value]) => `${oneLine(key)}=${truncate(compactValue(value), longest)}`)
    .join(" ");
}

function compactValue(value: unknown): string {
  if (typeof value === "string")
    return /^[^\s"=]+$/.test(value) ? oneLine(value) : oneLine(JSON.stringify(value));
  return oneLine(JSON.stringify(value) ?? "undefined");
}
