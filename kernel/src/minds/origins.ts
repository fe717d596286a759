import { scheduleOrigin } from "../base/vocabulary/conversation.ts";
import { decisionOrigin } from "./let-go.ts";

/** Who writes a message. */
export interface Sender {
  readonly origin: string;
  /** The prompt of a command that a person ran, which stands before what they gave it as arguments. */
  readonly prompt?: string;
}

/** The origin of a command's prompt: text of the mind's own extension, which was accepted with it, and no person's words. */
export const commandOrigin = (agent: string): string => `agent:${agent}`;

/** Returns the origins whose messages speak to the model of an agent themselves; those of others are quoted. */
export function speakersOf(agent: string): ReadonlySet<string> {
  return new Set(["person", "model", "kernel", scheduleOrigin, decisionOrigin, commandOrigin(agent)]);
}
