import { canonicalJson, isJsonObject, wellFormed } from "../base/json.ts";
import type { ModelTool } from "../base/vocabulary/model.ts";
import type { SaidBy } from "./exact-strings.ts";
import { nothingCarried, type Carried } from "./carried.ts";

/** A text that stands for earlier entries. */
export interface Summary {
  readonly text: string;
  /** The first and the last seq that it stands for. */
  readonly covers: readonly [number, number];
  readonly sources?: readonly string[];
  readonly tainted?: true;
  /** The number of entries that were left out without a model; the text only says so. */
  readonly leftOut?: number;
}

/** A block of a mind as a context begins with it. */
export interface PrefixBlock {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  /** What another mind's text in a shared block, or an edit in this conversation, was made from. */
  readonly sources?: readonly string[];
  /** The text that all conversations share, if this one has another. */
  readonly known?: string;
}

/** Something that the mind remembered after its bulletin was written. */
export interface PrefixMemory {
  readonly id: string;
  readonly type: string;
  readonly text: string;
}

/**
 * The sections before the history. They are made at a conversation's start and at each compaction, and stored,
 * so that these sections stay the same in between, byte by byte.
 */
export interface ContextPrefix {
  readonly version: 1;
  readonly identity: readonly { readonly name: string; readonly text: string }[];
  readonly role: string;
  readonly tools: readonly ModelTool[];
  readonly skills: readonly { readonly name: string; readonly description: string }[];
  readonly blocks: readonly PrefixBlock[];
  readonly bulletin: string;
  /** The newest first. */
  readonly remembered: readonly PrefixMemory[];
  /** Contiguous, oldest first. */
  readonly summaries: readonly Summary[];
  readonly carried: Carried;
  /** The last seq that the summaries cover. The history begins behind it. */
  readonly after: number;
}

type PrefixParts = Omit<ContextPrefix, "version">;

/** Returns the prefix of a process; parts that are not given are empty. */
export function prefixOf(parts: Partial<PrefixParts>): ContextPrefix {
  const { identity = [], role = "", tools = [], skills = [], blocks = [], bulletin = "" } = parts;
  const { remembered = [], summaries = [], carried = nothingCarried, after = 0 } = parts;
  return {
    version: 1,
    identity: identity.map(({ name, text }) => ({ name, text })),
    role,
    tools: tools.map(shared),
    skills: skills.map(({ name, description }) => ({ name, description })),
    blocks: blocks.map(({ name, description, text, sources, known }) => ({
      name,
      description,
      text,
      ...(sources === undefined ? {} : { sources }),
      ...(known === undefined ? {} : { known }),
    })),
    bulletin,
    remembered: remembered.map(({ id, type, text }) => ({ id, type, text })),
    summaries,
    carried,
    after,
  };
}

/** By the schema of their arguments. */
const sharedTools = new WeakMap<object, ModelTool>();

/** Returns one object for a tool in all prefixes, so that its digest and its size are computed once. */
function shared({ name, description, parameters }: ModelTool): ModelTool {
  const known = sharedTools.get(parameters);
  if (known?.name === name && known.description === description) return known;
  // The next kernel reads it in the order in which it was stored, and would send other bytes than this one.
  const stored = JSON.parse(canonicalJson(wellFormed(parameters))) as ModelTool["parameters"];
  const tool = { name, description, parameters: stored };
  for (const each of [parameters, stored]) sharedTools.set(each, tool);
  return tool;
}

interface Compacted extends Partial<Omit<PrefixParts, "summaries" | "carried" | "after">> {
  readonly summary: Summary;
  readonly carried: Carried;
}

/** Returns whether a summary begins where it replaces whole older ones, or follows them, and covers more than these. */
export function followsPrefix({ summaries, after }: ContextPrefix, [from, to]: Summary["covers"]): boolean {
  return to > after && (from === after + 1 || summaries.some(({ covers }) => covers[0] === from));
}

/**
 * Returns the prefix after a compaction: the summary replaces those that it covers, and parts that are given replace
 * the old ones. Throws RangeError if the summary leaves a gap, or covers a part of an older one.
 */
export function nextPrefix(prefix: ContextPrefix, { summary, carried, ...parts }: Compacted): ContextPrefix {
  const { covers } = summary;
  if (!followsPrefix(prefix, covers))
    throw new RangeError(
      `The summary covers ${covers.join(" to ")}, which does not follow what the context has up to ${prefix.after}.`,
    );
  const kept = prefix.summaries.filter((each) => each.covers[1] < covers[0]);
  return prefixOf({ ...prefix, ...parts, summaries: [...kept, summary], carried, after: covers[1] });
}

/** The size of a stored prefix, in code units of its texts. */
const maxPrefixCharacters = 8 * 1024 * 1024;
/** The number of items in each of its lists. */
const maxItems = 10_000;

/** Returns a stored prefix; null for anything else, and for one that no kernel would have made. */
export function readPrefix(value: unknown): ContextPrefix | null {
  if (!isJsonObject(value) || value["version"] !== 1 || sizeOf(value) > maxPrefixCharacters) return null;
  const { identity, role, tools, skills, blocks, bulletin, summaries, carried, after } = value;
  // Earlier versions stored none.
  const { remembered = [] } = value;
  if (
    !isText(role) ||
    !isText(bulletin) ||
    !isSeq(after) ||
    !isListOf(identity, { name: isText, text: isText }) ||
    !isListOf(tools, { name: isText, description: isText, parameters: isJsonObject }) ||
    !isListOf(skills, { name: isText, description: isText }) ||
    !isListOf(blocks, {
      name: isText,
      description: isText,
      text: isText,
      sources: optional(isTexts),
      known: optional(isText),
    }) ||
    !isListOf(remembered, { id: isText, type: isText, text: isText }) ||
    !isListOf(summaries, {
      text: isText,
      covers: isCovers,
      sources: optional(isTexts),
      tainted: optional((one) => one === true),
      leftOut: optional(isSeq),
    }) ||
    !isJsonObject(carried) ||
    !isListOf(carried["pins"], { entry: isText, text: isText, person: optional((one) => one === true) }) ||
    !isListOf(carried["tasks"], { id: isText, text: isText }) ||
    !isListOf(carried["approvals"], { id: isText, title: isText }) ||
    !isListOf(carried["strings"], { text: isText, by: (one) => saidBy.has(one) }) ||
    !isSeq(carried["leftOut"])
  )
    return null;
  const prefix = prefixOf(value);
  return areContiguous(prefix) ? prefix : null;
}

/** True if the summaries follow each other without a gap up to `after`. */
function areContiguous({ summaries, after }: ContextPrefix): boolean {
  return summaries.every(
    ({ covers: [from, to] }, index) =>
      from <= to && to + 1 === (summaries[index + 1]?.covers[0] ?? after + 1),
  );
}

type Check = (value: unknown) => boolean;
const saidBy: ReadonlySet<unknown> = new Set<SaidBy>(["person", "error", "model", "other"]);
const isText = (value: unknown): value is string => typeof value === "string";
const isSeq = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isTexts: Check = (value) => Array.isArray(value) && value.length <= maxItems && value.every(isText);
const isCovers: Check = (value) => Array.isArray(value) && value.length === 2 && value.every(isSeq);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

function isListOf(value: unknown, fields: Readonly<Record<string, Check>>): boolean {
  const isItem = (item: unknown): boolean =>
    isJsonObject(item) && Object.entries(fields).every(([name, check]) => check(item[name]));
  return Array.isArray(value) && value.length <= maxItems && value.every(isItem);
}

const sizeOf = (value: unknown): number => JSON.stringify(value).length;
