import { type ConversationChoice, copyOf, titleOf } from "../state/choices.ts";
import { isWorking } from "../state/transcript.ts";
import { oneLine } from "../../render/foreign.ts";
import { dayAndTime } from "../../render/quantities.ts";
import type { Style, Surface } from "../../render/style.ts";
import { renderTable } from "../../render/table.ts";
import { hint } from "../../render/hint.ts";

/** Renders conversations, the last used first. */
export function renderConversations(choices: readonly ConversationChoice[], surface: Surface): string[] {
  const { style } = surface;
  if (choices.length === 0) return hint("There is no conversation here. lares chat begins one.", surface);
  const rows = choices.map((choice) => [
    // The end of an id: its start is the time, which conversations of the same period share.
    oneLine(choice.conversation.id).slice(-8),
    stateOf(choice, style),
    oneLine(choice.agentName),
    dayAndTime(choice.conversation.updated),
    titleWithOrigin(choice.conversation),
  ]);
  const columns = [
    { title: "Id" },
    { title: "State" },
    { title: "Agent" },
    { title: "Last used" },
    { title: "Title", flexible: true },
  ];
  return renderTable(columns, rows, surface);
}

function titleWithOrigin(conversation: ConversationChoice["conversation"]): string {
  const copy = copyOf(conversation);
  return copy === null ? titleOf(conversation) : `(${copy}) ${titleOf(conversation)}`;
}

function stateOf({ conversation, waiting }: ConversationChoice, style: Style): string {
  if (waiting > 0) return style.yellow(`${waiting} ${waiting === 1 ? "waits" : "wait"} for you`);
  if (conversation.processes.some(isWorking)) return style.green("working");
  if (conversation.unread > 0) return style.bold(`${conversation.unread} unread`);
  return conversation.state === "archived" ? style.dim("archived") : "";
}
