/** Installed by those who want it: what Lares uses of it. */
declare module "node-llama-cpp" {
  export type Token = number;

  export interface LlamaText {
    tokenize(tokenizer: Tokenizer, options?: "trimLeadingSpace"): Token[];
    /** A text, or texts and `{ type: "specialTokensText" | "specialToken", value }`. */
    toJSON(): unknown;
  }
  export function LlamaText(...values: readonly (string | LlamaText)[]): LlamaText;
  export interface Tokenizer {
    (text: string, specialTokens?: boolean, options?: "trimLeadingSpace"): Token[];
  }

  export interface ChatFunctionCall {
    readonly type: "functionCall";
    readonly name: string;
    readonly params: unknown;
    readonly result: unknown;
    readonly startsNewChunk?: boolean;
  }
  export interface ChatSegment {
    readonly type: "segment";
    readonly segmentType: "thought";
    readonly text: string;
    readonly ended: boolean;
  }
  export type ChatHistoryItem =
    | { readonly type: "system" | "user"; readonly text: string }
    | { readonly type: "model"; readonly response: (string | ChatFunctionCall | ChatSegment)[] };
  export type ChatModelFunctions = Readonly<
    Record<string, { readonly description?: string; readonly params?: unknown }>
  >;
  type Text = string | LlamaText;
  export interface ChatWrapperSettings {
    readonly functions: {
      readonly call: { readonly prefix: Text; readonly paramsPrefix: Text; readonly suffix: Text };
      readonly parallelism?: {
        readonly call: { readonly sectionPrefix: Text; readonly betweenCalls?: Text };
      };
    };
    readonly segments?: { readonly thought?: { readonly prefix: Text; readonly suffix?: Text } };
  }
  export interface ChatWrapper {
    readonly wrapperName: string;
    readonly settings: ChatWrapperSettings;
    generateContextState(options: {
      readonly chatHistory: readonly ChatHistoryItem[];
      readonly availableFunctions?: ChatModelFunctions;
      readonly documentFunctionParams?: boolean;
    }): { readonly contextText: LlamaText; readonly stopGenerationTriggers: readonly LlamaText[] };
  }
  export function resolveChatWrapper(model: LlamaModel): ChatWrapper;

  export class LlamaGrammar {
    constructor(llama: Llama, options: { readonly grammar: string });
    readonly grammar: string;
  }
  export class LlamaGrammarEvaluationState {
    constructor(options: { readonly model: LlamaModel; readonly grammar: LlamaGrammar });
    clone(): LlamaGrammarEvaluationState;
  }

  export interface LlamaContextSequence {
    readonly nextTokenIndex: number;
    adaptStateToTokens(tokens: readonly Token[], allowShift?: boolean): Promise<void>;
    evaluateWithoutGeneratingNewTokens(tokens: readonly Token[]): Promise<void>;
    evaluate(
      tokens: readonly Token[],
      options?: {
        readonly temperature?: number;
        readonly minP?: number;
        readonly topK?: number;
        readonly topP?: number;
        readonly seed?: number;
        readonly repeatPenalty?: {
          readonly punishTokens: () => readonly Token[];
          readonly penalty: number;
        };
        readonly grammarEvaluationState?: () => LlamaGrammarEvaluationState | undefined;
      },
    ): AsyncGenerator<Token, void, undefined>;
  }
  export interface LlamaContext {
    readonly contextSize: number;
    getSequence(): LlamaContextSequence;
    dispose(): Promise<void>;
  }
  export interface LlamaModel {
    readonly trainContextSize: number;
    readonly tokenizer: Tokenizer;
    detokenize(tokens: readonly Token[], specialTokens?: boolean, lastTokens?: readonly Token[]): string;
    isEogToken(token: Token): boolean;
    createContext(options: {
      readonly contextSize: number;
      readonly batchSize?: number;
      readonly createSignal?: AbortSignal;
    }): Promise<LlamaContext>;
    dispose(): Promise<void>;
  }
  export interface Llama {
    loadModel(options: {
      readonly modelPath: string;
      readonly loadSignal?: AbortSignal;
      readonly onLoadProgress?: (progress: number) => void;
    }): Promise<LlamaModel>;
    dispose(): Promise<void>;
  }
  export function getLlama(options: {
    readonly gpu: "auto" | false;
    readonly build: "never";
    readonly skipDownload: true;
    readonly progressLogs: false;
    readonly maxThreads: number;
    readonly logLevel: "error";
    readonly logger: (level: string, message: string) => void;
  }): Promise<Llama>;
}
