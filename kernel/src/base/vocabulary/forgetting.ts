/** The texts that a person wants removed everywhere. */
export interface Forgotten {
  /** Each as it is written. */
  readonly texts: readonly string[];
  /** Calls of tools that were removed as a whole, whose texts may be too short to be looked for. */
  readonly calls: readonly { readonly agent: string; readonly conversation: string; readonly call: string }[];
  /** The agent whose mind had the conversations. */
  readonly agent: string;
  /** The conversations from which the texts were removed. */
  readonly conversations: readonly string[];
  /** Memories that are forgotten whatever they say. */
  readonly memories: readonly { readonly agent: string; readonly id: string }[];
}

/** What was removed outside of the conversations' logs, and what stays. */
export interface ForgettingReport {
  readonly removed: readonly { readonly place: string; readonly count: number }[];
  readonly remains: readonly RemainingText[];
}

/** A copy that stays, and why, as a person reads it. */
export interface RemainingText {
  /** The kind of place, such as "an action". */
  readonly place: string;
  /** An id or a path, by which the person finds it. */
  readonly name: string;
  /** One sentence: why it stays, and what the person can do. */
  readonly why: string;
}

export interface Cleaned {
  /** Records or files that had a text and have it no longer. */
  readonly removed: number;
  readonly remains: readonly RemainingText[];
}

/** A place outside of the conversations' logs that may hold texts of conversations. */
export interface TextPlace {
  /** What is removed there, as a person reads it behind a number: "questions". */
  readonly name: string;
  /** Removes the texts. May be called again with the same ones, after a kernel died in between. */
  redact(forgotten: Forgotten): Promise<Cleaned>;
}
