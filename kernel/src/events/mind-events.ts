import type { EventType, Field } from "./event-type.ts";

const text = (description: string): Field => ({ type: "string", description });

/** The fields that every event of a conversation has. */
const ofConversation: Readonly<Record<string, Field>> = {
  agent: text("The id of the agent whose mind it is"),
  conversation: text("The conversation's id"),
  process: text("The id of the process in the conversation"),
};

const event = (
  name: string,
  description: string,
  fields: Readonly<Record<string, Field>> = {},
): EventType => ({
  name,
  description,
  fields: { ...ofConversation, ...fields },
});

const tool = text("The tool's name, such as files/read");
const call: Field = text("The call's id");
const withheld: Field = {
  type: "bool",
  description:
    "True if a part is left out, because it may hold what the hook's agent cannot see, or because it is of neither the person nor the model and the agent can reach a host, itself or through others",
};
const args: Field = { type: "map<string, dyn>", description: "The arguments of the call" };

/** Events of conversations. The first six may be cancelled or changed by a hook with `intercept: true`. */
export const mindEventTypes: readonly EventType[] = [
  event("UserInput", "A person wrote something, and the mind has not read it yet", {
    text: text("What the person wrote"),
    withheld,
  }),
  event("Context", "A request to the model is about to be sent", {
    messages: {
      type: "dyn",
      description:
        "What the model is about to read, the newest part where it is long; it cannot be changed. Contents of files that the hook's agent cannot see are left out; what the model itself wrote about them is not",
    },
    withheld,
  }),
  event("BeforeToolCall", "A tool is about to be called", { tool, call, arguments: args, withheld }),
  event("AfterToolCall", "A tool has answered, and the mind has not read the answer yet", {
    tool,
    call,
    arguments: args,
    result: {
      type: "dyn",
      description:
        "What the tool answered: `{ status, value }`, or `{ status, message, recoverable }`; with the status `needs_approval` it cannot be changed",
    },
    withheld,
  }),
  event("BeforeAction", "An action is about to be proposed", {
    action: {
      type: "map<string, dyn>",
      description:
        "The action as it would be proposed; effects on files that the hook's agent cannot see have no details",
    },
    withheld,
  }),
  event("BeforeCompact", "A part of the conversation is about to be summarised", {
    covers: { type: "dyn", description: "The first and the last entry of that part" },
  }),
  event("SessionStart", "A conversation was opened"),
  event("SessionEnd", "A conversation was archived"),
  event("SessionShutdown", "The kernel stops while the conversation is open"),
  event("BeforeAgentStart", "A process is about to start"),
  event("AgentStart", "A process has started"),
  event("AgentEnd", "A process has ended"),
  event("TurnStart", "A process begins a turn"),
  event("TurnEnd", "A process has ended a turn"),
  event("ModelSelect", "Another model answers from now on", { model: text("The model's name") }),
  event("MessageStart", "A message begins", { message: text("The message's id") }),
  event("MessageUpdate", "A message has grown; told once a second at most", {
    message: text("The message's id"),
  }),
  event("MessageEnd", "A message is complete", {
    message: text("The message's id"),
    role: { type: "string", description: "Who speaks", values: ["user", "assistant"] },
    text: text("What was said, at most 8,000 characters of it"),
    withheld,
  }),
  event("Compact", "A part of the conversation was summarised"),
];
