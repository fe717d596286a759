import { isJsonObject } from "../base/json.ts";
import { quotedNames } from "../context/data-text.ts";
import type { LoggedCall } from "./answer-writer.ts";
import { asError, type AtWork, callerOf, type ConversationHost, type OwnResult } from "./host.ts";
import type { RecalledMemory } from "./ports.ts";
import { quotationIn } from "./quotations.ts";
import { maxRecalled } from "./recall.ts";

/** Facts about a person come from that person's own words. */
const ofPersons: ReadonlySet<string> = new Set(["Identity", "Preference", "Decision"]);
const kindsOfMemory: ReadonlySet<string> = new Set([
  "Fact",
  "Observation",
  "Goal",
  "Event",
  "Todo",
  ...ofPersons,
]);
const maxTextCharacters = 4_000;
const maxAboutCharacters = 200;
/** The maximum number of memories that one replaces. */
const maxReplaced = 20;
const defaultRecalled = 10;

/** Remembers something beyond the conversation. Whatever a memory was made of stays with it. */
export async function saveMemory(
  conversation: ConversationHost,
  process: AtWork,
  call: LoggedCall,
): Promise<OwnResult> {
  const args = isJsonObject(call.arguments) ? call.arguments : {};
  const { type, text, importance, about, replaces = [] } = args;
  if (typeof type !== "string" || !kindsOfMemory.has(type))
    return { result: asError(`"type" must be one of ${[...kindsOfMemory].join(", ")}.`) };
  if (typeof text !== "string" || text.trim() === "" || text.length > maxTextCharacters)
    return { result: asError(`"text" must be a text of 1 to ${maxTextCharacters} characters.`) };
  if (importance !== undefined && !(typeof importance === "number" && importance >= 0 && importance <= 1))
    return { result: asError('"importance" must be a number from 0 to 1.') };
  const { sources = [], isTainted = false } = process.provenance("model");
  if (!isListOfIds(replaces))
    return { result: asError(`"replaces" must be a list of at most ${maxReplaced} ids of memories.`) };
  const caller = callerOf(conversation, process);
  const old = replaces.length === 0 ? [] : await conversation.ports.memory.get(caller, replaces);
  const why =
    replaces.length > 0 && process.record.kind !== "cortex"
      ? "Only the process that looks after the mind merges memories."
      : whyNotMerged(replaces, old, { type, sources, isTainted });
  if (why !== null) return { result: asError(why) };
  let remembered = text.trim();
  if (ofPersons.has(type)) {
    const refused = (why: string): OwnResult => ({
      result: asError(
        `A memory of the type ${type} repeats the person's own words, and ${why}. Quote one or more whole sentences of theirs, or save it as an Observation.`,
      ),
    });
    if (isTainted) return refused(`this was made from ${quotedNames(sources)}`);
    // If several memories say the same, one of them stays as the person wrote it.
    const said =
      old.find((each) => each.type === type && each.text === text.trim())?.text ?? quoted(text, process);
    if (said === null) return refused("the person did not write this as a whole sentence here");
    remembered = said;
  }
  const saved = await conversation.ports.memory.save(caller, {
    type,
    text: remembered,
    ...(importance === undefined ? {} : { importance }),
    ...(typeof about === "string" && about.trim() !== ""
      ? { about: about.slice(0, maxAboutCharacters) }
      : {}),
    conversation: conversation.log.id,
    call: call.call,
    sources,
    isTainted,
    ...(replaces.length === 0 ? {} : { replaces }),
  });
  return { result: saved };
}

function isListOfIds(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.length <= maxReplaced &&
    value.every((id) => typeof id === "string" && id !== "")
  );
}

/** Returns why memories cannot become one; null if they can. */
function whyNotMerged(
  replaces: readonly string[],
  old: readonly RecalledMemory[],
  merged: { readonly type: string; readonly sources: readonly string[]; readonly isTainted: boolean },
): string | null {
  const missing = replaces.find((id) => !old.some((each) => each.id === id));
  if (missing !== undefined)
    return `There is no memory "${missing}" to replace. memory_recall shows the ids.`;
  const other = old.find((each) => each.isTainted !== merged.isTainted);
  if (other !== undefined) {
    const sources = quotedNames(merged.isTainted ? merged.sources : other.sources);
    return merged.isTainted
      ? `The memory "${other.id}" cannot be replaced by one that comes from foreign sources: you have read text of ${sources}. Leave both as they are.`
      : `The memory "${other.id}" comes from foreign sources (${sources}), and the new one does not, so they are not merged. Leave both as they are.`;
  }
  const persons = old.find(({ type }) => ofPersons.has(type) && type !== merged.type);
  return persons === undefined
    ? null
    : `The memory "${persons.id}" is of the type ${persons.type}, the person's own words. It is replaced only by one of this type.`;
}

/** Searches what the mind remembers. What is found brings along where it came from. */
export async function recallMemory(
  conversation: ConversationHost,
  process: AtWork,
  call: LoggedCall,
): Promise<OwnResult> {
  const { query, limit = defaultRecalled } = isJsonObject(call.arguments) ? call.arguments : {};
  if (typeof query !== "string" || query.trim() === "")
    return { result: asError('memory_recall needs the argument "query", a text.') };
  const most =
    typeof limit === "number" ? Math.min(maxRecalled, Math.max(1, Math.floor(limit))) : defaultRecalled;
  const found = await conversation.ports.memory.recall(
    callerOf(conversation, process),
    query.slice(0, maxTextCharacters),
    most,
  );
  if (!Array.isArray(found)) return { result: found as OwnResult["result"] };
  const tainted = found.filter((memory) => memory.isTainted);
  return {
    result: {
      status: "success",
      value: found.map(({ id, type, text, about, created, isTainted, sources }) => ({
        id,
        type,
        text,
        ...(about === undefined ? {} : { about }),
        created,
        ...(isTainted ? { tainted: true, sources } : {}),
      })),
    },
    provenance: {
      origin: "workspace",
      isTainted: tainted.length > 0,
      sources: [...new Set(tainted.flatMap(({ sources }) => sources))],
    },
  };
}

function isJsonText(text: string): boolean {
  if (!/^\s*[[{]/u.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the whole sentences of the person that a text repeats; null if it is none of what the process has read of them. */
function quoted(text: string, { read }: AtWork): string | null {
  for (const entry of read) {
    if (entry.kind !== "message" || entry.role !== "user") continue;
    if (entry.origin !== "person" || entry.by !== undefined) continue;
    const said = entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    // The names and choices of arguments come from the extension, not from the person.
    if (isJsonText(said)) continue;
    const found = quotationIn(said, text);
    if (found !== null) return found;
  }
  return null;
}
