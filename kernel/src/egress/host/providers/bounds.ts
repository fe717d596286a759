/** The limits of an answer of a model, whatever its provider sends. */
export const answerBounds = {
  /** Characters of text, reasoning and arguments together. The largest outputs on offer are a tenth of this. */
  maxChars: 8 * 1024 * 1024,
  /** The minimum that a part counts, so that empty parts are bounded too. Characters. */
  partChars: 64,
  /** Levels of arrays and objects in the arguments of a call. Code that passes them on takes a stack frame for each. */
  argumentsDepth: 256,
  /** Bytes of one event of a stream or of one line, which is held in memory until it ends. */
  maxEventBytes: 16 * 1024 * 1024,
  /** Bytes of the whole stream: events repeat names and identifiers for every few characters of text. */
  maxStreamBytes: 512 * 1024 * 1024,
  /** Bytes of an answer that reports an error; the rest is not read. */
  maxErrorBytes: 64 * 1024,
  /** Bytes of a list of models. */
  maxListBytes: 8 * 1024 * 1024,
} as const;
