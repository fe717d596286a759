import type { TraceEntry } from "../../base/vocabulary/trace.ts";
import { oneLine } from "./foreign.ts";
import type { Surface } from "./style.ts";
import { wrap } from "./width.ts";

/** Lines of one value; `--json` shows all of it. */
const maxValueLines = 12;
const values = ["event", "parameters", "arguments", "input", "params", "result", "error"];

/**
 * Renders a step of an inspected agent, which only the kernel writes: what it is and how long it took, then its values.
 */
export function renderStep(entry: TraceEntry, { style, width }: Surface): string[] {
  const { agent, message, step, fields = {} } = entry;
  const isFailed = fields["error"] !== undefined;
  const took = typeof fields["took_ms"] === "number" ? `  ${fields["took_ms"]} ms` : "";
  const { place, number } = fields;
  const { path, line } = (typeof place === "object" && place !== null ? place : {}) as Record<
    string,
    unknown
  >;
  const where = typeof path === "string" && typeof line === "number" ? `  ${oneLine(path)}:${line}` : "";
  const sign = step === "begin" ? "▶" : step === "end" ? (isFailed ? "✗" : "■") : `  ${Number(number)}`;
  const indent = step === "call" ? 6 : 4;
  const [first = "", ...more] = wrap(oneLine(message), Math.max(20, width - indent));
  const words = isFailed ? style.red(first) : step === "call" ? first : style.cyan(first);
  const about = step === "begin" ? `  ${oneLine(agent)}` : `${took}${where}`;
  return [
    `${sign} ${words}${style.dim(about)}`,
    ...more.map((text) => " ".repeat(indent) + text),
    ...values.flatMap((name) => renderValue(name, fields[name], indent, width)),
  ];
}

function renderValue(name: string, value: unknown, indent: number, width: number): string[] {
  if (value === undefined) return [];
  const text = oneLine(typeof value === "string" ? value : JSON.stringify(value));
  const lines = wrap(`${name}: ${text}`, Math.max(20, width - indent - 2));
  const shown = lines.length > maxValueLines ? [...lines.slice(0, maxValueLines), "…"] : lines;
  return shown.map((line, at) => " ".repeat(at === 0 ? indent : indent + 2) + line);
}
