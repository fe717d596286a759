import { isLaresError } from "../base/errors.ts";
import type { ConversationSearch, SearchPage } from "../base/vocabulary/conversation-requests.ts";
import { textOf } from "../context/entry-text.ts";
import type { FoundEntry } from "../conversations/message-search.ts";
import type { Minds } from "./minds.ts";

type Found = SearchPage["items"][number];
type Hit = Omit<Found, "score">;

const defaultLimit = 100;
/** Conversations that are searched, the latest ones. */
export const maxSearched = 1_000;
/** Conversations whose own blocks are looked through, the latest ones. */
const maxBlockOwners = 50;
const foundCharacters = 500;
/** How much the first places of the lists outweigh the later ones; see "reciprocal rank fusion". */
const rankOffset = 60;

/** Searches what was said in a mind's conversations, what it knows, and its blocks; the best first. */
export async function searchMind(
  { conversations, ports }: Pick<Minds, "conversations" | "ports">,
  {
    agent,
    query,
    mode = "auto",
    in: places = ["messages", "memories", "blocks"],
    limit = defaultLimit,
  }: ConversationSearch,
): Promise<Found[]> {
  const rows =
    places.includes("messages") || places.includes("blocks")
      ? await conversations.list({ agent, limit: maxSearched })
      : [];
  const entries = places.includes("messages") ? await saidIn(rows.map(({ id }) => id)) : [];
  const messages = entries.map(({ entry }): Hit => ({ entry, text: textOf(entry) }));
  const lists: (readonly Hit[])[] = [
    places.includes("messages") ? messages : [],
    places.includes("memories") ? await ports.memory.find(agent, query, mode, limit) : [],
    places.includes("blocks") ? await blocks(rows.slice(0, maxBlockOwners).map(({ id }) => id)) : [],
  ];
  // The lists' own scores mean different things, and only ranks can be compared.
  return lists
    .flatMap((list) =>
      list.map(({ text, ...hit }, rank) => ({ ...hit, score: 1 / (rankOffset + rank), text })),
    )
    .toSorted((one, other) => other.score - one.score)
    .slice(0, limit)
    .map((hit) => ({ ...hit, text: hit.text.slice(0, foundCharacters).toWellFormed() }));

  async function saidIn(ids: readonly string[]): Promise<readonly FoundEntry[]> {
    try {
      return await conversations.answering(ids, { agent, text: query, mode, limit });
    } catch (error) {
      // A memory may have an embedder that messages are not sent to.
      if (places.length > 1 && isLaresError(error, "VectorSearchNotConfigured")) return [];
      throw error;
    }
  }

  /** The present texts of the mind's blocks and of these conversations', those with the most of the words first. */
  async function blocks(conversationIds: readonly string[]): Promise<Hit[]> {
    const ofMind = await ports.blocks.ofMind(agent);
    const found = [...ofMind].map(([name, text]): Hit => ({ block: { name }, text }));
    for (const conversation of conversationIds) {
      const edits = await conversations.entries(conversation, {
        kinds: ["block"],
        limit: maxSearched,
        newest: true,
      });
      const present = new Map(
        edits.flatMap((each) => (each.kind === "block" ? [[each.name, each.text]] : [])),
      );
      for (const [name, text] of present)
        if (text !== ofMind.get(name)) found.push({ block: { name, conversation }, text });
    }
    const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const fits = ({ text }: Hit): number => words.filter((word) => text.toLowerCase().includes(word)).length;
    return found.filter((hit) => fits(hit) > 0).toSorted((one, other) => fits(other) - fits(one));
  }
}
