import type { LlamaGrammarEvaluationState, Token } from "node-llama-cpp";
import { messageOf } from "../../../base/errors.ts";
import type { ModelEvent, ModelFailure, ModelRequest } from "../../../base/vocabulary/model.ts";
import { AnswerParts } from "./answer-parts.ts";
import { llamaBounds as bounds } from "./bounds.ts";
import { callFormatOf, callGrammar, type CallFormat, plainText } from "./call-format.ts";
import { CallReader } from "./call-reader.ts";
import { chatFunctions, chatHistory } from "./history.ts";
import type { LanguageModel } from "./language-model.ts";
import { MarkScanner } from "./scanner.ts";
import { SchemaGrammar } from "./schema-grammar.ts";
import { TokenText } from "./token-text.ts";

interface Run {
  readonly loaded: LanguageModel;
  readonly request: ModelRequest;
  readonly parts: AnswerParts;
  readonly format: CallFormat;
  readonly prompt: readonly Token[];
  readonly signal: AbortSignal;
  /** Called whenever something was computed. */
  progress(): void;
  /** Tokens that may still be written. */
  left: number;
  written: number;
  reasoning: number;
}

/**
 * Writes one answer; the last event is `done` or `failed`. Throws the signal's reason once it is aborted, between two
 * tokens or two batches of the request.
 */
export async function* generate(
  loaded: LanguageModel,
  request: ModelRequest,
  signal: AbortSignal,
  progress: () => void,
): AsyncGenerator<ModelEvent, void> {
  const { wrapper, model, sequence, contextTokens } = loaded;
  const mayCall = (request.tools?.length ?? 0) > 0 && request.tool_choice !== "none";
  if (mayCall && request.schema !== undefined)
    return yield failed(
      "InvalidRequest",
      `The model "${request.model}" takes either tools or a schema in one request. Ask for them one after the other.`,
    );
  const { contextText, stopGenerationTriggers } = wrapper.generateContextState({
    chatHistory: chatHistory(request),
    ...(mayCall ? { availableFunctions: chatFunctions(request), documentFunctionParams: true } : {}),
  });
  const prompt = contextText.tokenize(model.tokenizer);
  const room = contextTokens - prompt.length - 1;
  if (room < 1)
    return yield failed(
      "ContextOverflow",
      `The request is too long for the model "${request.model}": it has ${prompt.length} tokens, and ${contextTokens} fit, its answer included.`,
    );
  // The last token is always read, because what it predicts is the answer's first.
  await sequence.adaptStateToTokens(prompt.slice(0, -1), false);
  const cached = sequence.nextTokenIndex;
  const unread = prompt.slice(cached);
  while (unread.length > bounds.batchTokens) {
    await sequence.evaluateWithoutGeneratingNewTokens(unread.splice(0, bounds.batchTokens));
    progress();
    signal.throwIfAborted();
  }
  const parts = new AnswerParts(request.model);
  const run: Run = {
    loaded,
    request,
    parts,
    format: callFormatOf(wrapper.settings),
    prompt,
    signal,
    progress,
    left: Math.min(request.max_output_tokens ?? room, room),
    written: 0,
    reasoning: 0,
  };
  const stops = stopGenerationTriggers.map(plainText).filter((text) => text !== "");
  try {
    if (request.schema !== undefined) yield* constrained(run, unread, request.schema);
    else yield* free(run, unread, stops, mayCall);
  } catch (error) {
    if (!(error instanceof NoGrammar)) throw error;
    return yield failed("InvalidRequest", error.message);
  }
  yield parts.end(run.left <= 0, {
    input_tokens: prompt.length - cached,
    output_tokens: run.written,
    ...(cached === 0 ? {} : { cache_read_tokens: cached }),
    ...(run.reasoning === 0 ? {} : { reasoning_tokens: run.reasoning }),
  });
}

/** An answer that is JSON for a schema. */
async function* constrained(
  run: Run,
  unread: readonly Token[],
  schema: Readonly<Record<string, unknown>>,
): AsyncGenerator<ModelEvent, void> {
  const grammar = new SchemaGrammar();
  const state = stateOf(run, grammar.text(grammar.valueOf(schema)));
  for await (const { text } of tokensOf(run, unread, () => state))
    if (text !== "") yield run.parts.add("text", text);
}

/** An answer in words, with thoughts, until the model begins to call a tool. */
async function* free(
  run: Run,
  unread: readonly Token[],
  stops: readonly string[],
  mayCall: boolean,
): AsyncGenerator<ModelEvent, void> {
  const { parts, format } = run;
  const { begin, end } = format.thought;
  const scanner = new MarkScanner([...stops, begin, end, ...(mayCall ? [format.mark] : [])]);
  let type: "text" | "reasoning" =
    begin !== "" && run.loaded.model.detokenize(run.prompt.slice(-16), true).trimEnd().endsWith(begin)
      ? "reasoning"
      : "text";
  const before: { readonly token: Token; readonly length: number }[] = [];
  let length = 0;
  for await (const { token, text } of tokensOf(run, unread, () => undefined, true)) {
    length += text.length;
    before.push({ token, length });
    if (type === "reasoning") run.reasoning++;
    for (let rest = text; ;) {
      const found = scanner.push(rest);
      if (found.text !== "") yield parts.add(type, found.text);
      if (found.mark === null) break;
      if (mayCall && found.mark === format.mark) {
        // What was written from the mark on is written again, so that it is the template's own and within the grammar.
        const start = length - found.rest.length - found.mark.length;
        const kept = before.filter((each) => each.length <= start).map((each) => each.token);
        return yield* calls(run, kept);
      }
      if (found.mark === begin) type = "reasoning";
      else if (found.mark === end) type = "text";
      else return;
      rest = found.rest;
    }
    if (parts.chars > bounds.maxAnswerChars) return;
  }
  const held = scanner.end();
  if (held !== "") yield parts.add(type, held);
}

/** Calls of tools, to the end of the answer. */
async function* calls(run: Run, kept: readonly Token[]): AsyncGenerator<ModelEvent, void> {
  const { loaded, request, parts, format, prompt } = run;
  const { tools = [] } = request;
  const state = stateOf(run, callGrammar(tools, format));
  await loaded.sequence.adaptStateToTokens([...prompt, ...kept], false);
  const opening = loaded.library.module
    .LlamaText(...format.opening)
    .tokenize(loaded.model.tokenizer, "trimLeadingSpace");
  const reader = new CallReader(
    tools.map(({ name }) => name),
    format,
  );
  for await (const { text } of tokensOf(run, opening, () => state))
    for (const piece of reader.push(text)) {
      if (piece.type === "call") {
        parts.beginCall(piece.tool);
        continue;
      }
      yield parts.addArguments(piece.text);
      if (!piece.isLast) continue;
      parts.endCall();
      if (format.between === null) return;
    }
}

/**
 * Yields the tokens that the model writes after the given ones, each with the text that it completes. `isFree`: recent
 * tokens become less likely, because small models otherwise repeat a sentence until the limit. Text under a grammar has to
 * repeat quotation marks and brackets, so nothing is made less likely there.
 */
async function* tokensOf(
  run: Run,
  unread: readonly Token[],
  state: () => LlamaGrammarEvaluationState | undefined,
  isFree = false,
): AsyncGenerator<{ readonly token: Token; readonly text: string }, void> {
  const { loaded, request, signal } = run;
  // As llama.cpp's own server draws.
  const { temperature = 0.8 } = request;
  const written = new TokenText(loaded.model, run.prompt);
  const recent: Token[] = [];
  const drawn = loaded.sequence.evaluate(unread, {
    temperature,
    topK: 40,
    topP: 0.95,
    minP: 0.05,
    grammarEvaluationState: state,
    ...(isFree ? { repeatPenalty: { punishTokens: () => recent, penalty: bounds.repeatPenalty } } : {}),
  });
  for await (const token of drawn) {
    run.progress();
    signal.throwIfAborted();
    run.written++;
    recent.push(token);
    if (recent.length > bounds.repeatTokens) recent.shift();
    yield { token, text: written.add(token) };
    if (--run.left <= 0) return;
  }
  // The token that ends an answer is one that the model wrote.
  run.written++;
}

class NoGrammar extends Error {}

function stateOf({ loaded, request }: Run, grammar: string): LlamaGrammarEvaluationState {
  const { library, model } = loaded;
  const { LlamaGrammar, LlamaGrammarEvaluationState } = library.module;
  try {
    return new LlamaGrammarEvaluationState({
      model,
      grammar: new LlamaGrammar(library.llama, { grammar }),
    });
  } catch (error) {
    const what = request.schema === undefined ? "tools' schemas" : "schema";
    throw new NoGrammar(
      `llama.cpp cannot make a grammar of the ${what}: ${[messageOf(error), library.lastError()].join("; ")}. Simplify them.`,
      { cause: error },
    );
  }
}

function failed(failureClass: ModelFailure["class"], message: string): ModelEvent {
  return { type: "failed", failure: { class: failureClass, message } };
}
