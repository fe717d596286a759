import type { ChatStep } from "./input.ts";
import type { SlashName } from "./state/slash.ts";
import { isAtWork, lastCommitted, runningProcesses, type ChatState } from "./state/state.ts";
import { complain, say, stay } from "./steps.ts";
import { itemsOf } from "./state/transcript.ts";

/** Runs a command that the person wrote after a slash. */
export function run(state: ChatState, name: SlashName, rest: string): ChatStep {
  switch (name) {
    case "help":
      return stay({ ...state, panel: { kind: "help", top: 0 } });
    case "workers":
      return stay({ ...state, panel: { kind: "workers", top: 0 } });
    case "stop":
      return isAtWork(state) || runningProcesses(state).length > 0
        ? say(state, "Stopping…", { kind: "stop" })
        : say(state, "Nothing runs in this conversation.");
    case "undo": {
      const action = lastCommitted(state);
      if (action === null)
        return complain(state, "No change was made in this conversation that could be undone.");
      return stay({ ...state, busy: new Set(state.busy).add(action.id) }, { kind: "undo", id: action.id });
    }
    case "model":
    case "title":
      return stay(state, { kind: name, value: rest });
    case "pin":
      return pin(state);
    case "fork":
    case "compact":
    case "context":
    case "new":
    case "quit":
      return stay(state, { kind: name });
    case "resume":
      return stay(state, { kind: "list" });
  }
}

function pin(state: ChatState): ChatStep {
  const last = itemsOf(state.transcript).findLast(
    (item) => item.kind === "message" && item.message.role === "assistant" && item.message.whole !== null,
  );
  if (last === undefined) return complain(state, "There is no answer to pin yet.");
  const pinned = state.transcript.pins.get(last.key)?.value !== true;
  return say(
    state,
    pinned ? "The last answer stays in the context." : "The last answer is no longer pinned.",
    { kind: "pin", entry: last.key, pinned },
  );
}
