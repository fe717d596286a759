/** The limits of language models in the inference host. */
export const llamaBounds = {
  /** The window of a model whose document names none, unless the model was trained with a smaller one. */
  defaultContextTokens: 32_768,
  /** Tokens that are read at once: between two batches a run can be cancelled. */
  batchTokens: 128,
  /** Bytes of a file's head, which has the vocabulary, and the numbers of its fields and tensors. */
  maxHeadBytes: 256 * 1024 * 1024,
  maxFields: 65_536,
  maxTensors: 131_072,
  /** Bytes of a name or a short text in a file's head; longer texts are skipped. */
  maxTextBytes: 65_535,
  maxArrayLength: 16 * 1024 * 1024,
  /** Schemas within the schemas of a request, and how deep; values beyond are not constrained. */
  maxSchemas: 4000,
  maxSchemaDepth: 32,
  /** Repetitions that a grammar counts; llama.cpp makes a rule for each of them. */
  maxCounted: 256,
  /** The repeat penalty, and the number of last tokens that it applies to: the defaults of Ollama. */
  repeatPenalty: 1.1,
  repeatTokens: 64,
  /** Calls of tools in one answer. */
  maxCalls: 16,
  /** Characters of one answer. */
  maxAnswerChars: 8 * 1024 * 1024,
} as const;
