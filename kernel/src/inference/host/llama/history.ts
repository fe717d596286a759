import type { ChatFunctionCall, ChatHistoryItem, ChatModelFunctions } from "node-llama-cpp";
import type { ModelMessage, ModelRequest, ModelToolResult } from "../../../base/vocabulary/model.ts";

type ModelItem = Extract<ChatHistoryItem, { readonly type: "model" }>;

/** Returns the conversation as chat templates take it; the last item is the answer to write. */
export function chatHistory({ messages, model }: ModelRequest): readonly ChatHistoryItem[] {
  const results = new Map<string, ModelToolResult>();
  for (const message of messages)
    if (message.role === "tool") for (const part of message.parts) results.set(part.call, part);
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  const items: ChatHistoryItem[] = [];
  const answer = (): ModelItem => {
    const last = items.at(-1);
    if (last?.type === "model") return last;
    const item: ModelItem = { type: "model", response: [] };
    items.push(item);
    return item;
  };
  for (const [index, message] of messages.entries())
    switch (message.role) {
      case "system":
        items.push({ type: "system", text: message.text });
        break;
      case "user":
        items.push({
          type: "user",
          text: message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n"),
        });
        break;
      case "assistant":
        answer().response.push(...answerParts(message, results, index > lastUser ? model : null));
        break;
      case "tool":
        // Its results stand with their calls.
        break;
    }
  answer();
  return items;
}

/** `thinker`: the model whose thoughts are kept; null: nobody's, because the turn is over. */
function answerParts(
  { parts }: Extract<ModelMessage, { readonly role: "assistant" }>,
  results: ReadonlyMap<string, ModelToolResult>,
  thinker: string | null,
): ModelItem["response"] {
  let isFirstCall = true;
  return parts.flatMap((part): ModelItem["response"] => {
    switch (part.type) {
      case "text":
        return [part.text];
      case "reasoning":
        return part.text === "" || thinker === null || part.opaque?.model !== thinker
          ? []
          : [{ type: "segment", segmentType: "thought", text: part.text, ended: true }];
      case "tool_call": {
        const call: ChatFunctionCall = {
          type: "functionCall",
          name: part.tool,
          params: part.arguments,
          result: resultOf(results.get(part.call)),
          startsNewChunk: isFirstCall,
        };
        isFirstCall = false;
        return [call];
      }
    }
  });
}

function resultOf(result: ModelToolResult | undefined): unknown {
  if (result === undefined) return undefined;
  if (result.is_error === true) return `Error: ${result.text}`;
  if (!/^\s*[{[]/.test(result.text)) return result.text;
  try {
    return JSON.parse(result.text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return result.text;
  }
}

/** Returns the tools as a chat template describes them to its model. */
export function chatFunctions({ tools = [] }: ModelRequest): ChatModelFunctions {
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => [
      name,
      { description, params: documented(parameters, 0) },
    ]),
  );
}

const maxDocumentedDepth = 16;

/** Templates know `oneOf` and not `anyOf`, and show all properties as if they were required. */
function documented(schema: unknown, depth: number): unknown {
  if (typeof schema !== "object" || schema === null || depth > maxDocumentedDepth) return schema;
  if (Array.isArray(schema)) return schema.map((each) => documented(each, depth + 1));
  const { anyOf, ...rest } = schema as Readonly<Record<string, unknown>>;
  const { properties, required } = rest;
  const isRequired = new Set(Array.isArray(required) ? (required as readonly unknown[]) : []);
  return {
    ...rest,
    ...(Array.isArray(anyOf) ? { oneOf: documented(anyOf, depth) } : {}),
    ...("items" in rest ? { items: documented(rest["items"], depth + 1) } : {}),
    ...(typeof properties === "object" && properties !== null
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, each]) => {
              const inner = documented(each, depth + 1);
              return [name, isRequired.has(name) ? inner : optional(inner)];
            }),
          ),
        }
      : {}),
  };
}

function optional(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  const { description } = schema as { readonly description?: unknown };
  return {
    ...schema,
    description: typeof description === "string" ? `Optional. ${description}` : "Optional.",
  };
}
