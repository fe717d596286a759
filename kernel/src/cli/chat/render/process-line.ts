import type { Process } from "../../../base/vocabulary/conversation.ts";
import { oneLine } from "../../render/foreign.ts";
import { duration } from "../../render/quantities.ts";
import type { Surface } from "../../render/style.ts";
import { displayWidth, truncate } from "../../render/width.ts";
import type { ChatState } from "../state/state.ts";
import { troubleIn } from "../state/trouble.ts";

/** States that look like a success. */
const endsWell: ReadonlySet<Process["state"]> = new Set(["Done", "WaitingForInput"]);

/** Renders a process on one line: whether it works, what it does, and since when or how it ended. */
export function processLine(
  process: Process,
  { transcript, nowMs }: Pick<ChatState, "transcript" | "nowMs">,
  { style, width }: Surface,
  isOpen = false,
): string {
  const { kind, name, state, task, status, started, ended, error } = process;
  const endMs = ended === undefined ? nowMs : Date.parse(ended);
  const took = duration(Math.max(0, endMs - Date.parse(started)));
  const parts = [
    oneLine(task ?? kind),
    name === undefined ? kind : `${kind} ${oneLine(name)}`,
    // It does not work any more, and has not ended either.
    ...(state === "WaitingForInput" ? [] : [took]),
    ...(state === "Failed" && error !== undefined ? [oneLine(error.message)] : []),
    ...(ended === undefined && status !== undefined ? [oneLine(status)] : []),
  ];
  const [mark, paint] = processMark(state, nowMs, style);
  const [what = "", ...more] = parts;
  const rest = more.join("  ");
  const trouble = endsWell.has(state) ? troubleIn(transcript, process.id).map((words) => `${words}  `) : [];
  const wholeRoom = width - displayWidth(mark) - 3;
  const shownTrouble = truncate(trouble.join(""), Math.floor(wholeRoom * 0.6));
  const room = wholeRoom - displayWidth(shownTrouble);
  const shownRest = truncate(rest, Math.max(8, Math.floor(room * 0.6)));
  const shownWhat = truncate(what, Math.max(4, room - displayWidth(shownRest) - 2));
  return `${style.dim(isOpen ? "▾" : "▸")} ${paint(mark)} ${shownWhat}  ${style.yellow(shownTrouble)}${style.dim(shownRest)}`;
}

function processMark(
  state: Process["state"],
  nowMs: number,
  style: Surface["style"],
): [string, (text: string) => string] {
  switch (state) {
    case "WaitingForApproval":
      return ["[WAITS]", (text) => style.bold(style.yellow(text))];
    case "Waiting":
      return ["[queued]", style.dim];
    case "Running":
      return [`[${movingDots(nowMs)}]`, style.dim];
    case "WaitingForInput":
      return ["[ready]", style.green];
    case "Done":
      return ["[done]", style.green];
    case "Failed":
      return ["[failed]", style.red];
    case "Cancelled":
      return ["[stopped]", style.dim];
  }
}

/** Only work in progress is animated. */
export function movingDots(nowMs: number): string {
  return [".  ", ".. ", "..."][Math.floor(nowMs / 500) % 3] ?? "...";
}
