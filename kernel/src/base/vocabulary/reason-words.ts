import type { SeenMemory } from "./answer-reasons.ts";

/** How a memory came before the model that wrote an answer, in words for a person. */
export const readWords: Readonly<Record<SeenMemory["read"], string>> = {
  now: "recalled for this answer",
  before: "recalled earlier in this conversation",
  summarised: "recalled in turns that were summarised since",
  bulletin: "read by the mind when it wrote its bulletin",
};
