import { Type } from "typebox";

/** An id or a name in a client's request, with what it names. */
export const Named = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });

export const ActionId = Named("The action's id");
/** Whose, where a request is about one agent. */
export const AgentId = Named("The agent's id, which is its extension's");
/** Whose, where a list may be about one agent or all. */
export const OfAgent = Type.Optional(Named("Only those of the agent with this id; default all agents"));

/** How many rows at most. Above the maximum is an error, not a silent cut. */
export const Limit = Type.Integer({
  minimum: 1,
  maximum: 10_000,
  default: 100,
  description: "How many to answer at most",
});

/** A point in time in a question: ISO 8601, or an age such as "7d". */
export const When = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 40,
    description: `${description}: a time in ISO 8601, or an age such as "30s", "15m", "12h", "7d"`,
  });

export const Base64 = Type.String({ description: "Standard Base64, padded" });
export const Eof = Type.Boolean({ description: "The piece reaches the end" });
