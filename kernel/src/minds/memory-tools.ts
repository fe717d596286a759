import { isJsonObject } from "../base/json.ts";
import type { LoggedCall } from "./answer-writer.ts";
import { asError, type AtWork, type ConversationHost, type OwnResult } from "./host.ts";
import { quotationIn } from "./quotations.ts";

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
const defaultRecalled = 10;
const maxRecalled = 50;

/** Remembers something beyond the conversation. Whatever a memory was made of stays with it. */
export async function saveMemory(
  conversation: ConversationHost,
  process: AtWork,
  call: LoggedCall,
): Promise<OwnResult> {
  const args = isJsonObject(call.arguments) ? call.arguments : {};
  const { type, text, importance, about } = args;
  if (typeof type !== "string" || !kindsOfMemory.has(type))
    return { result: asError(`"type" must be one of ${[...kindsOfMemory].join(", ")}.`) };
  if (typeof text !== "string" || text.trim() === "" || text.length > maxTextCharacters)
    return { result: asError(`"text" must be a text of 1 to ${maxTextCharacters} characters.`) };
  if (importance !== undefined && !(typeof importance === "number" && importance >= 0 && importance <= 1))
    return { result: asError('"importance" must be a number from 0 to 1.') };
  const { sources = [], isTainted = false } = process.provenance("model");
  let remembered = text.trim();
  if (ofPersons.has(type)) {
    const refused = (why: string): OwnResult => ({
      result: asError(
        `A memory of the type ${type} repeats the person's own words, and ${why}. Quote one or more whole sentences of theirs, or save it as an Observation.`,
      ),
    });
    if (isTainted) return refused(`this was made from ${sources.join(", ")}`);
    const said = quoted(text, process);
    if (said === null) return refused("the person did not write this as a whole sentence here");
    remembered = said;
  }
  const saved = await conversation.ports.memory.save(conversation.principalOf(process.record), {
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
  });
  return { result: saved };
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
    conversation.principalOf(process.record),
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

/** Returns the whole sentences of the person that a text repeats; null if it is none of what the process has read of them. */
function quoted(text: string, { read }: AtWork): string | null {
  for (const entry of read) {
    if (entry.kind !== "message" || entry.role !== "user") continue;
    if (entry.origin !== "person" || entry.by !== undefined) continue;
    const said = entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
    const found = quotationIn(said, text);
    if (found !== null) return found;
  }
  return null;
}
