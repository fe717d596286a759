import { DatabaseSync } from "node:sqlite";
import { createHashEmbedder } from "../../../kernel/src/memory/store/embedding/hash.ts";
import { type Conversation, readConversations } from "../conversations.ts";
import type { Figure } from "../figure.ts";
import type { Row } from "../report.ts";

const found = 10;
/** Of each list that is fused. */
const listLength = 100;
/** Best ones whose neighbours are looked at. */
const seeds = 10;

/** Places of turns, best first. */
type Ranking = readonly number[];
type Search = (question: string) => Ranking | Promise<Ranking>;

/** Reciprocal rank fusion: Σ 1/(60 + rank). */
function fused(lists: readonly Ranking[]): Ranking {
  const scores = new Map<number, number>();
  for (const list of lists) {
    for (const [index, turn] of list.entries()) {
      scores.set(turn, (scores.get(turn) ?? 0) + 1 / (60 + index + 1));
    }
  }
  return [...scores].toSorted((a, b) => b[1] - a[1] || a[0] - b[0]).map(([turn]) => turn);
}

function fullText({ turns }: Conversation, tokenizer: string): Search {
  const database = new DatabaseSync(":memory:");
  database.exec(`CREATE VIRTUAL TABLE turns USING fts5(text, tokenize = '${tokenizer}')`);
  const insert = database.prepare("INSERT INTO turns(rowid, text) VALUES (?, ?)");
  for (const [index, { text }] of turns.entries()) insert.run(index, text);
  const select = database.prepare(
    "SELECT rowid FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid LIMIT ?",
  );
  return (question) => {
    const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
    const rows = select.all(words.map((word) => `"${word}"`).join(" OR "), listLength);
    return rows.map(({ rowid }) => Number(rowid));
  };
}

async function similar({ turns }: Conversation, dimensions: number): Promise<Search> {
  const embedder = createHashEmbedder({ dimensions });
  for (const { text } of turns) embedder.statistics?.add(text);
  const vectors = await embedder.embed(
    turns.map(({ text }) => text),
    "item",
  );
  return async (question) => {
    const [query] = await embedder.embed([question], "query");
    const near = vectors.map((vector, turn) => ({ turn, similarity: dot(vector, query) }));
    return near
      .toSorted((a, b) => b.similarity - a.similarity || a.turn - b.turn)
      .slice(0, listLength)
      .map(({ turn }) => turn);
  };
}

function dot(one: Float32Array, other: Float32Array | undefined): number {
  let sum = 0;
  for (let index = 0; index < one.length; index += 1) sum += (one[index] ?? 0) * (other?.[index] ?? 0);
  return sum;
}

/** Each of the best, followed by the turns after and before it: what a memory knows where they are related. */
function nearest({ turns }: Conversation, best: Ranking): Ranking {
  const near = best
    .slice(0, seeds)
    .flatMap((turn) => [
      turn,
      ...[turn + 1, turn - 1].filter((other) => turns[other]?.session === turns[turn]?.session),
    ]);
  return [...new Set(near)];
}

/** By the names in the table. Each question is asked once of each list, however often that is fused. */
async function searchesOf(conversation: Conversation): Promise<Record<string, Search>> {
  const text = remembered(fullText(conversation, "unicode61"));
  const stemmed = remembered(fullText(conversation, "porter unicode61"));
  const vectors: Record<string, Search> = {};
  for (const dimensions of [384, 1024]) {
    vectors[dimensions] = remembered(await similar(conversation, dimensions));
  }
  const hybrid =
    (one: Search, other: Search | undefined, isGraph = false): Search =>
    async (question) => {
      const lists = [await one(question), (await other?.(question)) ?? []];
      return fused(isGraph ? [...lists, nearest(conversation, fused(lists))] : lists);
    };
  return {
    "plain BM25": text,
    "BM25 of stems": stemmed,
    ...Object.fromEntries(
      Object.entries(vectors).flatMap(([dimensions, search]) => [
        [`vectors ${dimensions}`, search],
        [`hybrid ${dimensions}`, hybrid(text, search)],
        [`hybrid with neighbours ${dimensions}`, hybrid(text, search, true)],
      ]),
    ),
    "hybrid 384, stems": hybrid(stemmed, vectors[384]),
    "hybrid with neighbours 384, stems": hybrid(stemmed, vectors[384], true),
  };
}

function remembered(search: Search): Search {
  const answers = new Map<string, Ranking | Promise<Ranking>>();
  return (question) => {
    const answer = answers.get(question) ?? search(question);
    answers.set(question, answer);
    return answer;
  };
}

/** All conversations in one memory: more that is like what is looked for, and is not it. */
function together(conversations: readonly Conversation[]): Conversation {
  const turns: Conversation["turns"][number][] = [];
  const questions: Conversation["questions"][number][] = [];
  for (const [index, conversation] of conversations.entries()) {
    const first = turns.length;
    const moved = (evidence: ReadonlySet<number>): Set<number> =>
      new Set([...evidence].map((turn) => first + turn));
    questions.push(
      ...conversation.questions.map(({ text, evidence }) => ({ text, evidence: moved(evidence) })),
    );
    turns.push(
      ...conversation.turns.map(({ session, text }) => ({ session: index * 1_000 + session, text })),
    );
  }
  return { name: "all", turns, questions };
}

/** For each way of searching, of each question: the share of its evidence among the first ten. */
async function recalls(conversations: readonly Conversation[]): Promise<Map<string, number[]>> {
  const all = new Map<string, number[]>();
  for (const conversation of conversations) {
    for (const [name, search] of Object.entries(await searchesOf(conversation))) {
      const shares = all.get(name) ?? [];
      all.set(name, shares);
      for (const { text, evidence } of conversation.questions) {
        const best = (await search(text)).slice(0, found);
        shares.push(best.filter((turn) => evidence.has(turn)).length / evidence.size);
      }
    }
  }
  return all;
}

const percent = (shares: readonly number[]): number =>
  (100 * shares.reduce((sum, share) => sum + share, 0)) / shares.length;

function rowsOf(measured: ReadonlyMap<string, readonly number[]>, where: string, isHeldOut = true): Row[] {
  const plain = percent(measured.get("plain BM25") ?? []);
  return [...measured].map(([what, shares]) => ({
    what: `${what}${where}`,
    value: percent(shares),
    unit: "%",
    samples: shares.length,
    ...(isHeldOut && what.startsWith("hybrid")
      ? { target: { atLeast: Math.round((plain + 3) * 10) / 10 } }
      : {}),
    ...(what === "plain BM25" ? {} : { floor: { what: "plain BM25", value: plain } }),
  }));
}

export const retrieval: Figure = {
  name: "retrieval",
  title: "recall@10 of the turns that answer a question about a long conversation",
  async run({ isShort, say }) {
    const conversations = readConversations(say);
    if (conversations === null) return [];
    // Weights were chosen on every other conversation; the figures are those of the rest.
    const [chosenOn, heldOut] = [0, 1].map((rest) => conversations.filter((_, index) => index % 2 === rest));
    if (isShort) return rowsOf(await recalls(heldOut?.slice(0, 1) ?? []), "");
    return [
      ...rowsOf(await recalls(heldOut ?? []), ""),
      ...rowsOf(await recalls([together(heldOut ?? [])]), " (five as one)"),
      ...rowsOf(await recalls(chosenOn ?? []), " (chosen on)", false),
    ];
  },
};
