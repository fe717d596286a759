import type { Conversation } from "../../base/vocabulary/conversation.ts";
import type { StillSaid } from "../../base/vocabulary/still-said.ts";
import { messageOf } from "../../base/errors.ts";
import { UsageError } from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { oneLine } from "../render/foreign.ts";
import { remains } from "../render/still-said.ts";
import { counted } from "../render/quantities.ts";
import { knownBehind, knownBlock, knownMemory, type Known, textNow, whyFixed } from "./state/memories.ts";
import { itemsOf } from "./state/items.ts";
import { type Transcript } from "./state/transcript.ts";

type Place = Pick<Conversation, "id" | "agent">;
type Listed = { readonly title: string; readonly items: readonly Known[] };

/** As many as a person looks through. */
const maxListed = 100;
/** Characters of a text in a sentence. */
const maxQuoted = 60;

/** Returns the id of an answer's entry: of the last one, or of the one before it for 2. UsageError if there is none. */
export function answerNamed(transcript: Transcript, which: string): string {
  const answers = itemsOf(transcript).filter(
    (item) => item.kind === "message" && item.message.role === "assistant" && item.message.whole !== null,
  );
  if (which !== "" && !/^[1-9]\d{0,3}$/.test(which))
    throw new UsageError("Write /why for the last answer, /why 2 for the one before it, and so on.");
  const found = answers.at(-Number(which === "" ? 1 : which));
  if (found !== undefined) return found.key;
  throw new UsageError(
    answers.length === 0
      ? "Nothing was answered here yet."
      : `There ${answers.length === 1 ? "is 1 answer" : `are ${answers.length} answers`} here.`,
  );
}

/** Returns what an answer rests on beside the conversation itself. */
export async function whyAnswered(
  kernel: KernelClient,
  { id, agent }: Place,
  entry?: string,
): Promise<Listed> {
  const [why, { items: blocks }] = await Promise.all([
    kernel.whyAnswered({ id, ...(entry === undefined ? {} : { entry }) }),
    kernel.blocks({ agent, id }),
  ]);
  const items = knownBehind(why, (name) => blocks.find((block) => block.name === name)?.scope ?? "mind");
  const earlier = why.summaries === 0 ? "" : "; it also had summaries of earlier turns of this conversation";
  return {
    title:
      items.length === 0
        ? `The answer rests on this conversation alone: no memory, block or bulletin was in its context${earlier}.`
        : `Why this answer: what the model had before it, beside the conversation${earlier}`,
    items,
  };
}

/** Returns what a mind remembers; with words, what fits them, the best first. */
export async function memoriesLike(kernel: KernelClient, { agent }: Place, words: string): Promise<Listed> {
  const answer = await kernel.askMemory(
    { agent },
    words === ""
      ? { method: "lares/memory/query", params: { kind: "associative", top_k: maxListed } }
      : { method: "lares/memory/query", params: { kind: "search", text: words, limit: maxListed } },
  );
  const found: readonly unknown[] = "items" in answer ? answer.items : [];
  const items = found.flatMap((item) => {
    const known = knownMemory(item);
    return known === null ? [] : [known];
  });
  const fits = words === "" ? "" : ` for "${oneLine(words)}"`;
  return {
    title:
      items.length === 0
        ? words === ""
          ? "The mind remembers nothing yet."
          : `The mind remembers nothing${fits}.`
        : `What the mind remembers${fits}: ${counted(items.length, "memory", "memories")}`,
    items,
  };
}

export async function blocksOf(kernel: KernelClient, { id, agent }: Place): Promise<Listed> {
  const { items } = await kernel.blocks({ agent, id });
  return {
    title: items.length === 0 ? "The mind has no blocks." : "Blocks: what the mind always has before it",
    items: items.map(knownBlock),
  };
}

/** Replaces what a memory or block says by the person's text. Returns a sentence about it. */
export async function correctKnown(
  kernel: KernelClient,
  { id, agent }: Place,
  item: Known,
  text: string,
): Promise<string> {
  const fixed = whyFixed(item);
  if (fixed !== null || item.kind === "bulletin") throw new UsageError(fixed ?? "");
  if (item.kind === "block") {
    await kernel.editBlock({ agent, name: item.name, text, ...placeOf(item, id) });
    return `The block ${oneLine(item.name)} says from now on: ${quoted(text)}`;
  }
  const done = await kernel.correctMemory(agent, item.id ?? "", text);
  return `Corrected: ${quoted(text)} The old text is forgotten.${inChat(done)}`;
}

/**
 * Removes something for good; `everywhere`: from the conversations that have it word by word, too. Returns a sentence about
 * it.
 */
export async function forgetKnown(
  kernel: KernelClient,
  { id, agent }: Place,
  item: Known,
  everywhere: boolean,
): Promise<string> {
  const fixed = whyFixed(item);
  if (fixed !== null || item.kind === "bulletin") throw new UsageError(fixed ?? "");
  if (item.kind === "block") {
    await kernel.editBlock({ agent, name: item.name, text: "", forget: true, ...placeOf(item, id) });
    return `The block ${oneLine(item.name)} is empty, and what it said is forgotten.`;
  }
  const text = textNow(item);
  const done = await kernel.forgetMemory(agent, item.id ?? "");
  const { conversations = [], ...rest } = done;
  const forgotten = `Forgotten: ${quoted(text)}`;
  if (!everywhere || conversations.length === 0) return `${forgotten}${inChat(done)}`;
  let removed = 0;
  for (const each of conversations)
    try {
      removed += (await kernel.redactConversation({ id: each.id, text })).entries.length;
    } catch (error) {
      return `${forgotten} But in "${oneLine(each.title)}" it still stands: ${messageOf(error)}`;
    }
  return `${forgotten} Removed from ${counted(removed, "entry", "entries")} of ${counted(conversations.length, "conversation")}, too.${inChat(rest)}`;
}

function placeOf({ scope }: Known & { kind: "block" }, id: string): { readonly id?: string } {
  return scope === "conversation" ? { id } : {};
}

const inChat = (said: StillSaid): string =>
  remains(said, { blocks: "see /blocks", redact: "/redact removes it there" })
    .map((sentence) => ` ${sentence}`)
    .join("");

const quoted = (text: string): string => {
  const line = oneLine(text);
  return `"${line.length > maxQuoted ? `${line.slice(0, maxQuoted)}…` : line}"`;
};
