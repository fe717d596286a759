export class LanguageModelTextPart {
  readonly value: string;
  constructor(value: string) {
    this.value = value;
  }
}

export class LanguageModelToolCallPart {
  readonly callId: string;
  readonly name: string;
  readonly input: object;
  constructor(callId: string, name: string, input: object) {
    [this.callId, this.name, this.input] = [callId, name, input];
  }
}

export class LanguageModelToolResultPart {
  readonly callId: string;
  readonly content: readonly unknown[];
  constructor(callId: string, content: readonly unknown[]) {
    [this.callId, this.content] = [callId, content];
  }
}

export const LanguageModelChatMessage = {
  User: (content: readonly unknown[]) => ({ role: "user", content }),
  Assistant: (content: readonly unknown[]) => ({ role: "assistant", content }),
};

export class LanguageModelError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The models of the editor, which a test sets. */
export const lm = {
  models: [] as unknown[],
  selectChatModels: (): Promise<unknown[]> => Promise.resolve(lm.models),
};

export class LanguageModelToolResult {
  readonly content: readonly unknown[];
  constructor(content: readonly unknown[]) {
    this.content = content;
  }
}
