import type { ChatCommand, ChatStep } from "./input.ts";
import type { ChatState } from "./state/state.ts";

export function stay(state: ChatState, ...commands: readonly ChatCommand[]): ChatStep {
  return { state, commands };
}

export function say(state: ChatState, text: string, ...commands: readonly ChatCommand[]): ChatStep {
  return { state: { ...state, message: { text, isFault: false } }, commands };
}

export function complain(state: ChatState, text: string): ChatStep {
  return { state: { ...state, message: { text, isFault: true } }, commands: [] };
}
