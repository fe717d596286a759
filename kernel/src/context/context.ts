import { pictureText } from "../base/pictures.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { ModelMessage, ModelTool } from "../base/vocabulary/model.ts";
import { carriedText } from "./carried.ts";
import { asData, asRecords, dataNote, quoted, withinBytes } from "./data-text.ts";
import { sourcesOf } from "./entry-text.ts";
import { History } from "./history.ts";
import type { ContextPrefix, Summary } from "./prefix.ts";
import { withinRequest } from "./pictures.ts";
import { contextTokens, estimateTokens, jsonText, messageTokens, toolTokens } from "./tokens.ts";

/** A text of the suffix: the status, the time, what waits for the person, what an interceptor adds. */
export interface SuffixPart {
  readonly name: string;
  readonly text: string;
}

export interface ContextInput extends Omit<ContextParts, "history"> {
  /** Entries of one process after `prefix.after`, in order; a channel's with the ends of its children. */
  readonly entries: Iterable<Entry>;
  /** The process. */
  readonly process: string;
  /** The contents of files that were sent with messages, by `fileKey`. */
  readonly files?: ReadonlyMap<string, string>;
  /** Origins whose messages speak to the model themselves. By default: a person, a model, the kernel. */
  readonly speakers?: ReadonlySet<string>;
  /** The seq after which requests were made with this prefix. By default: `prefix.after`. */
  readonly prefixSeq?: number;
}

/** The parts of a request, with a history that has taken the entries. */
interface ContextParts {
  readonly prefix: ContextPrefix;
  /** Has taken the entries behind the prefix. */
  readonly history: History;
  /** The model that is asked. */
  readonly model: string;
  readonly suffix?: readonly SuffixPart[];
}

export const sectionNames = [
  "identity",
  "role",
  "tools",
  "blocks",
  "bulletin",
  "summaries",
  "history",
  "suffix",
] as const;

/** A part of the request, for people. */
interface ContextSection {
  readonly name: (typeof sectionNames)[number];
  /** An estimate. */
  readonly tokens: number;
  readonly text: string;
  /** The provider may cache up to its end, and the next request begins with the same bytes. */
  readonly cached?: true;
}

export interface Context {
  /** The beginning with which the request was made. */
  readonly prefix: ContextPrefix;
  readonly messages: readonly ModelMessage[];
  /** The number of messages at the beginning that are made of the prefix. */
  readonly begins: number;
  /** False if none of the messages can have a picture. */
  readonly hasPictures: boolean;
  readonly tools: readonly ModelTool[];
  sections(): readonly ContextSection[];
  /** The size of the request: as the provider counted the last one, and an estimate of what is new. */
  readonly tokens: number;
}

/** Origins that speak to the model themselves where nothing else is said. */
const defaultSpeakers: ReadonlySet<string> = new Set(["person", "model", "kernel"]);

/**
 * Returns the request that a process makes next; its pictures have no bytes yet. Between two compactions, requests begin
 * with the same bytes: entries only add messages behind those that were sent, and the suffix comes last.
 */
export function buildContext(input: ContextInput): Context {
  const { prefix, process, model, files = new Map() } = input;
  const history = new History({
    process,
    model,
    files,
    speakers: input.speakers ?? defaultSpeakers,
    countedFrom: input.prefixSeq ?? prefix.after,
  });
  for (const entry of input.entries) history.take(entry);
  return contextOf({ ...input, history });
}

/** Like `buildContext`, with a history that may have taken most of the entries for an earlier request. */
export function contextOf({ prefix, history, model, suffix = [] }: ContextParts): Context {
  const { messages: all, last, hasPictures } = history.messages();
  const said = hasPictures ? withinRequest(all) : all;
  const { texts, messages: before } = beginningOf(prefix);
  const suffixText = joined(
    suffix.map(({ name, text }) => asData(name === "" ? "note" : quoted(name), withinBytes(text))),
  );
  const after: ModelMessage[] = suffixText === "" ? [] : [{ role: "system", text: suffixText }];

  const tokensOf = (messages: readonly ModelMessage[]): number =>
    messages.reduce((sum, message) => sum + messageTokens(message, model), 0);
  const sections = (): ContextSection[] => [
    { name: "identity", tokens: estimateTokens(texts.identity), text: texts.identity, cached: true },
    { name: "role", tokens: estimateTokens(texts.role), text: texts.role, cached: true },
    {
      name: "tools",
      tokens: estimateTokens(texts.tools) + prefix.tools.reduce((sum, tool) => sum + toolTokens(tool), 0),
      text: joined([prefix.tools.map(jsonText).join("\n"), texts.tools]),
      cached: true,
    },
    { name: "blocks", tokens: estimateTokens(texts.blocks), text: texts.blocks, cached: true },
    { name: "bulletin", tokens: estimateTokens(texts.bulletin), text: texts.bulletin, cached: true },
    { name: "summaries", tokens: estimateTokens(texts.summaries), text: texts.summaries, cached: true },
    { name: "history", tokens: tokensOf(said), text: said.map(messageText).join("\n\n"), cached: true },
    { name: "suffix", tokens: tokensOf(after), text: suffixText },
  ];
  return {
    prefix,
    hasPictures,
    begins: before.length,
    messages: [...before, ...withCachePoint(said, after.length > 0), ...after],
    tools: prefix.tools,
    sections,
    tokens:
      last === null
        ? sections().reduce((sum, { tokens }) => sum + tokens, 0)
        : contextTokens(last.usage, last.added === 0 ? 0 : tokensOf(said.slice(-last.added))),
  };
}

interface Beginning {
  readonly texts: ReturnType<typeof prefixTexts>;
  readonly messages: readonly ModelMessage[];
}

/** By prefix: requests begin with the same messages as long as it stays. */
const beginnings = new WeakMap<ContextPrefix, Beginning>();

function beginningOf(prefix: ContextPrefix): Beginning {
  const known = beginnings.get(prefix);
  if (known !== undefined) return known;
  const texts = prefixTexts(prefix);
  const system = [texts.identity, texts.role, texts.tools, texts.blocks, texts.bulletin];
  const messages: ModelMessage[] = [{ role: "system", text: joined(system), cache: true }];
  if (texts.summaries !== "")
    messages.push({ role: "user", parts: [{ type: "text", text: texts.summaries }], cache: true });
  const beginning = { texts, messages };
  beginnings.set(prefix, beginning);
  return beginning;
}

function prefixTexts(prefix: ContextPrefix) {
  const { identity, role, skills, blocks, bulletin, remembered, carried, summaries } = prefix;
  return {
    identity: joined(identity.map(({ text }) => text)),
    role: joined([role, dataNote]),
    tools:
      skills.length === 0
        ? ""
        : `Skills, to be read with read_skill:\n${skills.map(({ name, description }) => `- ${quoted(name)}: ${quoted(description)}`).join("\n")}`,
    blocks: joined(
      blocks.map((block) =>
        asData(
          `the block ${quoted(block.name)}: ${quoted(block.description)}${sourcesOf(block)}`,
          block.text,
        ),
      ),
    ),
    bulletin: joined([
      bulletin === "" ? "" : asData("the bulletin", bulletin),
      remembered.length === 0
        ? ""
        : asRecords(
            "what was remembered lately",
            remembered.map(({ type, text }) => ({ label: type, text })),
          ),
    ]),
    summaries: joined([...summaries.map(summaryText), carriedText(carried)]),
  };
}

/** Returns a summary as the model reads it. */
export function summaryText(summary: Summary): string {
  const [from, to] = summary.covers;
  return asData(`summary of the entries ${from} to ${to}${sourcesOf(summary)}`, summary.text);
}

/**
 * Marks the end of the history. Where the suffix follows, providers that require alternation get it in one turn with
 * the user's messages before it, so the mark stands before these: it must never include the suffix.
 */
function withCachePoint(messages: readonly ModelMessage[], hasSuffix: boolean): readonly ModelMessage[] {
  const at = hasSuffix ? messages.findLastIndex(({ role }) => role !== "user") : messages.length - 1;
  const last = messages[at];
  return last === undefined ? messages : messages.with(at, { ...last, cache: true });
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** Returns a message as a person reads it in the section. */
function messageText(message: ModelMessage): string {
  if (message.role === "system") return message.text;
  const parts = message.parts.map((part) => {
    switch (part.type) {
      case "text":
        return part.text;
      case "reasoning":
        return `(reasoning) ${part.text}`;
      case "image":
        return pictureText(part.media_type, part.stored?.bytes ?? 0);
      case "tool_call":
        return `(call ${part.call}) ${part.tool} ${jsonText(part.arguments)}`;
      case "tool_result":
        return `(result of ${part.call}${part.is_error === true ? ", an error" : ""}) ${part.text}`;
    }
  });
  return `${message.role}:\n${parts.join("\n")}`;
}
