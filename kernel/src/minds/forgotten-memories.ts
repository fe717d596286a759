import { messageOf } from "../base/errors.ts";
import type { StillSaid } from "../base/vocabulary/still-said.ts";
import { bulletinBlock } from "../base/vocabulary/mind.ts";
import { allOf } from "../conversations/search-words.ts";
import { entryOf } from "./entries.ts";
import type { Minds } from "./minds.ts";
import { recalledBy } from "./recalled-memories.ts";
import { minRepeated } from "./redaction.ts";

/** Entries that have the words of a memory, which are compared with it. */
const maxFound = 1_000;
/** Words of a memory that are searched for; the whole text is compared afterwards. */
const maxWords = 12;
/** Runs that may have written the bulletin from the memory, the last ones. */
const maxRuns = 100;

interface Forgotten {
  readonly id: string;
  readonly text: string;
}

/**
 * A person had a memory of a mind forgotten or corrected: a bulletin that was written from it is emptied, so that no later
 * conversation begins with it. Returns where else the text stands, word by word.
 */
export async function memoryForgotten(minds: Minds, agent: string, memory: Forgotten): Promise<StillSaid> {
  const { conversations, ports } = minds;
  const mind = ports.mindOf(agent);
  if (mind === null) return {};
  const ofMind = await ports.blocks.ofMind(agent);
  const bulletin = ofMind.get(bulletinBlock) ?? "";
  const isEmptied = bulletin !== "" && (await isFrom(minds, agent, bulletin, memory));
  if (isEmptied) {
    const maker = { process: agent, turn: "", clock: ports.clock };
    await ports.blocks.edit(
      agent,
      entryOf(maker, { kind: "block", name: bulletinBlock, text: "" }, { origin: "person" }),
      null,
    );
    using opened = await conversations.openMind(agent);
    await opened.log.sync();
  }
  const texts = new Map(ofMind);
  for (const block of mind.definition.blocks) {
    const shared = await ports.blocks.shared(agent, block);
    if (shared !== null && "text" in shared) texts.set(block.name, shared.text);
  }
  const blocks = [...texts].flatMap(([name, text]) =>
    name !== bulletinBlock && says(text, memory.text) ? [name] : [],
  );
  return {
    ...(isEmptied ? { bulletin: true as const } : {}),
    ...(blocks.length === 0 ? {} : { blocks }),
    ...(await inConversations(minds, agent, memory.text)),
  };
}

/** True for a text that repeats another one word by word. A very short one may occur anywhere by chance. */
function says(text: string, said: string): boolean {
  return said.length >= minRepeated && text.includes(said);
}

/** True if the bulletin repeats the memory, or a process that wrote one had recalled or saved it. */
async function isFrom(
  { conversations }: Minds,
  agent: string,
  bulletin: string,
  { id, text }: Forgotten,
): Promise<boolean> {
  if (says(bulletin, text)) return true;
  const row = await conversations.find(agent);
  if (row === null) return false;
  const runs = row.state.processes.filter(({ kind }) => kind === "cortex").slice(-maxRuns);
  for (const run of runs) {
    const found = await recalledBy(conversations, agent, run.id, row.state.seq);
    if (found.some((each) => each.id === id)) return true;
  }
  return false;
}

async function inConversations(
  { conversations, ports }: Minds,
  agent: string,
  text: string,
): Promise<Pick<StillSaid, "conversations">> {
  const words = text.split(/\s+/u).slice(0, maxWords).join(" ");
  if (text.length < minRepeated || words.trim() === "") return {};
  const all = await conversations.redactions.conversationsOf([agent]);
  const inJson = JSON.stringify(text).slice(1, -1);
  try {
    const found = await conversations.search([...all], allOf(words), maxFound);
    const ids = new Set(
      found.flatMap(({ entry }) => (JSON.stringify(entry).includes(inJson) ? [entry.conversation] : [])),
    );
    const rows = await Promise.all([...ids].map((id) => conversations.find(id)));
    const said = rows.flatMap((row) => (row === null ? [] : [{ id: row.id, title: row.state.title }]));
    return said.length === 0 ? {} : { conversations: said };
  } catch (error) {
    // It is forgotten already, and only the search failed.
    ports.log.warn(`Conversations could not be searched for what was forgotten: ${messageOf(error)}`, {
      agent,
    });
    return {};
  }
}
