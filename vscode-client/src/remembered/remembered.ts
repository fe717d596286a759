import { commands, Disposable, window, type QuickPick } from "vscode";
import type { ClientContext, Feature } from "../feature.ts";
import { explain, reporting } from "../deciding/explain.ts";
import { Minds } from "../conversations/minds.ts";
import { label } from "../model/text.ts";
import { actOn, type Place } from "./act.ts";
import { blockDocuments } from "./block-documents.ts";
import { rowOfBlock, rowOfMemory, rowsOfWhy, type KnownRow } from "./known.ts";

/** As many as a person looks through. */
const maxListed = 100;
/** After the last key, until what was typed is searched for. */
const searchAfterMs = 200;

/** What minds know beside their conversations: seen, corrected, and forgotten. */
export const remembered: Feature = (context) => {
  const minds = new Minds(context);
  return Disposable.from(
    blockDocuments(context),
    commands.registerCommand("lares.why", (conversation?: unknown, entry?: unknown) =>
      reporting("The reasons cannot be shown", () =>
        typeof conversation === "string"
          ? showWhy(context, conversation, typeof entry === "string" ? entry : undefined)
          : whyOfPicked(context),
      ),
    ),
    commands.registerCommand("lares.memories", () =>
      reporting("The memories cannot be shown", async () => {
        const agent = await pickMind(context, minds);
        if (agent !== undefined) await showMemories(context, agent);
      }),
    ),
    commands.registerCommand("lares.blocks", () =>
      reporting("The blocks cannot be shown", async () => {
        const agent = await pickMind(context, minds);
        if (agent !== undefined) await showBlocks(context, agent);
      }),
    ),
  );
};

/** Shows what an answer rests on, beside the conversation itself; without an entry, the last answer. */
async function showWhy(context: ClientContext, id: string, entry?: string): Promise<void> {
  const { kernel } = context;
  const [{ agent }, why] = await Promise.all([
    kernel.request("lares/conversations/get", { id }),
    kernel.request("lares/conversations/why", { id, ...(entry === undefined ? {} : { entry }) }),
  ]);
  const rows = rowsOfWhy(why);
  const earlier = why.summaries === 0 ? "" : " It also had summaries of earlier turns.";
  if (rows.length === 0)
    return void window.showInformationMessage(
      `The answer rests on this conversation alone: no memory, block or bulletin was before the model.${earlier}`,
    );
  await pickAndAct(context, { agent, conversation: id }, rows, {
    title: "Why This Answer",
    placeHolder: `What the model had before it, beside the conversation.${earlier}`,
  });
}

async function whyOfPicked(context: ClientContext): Promise<void> {
  const { items } = await context.kernel.request("lares/conversations/list", {
    state: "open",
    limit: maxListed,
  });
  const picked = await window.showQuickPick(
    items.map(({ id, title, agent }) => ({
      id,
      label: title === "" ? "New conversation" : label(title),
      description: label(context.models.agents.nameOf(agent)),
    })),
    { title: "Why the Last Answer", placeHolder: "In which conversation?" },
  );
  if (picked !== undefined) await showWhy(context, picked.id);
}

async function showBlocks(context: ClientContext, agent: string): Promise<void> {
  const { items } = await context.kernel.request("lares/conversations/blocks", { agent });
  if (items.length === 0)
    return void window.showInformationMessage(
      `${label(context.models.agents.nameOf(agent), 80)} has no block that all its conversations share.`,
    );
  await pickAndAct(context, { agent }, items.map(rowOfBlock), {
    title: "Blocks",
    placeHolder: "What the mind always has before it",
  });
}

async function pickAndAct(
  context: ClientContext,
  place: Place,
  rows: readonly KnownRow[],
  words: { readonly title: string; readonly placeHolder: string },
): Promise<void> {
  const picked = await window.showQuickPick(rows, {
    ...words,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (picked !== undefined) await actOn(context, place, picked.known);
}

/** Lists what a mind remembers, and searches it as the person types. */
async function showMemories(context: ClientContext, agent: string): Promise<void> {
  const list = window.createQuickPick<KnownRow>();
  list.title = `Memories of ${label(context.models.agents.nameOf(agent), 60)}`;
  list.placeholder = "Type to search; choose one to correct or forget it";
  list.matchOnDescription = true;
  let timer: NodeJS.Timeout | undefined;
  const search = (): void => void fill(context, list, agent);
  const picked = await new Promise<KnownRow | undefined>((resolve) => {
    list.onDidChangeValue(() => {
      clearTimeout(timer);
      timer = setTimeout(search, searchAfterMs);
    });
    list.onDidAccept(() => {
      // Enter on an empty list chooses nothing.
      const [row] = list.selectedItems;
      if (row !== undefined) resolve(row);
    });
    list.onDidHide(() => resolve(undefined));
    list.show();
    search();
  });
  clearTimeout(timer);
  list.dispose();
  if (picked !== undefined) await actOn(context, { agent }, picked.known);
}

async function fill({ kernel }: ClientContext, list: QuickPick<KnownRow>, agent: string): Promise<void> {
  const words = list.value.trim();
  list.busy = true;
  try {
    const found = await kernel.request(
      "lares/memory/query",
      words === ""
        ? { agent, kind: "associative", top_k: maxListed }
        : { agent, kind: "search", text: words, limit: maxListed },
    );
    // Something else was typed meanwhile.
    if (list.value.trim() !== words) return;
    const items: readonly unknown[] = "items" in found ? found.items : [];
    list.items = items.flatMap((item) => rowOfMemory(item) ?? []);
    if (list.items.length === 0)
      list.placeholder = words === "" ? "It remembers nothing yet." : "Nothing was found. Try other words.";
  } catch (error) {
    list.items = [];
    list.title = `The memories cannot be searched: ${explain(error)}`;
  } finally {
    list.busy = false;
  }
}

/** Returns the only agent with a mind, or the one that the person picks. */
async function pickMind({ models }: ClientContext, minds: Minds): Promise<string | undefined> {
  const agents = await minds.all();
  const [only, other] = agents;
  if (only === undefined) {
    void window.showInformationMessage("No agent here has a mind.");
    return undefined;
  }
  if (other === undefined) return only;
  const picked = await window.showQuickPick(
    agents.map((id) => ({ id, label: label(models.agents.nameOf(id)), description: label(id) })),
    { title: "Whose?", matchOnDescription: true },
  );
  return picked?.id;
}
