import { UsageError } from "../command.ts";
import { argumentsOf, type OfferedCommand } from "../offered-commands.ts";
import { oneLine } from "../render/foreign.ts";
import { answerNamed } from "./known.ts";
import type { ChatStep } from "./input.ts";
import type { SlashName } from "./state/slash.ts";
import {
  hasUndone,
  lastCommitted,
  nothingToUndo,
  runningNamed,
  stoppable,
  waitingItems,
  type ChatState,
} from "./state/state.ts";
import { complain, say, stay } from "./steps.ts";
import { itemsOf } from "./state/items.ts";

/** Said until the compaction that the person asked for has ended. */
export const summarising = "Earlier turns are being summarised.";

/** Runs a command that the person wrote after a slash. */
export function run(state: ChatState, name: SlashName, rest: string): ChatStep {
  switch (name) {
    case "help":
      return stay({ ...state, panel: { kind: "help", top: 0 } });
    case "workers":
      return stay({ ...state, panel: { kind: "workers", selected: 0, open: new Set(), top: 0 } });
    case "stop":
      if (rest !== "") return stopOne(state, rest);
      return stoppable(state).length > 0
        ? say(state, "Stopping…", { kind: "stop" })
        : say(state, "Nothing runs in this conversation.");
    case "undo": {
      const action = lastCommitted(state);
      if (action === null) {
        const isWaiting = waitingItems(state).length > 0;
        const words = nothingToUndo(hasUndone(state), isWaiting);
        return complain(state, isWaiting ? `${words} Tab goes there.` : words);
      }
      const next = { ...state, busy: new Set(state.busy).add(action.id) };
      return say(next, `Undoing: ${oneLine(action.title)}`, { kind: "undo", id: action.id });
    }
    case "model":
    case "title":
      return stay(state, { kind: name, value: rest });
    case "redact":
      return say(state, "Looking for the text…", { kind: "preview", text: rest });
    case "pin":
      return pin(state);
    case "compact":
      return say(state, summarising, { kind: name });
    case "why":
      return why(state, rest);
    case "memories":
      return stay(state, { kind: "known", source: { kind: name, words: rest }, purpose: "look" });
    case "correct":
    case "forget":
      return stay(state, { kind: "known", source: { kind: "memories", words: rest }, purpose: name });
    case "blocks":
      return stay(state, { kind: "known", source: { kind: name }, purpose: "look" });
    case "fork":
    case "context":
    case "new":
    case "quit":
      return stay(state, { kind: name });
    case "resume":
      return stay(state, { kind: "list" });
  }
}

/** Runs a command of an extension, with what the person wrote behind its name. */
export function runOffered(state: ChatState, command: OfferedCommand, rest: string): ChatStep {
  const given = argumentsOf(command, rest);
  if (given.kind === "wrong") return complain(state, oneLine(given.message));
  const { agent, name } = command;
  return say(state, `${oneLine(name)} runs…`, { kind: "run", agent, name, args: given.value });
}

function stopOne(state: ChatState, which: string): ChatStep {
  return orComplain(state, () =>
    say(state, "Stopping…", { kind: "stop", process: runningNamed(state, which).id }),
  );
}

function why(state: ChatState, which: string): ChatStep {
  return orComplain(state, () => {
    const entry = answerNamed(state.transcript, which);
    return stay(state, { kind: "known", source: { kind: "why", entry }, purpose: "look" });
  });
}

/** Calls `step`, and shows what was wrong with the words of a command. */
function orComplain(state: ChatState, step: () => ChatStep): ChatStep {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return complain(state, error.message);
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
