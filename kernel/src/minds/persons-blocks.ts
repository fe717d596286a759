import { invalidParams, LaresError, limitExceeded, notFound } from "../base/errors.ts";
import type { Block, EditBlock } from "../base/vocabulary/conversation-requests.ts";
import type { MindBlock } from "../base/vocabulary/mind.ts";
import { sharedLogOf } from "../conversations/log-names.ts";
import { everyEntry, newestBlocks } from "../conversations/whole-logs.ts";
import { entryOf } from "./entries.ts";
import type { Minds } from "./minds.ts";
import { checkIdle, forget, removeFrom } from "./redacting.ts";
import { sourcesFor } from "./shared-blocks.ts";
import { readersOf } from "./shared-readers.ts";
import { minRepeated } from "./redaction.ts";

type Place = Pick<EditBlock, "agent" | "id">;

/** Returns a mind's blocks as a person sees them: those of all its conversations, and of one, if that is named. */
export async function listBlocks(minds: Minds, { agent, id }: Place): Promise<Block[]> {
  const { conversations, ports } = minds;
  const mind = ports.mindOf(agent);
  if (mind === null) throw notFound("mind of the agent", agent);
  if (id !== undefined) await checkConversation(minds, agent, id);
  const ofMind = await ports.blocks.ofMind(agent);
  const edits = id === undefined ? [] : await newestBlocks(conversations, id);
  const textIn = (name: string): string => edits.find((edit) => edit.name === name)?.text ?? "";
  return await Promise.all(
    mind.definition.blocks
      .filter((block) => isOfMind(block) || id !== undefined)
      .map(async (block) => {
        const shared = await ports.blocks.shared(agent, block);
        if (shared === null)
          return blockOf(block, isOfMind(block) ? (ofMind.get(block.name) ?? "") : textIn(block.name));
        if ("refusal" in shared) return { ...blockOf(block, ""), absent: shared.refusal };
        const sources = sourcesFor(agent, shared);
        return {
          ...blockOf(block, shared.text),
          ...(sources.length === 0 ? {} : { sources: [...sources] }),
        };
      }),
  );
}

const isOfMind = ({ scope, namespace }: MindBlock): boolean => scope === "mind" || namespace !== undefined;

/**
 * Writes a block as a person wants it: for all conversations of the mind, which are told before their next request, or for
 * the one that has it. Resolves when it is on the disk, and, with `forget`, when what it said before is in no file.
 */
export async function editBlock(minds: Minds, edit: EditBlock): Promise<Block> {
  const { conversations, ports } = minds;
  const { agent, id, name, text, forget = false } = edit;
  const mind = ports.mindOf(agent);
  if (mind === null) throw notFound("mind of the agent", agent);
  const block = mind.definition.blocks.find((each) => each.name === name);
  if (block === undefined) throw notFound("block", name);
  if (text.length > block.limitCharacters)
    throw limitExceeded(
      "block_characters",
      text.length,
      `The block would have ${text.length} characters; at most ${block.limitCharacters} fit. Shorten it.`,
    );
  if (!isOfMind(block) && id === undefined)
    throw invalidParams(`Each conversation has its own block "${name}". Name one.`, { path: "id" });
  if (id !== undefined) await checkConversation(minds, agent, id);
  const shared = await ports.blocks.shared(agent, block);
  if (shared !== null && "refusal" in shared)
    throw new LaresError("PermissionDenied", shared.refusal, {
      permission: "shared_namespaces",
      extension: agent,
    });
  if (forget) await forgetBlock(minds, block, edit);
  const { clock } = ports;
  const edited = { kind: "block", name, text } as const;
  if (isOfMind(block)) {
    // Its own log, and that of a shared memory, belong to no process.
    const entry = entryOf({ process: agent, turn: "", clock }, edited, { origin: "person" });
    const outcome = await ports.blocks.edit(agent, entry, null);
    if (outcome !== "written")
      throw new LaresError("Busy", `The block "${name}" is changed again and again. Try it once more.`);
    using opened = await (block.namespace === undefined
      ? conversations.openMind(agent)
      : conversations.openShared(block.namespace));
    await opened.log.sync();
  } else
    await minds.use(id ?? "", async ({ log, channel }) => {
      await log.append([entryOf({ process: channel.id, turn: "", clock }, edited, { origin: "person" })]);
      await log.sync();
    });
  return blockOf(block, text);
}

async function checkConversation({ conversations }: Minds, agent: string, id: string): Promise<void> {
  if ((await conversations.get(id)).agent !== agent) throw notFound("conversation", id);
}

function blockOf(
  { name, description, limitCharacters, isReadOnly, scope, namespace }: MindBlock,
  text: string,
): Block {
  return {
    name,
    description,
    text,
    limit: limitCharacters,
    read_only: isReadOnly,
    scope,
    ...(namespace === undefined ? {} : { namespace }),
  };
}

/** Removes what a block said from the logs of all conversations that may have been told. */
async function forgetBlock(minds: Minds, block: MindBlock, { agent, id }: EditBlock): Promise<void> {
  const { conversations } = minds;
  const { name, namespace } = block;
  const agents = namespace === undefined ? [agent] : await readersOf(minds, namespace, name);
  const { redactions } = conversations;
  const logs = new Set(
    isOfMind(block) ? await redactions.conversationsOf(agents) : await redactions.family(id ?? ""),
  );
  for (const each of logs) await checkIdle(minds, each);
  // A mind's own log, and that of a shared memory, begin with their first edit.
  const own = isOfMind(block)
    ? [...agents, ...(namespace === undefined ? [] : [sharedLogOf(namespace)])]
    : [];
  for (const each of own) if ((await conversations.find(each)) !== null) logs.add(each);
  const said = new Set<string>();
  for (const each of logs)
    for await (const entry of everyEntry(conversations, each, { kinds: ["block"] }))
      if (entry.kind === "block" && entry.name === name && entry.text.length >= minRepeated)
        said.add(entry.text);
  const redaction = { agent, logs: [...logs], block: { name, said: [...said] } };
  await forget(
    minds,
    redaction,
    { texts: [...said], calls: [], agent, conversations: [...logs, agent], memories: [] },
    () => removeFrom(minds, redaction),
  );
}
