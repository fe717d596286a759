/** The keys of every card: of a change, a question, an offer and a consent. Each means the same everywhere. */
export const cardKeys = {
  allow: "a",
  reject: "r",
  always: "s",
  undo: "u",
  program: "p",
  more: "Enter",
  tick: "Space",
  later: "Esc",
} as const;

export type CardKey = (typeof cardKeys)[keyof typeof cardKeys];

/** The same, with their meanings, for help. */
export const cardKeyList: readonly (readonly [key: CardKey, words: string])[] = [
  [cardKeys.allow, "approve or allow what the card asks"],
  [cardKeys.reject, "reject or deny it; the agent receives the reason that you may add"],
  [cardKeys.always, "approve or allow it from now on: choose for what"],
  [cardKeys.more, "show more of it; in a consent: allow exactly what is ticked"],
  [cardKeys.tick, "tick, or select"],
  [cardKeys.program, "show the program that a consent asks about"],
  [cardKeys.undo, "undo what was done"],
  [cardKeys.later, "later: it keeps waiting"],
];
