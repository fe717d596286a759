import type { ChatWrapperSettings, LlamaText } from "node-llama-cpp";
import type { ModelTool } from "../../../base/vocabulary/model.ts";
import { llamaBounds as bounds } from "./bounds.ts";
import { literal, oneOf } from "./grammar-text.ts";
import { SchemaGrammar } from "./schema-grammar.ts";

type Text = string | LlamaText;

/** How a model writes calls of tools and thoughts; its chat template decides it. */
export interface CallFormat {
  /** What begins the first call, as texts to be turned into tokens. */
  readonly opening: readonly Text[];
  /** The beginning of `opening` by which a call is recognised. */
  readonly mark: string;
  readonly beforeArguments: string;
  readonly afterArguments: string;
  /** What stands between one call and the name in the next one; null: an answer has one call. */
  readonly between: string | null;
  /** The marks around thoughts; "" where the model has none. */
  readonly thought: { readonly begin: string; readonly end: string };
}

export function callFormatOf({ functions, segments }: ChatWrapperSettings): CallFormat {
  const { call, parallelism } = functions;
  const { sectionPrefix = "", betweenCalls = "" } = parallelism?.call ?? {};
  const { prefix = "", suffix = "" } = segments?.thought ?? {};
  return {
    opening: [sectionPrefix, call.prefix],
    mark: markOf(plainText(sectionPrefix) + plainText(call.prefix)),
    beforeArguments: plainText(call.paramsPrefix),
    afterArguments: plainText(call.suffix),
    between: parallelism === undefined ? null : plainText(betweenCalls) + plainText(call.prefix),
    thought: { begin: plainText(prefix).trim(), end: plainText(suffix).trim() },
  };
}

/** A mark of the template's own is enough: models differ in the spaces that they write after it. */
function markOf(opening: string): string {
  const text = opening.trim();
  return /^(?:<[^<>\s]+>|\[[A-Z_]+\])/.exec(text)?.[0] ?? text.split("\n")[0] ?? "";
}

/** Returns the grammar of calls from the first one's name on. */
export function callGrammar(
  tools: readonly ModelTool[],
  { beforeArguments, afterArguments, between }: CallFormat,
): string {
  const grammar = new SchemaGrammar();
  const calls = tools.map(({ name, parameters }) => {
    const value = grammar.valueOf({ ...parameters, type: "object" });
    return `${literal(`${name}${beforeArguments}`)} ${value}`;
  });
  const call = grammar.rule(`${oneOf(calls)} ${literal(afterArguments)}`);
  return grammar.text(
    between === null ? call : `${call} (${literal(between)} ${call}){0,${bounds.maxCalls - 1}}`,
  );
}

/** Returns a text without the tokens that are not text, such as the end of a message. */
export function plainText(text: Text): string {
  if (typeof text === "string") return text;
  const json = text.toJSON();
  const pieces: readonly unknown[] = Array.isArray(json) ? json : [json];
  return pieces
    .map((piece) => {
      if (typeof piece === "string") return piece;
      const { type, value } = piece as { readonly type?: unknown; readonly value?: unknown };
      return type === "specialTokensText" && typeof value === "string" ? value : "";
    })
    .join("");
}
