import { commands, env, Uri, window, workspace } from "vscode";
import { refusalOf } from "../deciding/explain.ts";
import type { ClientContext } from "../feature.ts";
import { label, message } from "../model/text.ts";
import type { ResultOf } from "../protocol.ts";
import { addressOf } from "../webviews/conversations/address.ts";
import {
  maxCommands,
  maxModels,
  maxPaths,
  maxRows,
  maxSectionCharacters,
  pageOfEntries,
  type ConversationsContract,
} from "../webviews/conversations/messages.ts";
import { commonAnswers } from "../views/common-state.ts";
import type { Answers } from "../views/page-channel.ts";
import { cardReaders, decisionAnswers } from "../views/review-answers.ts";
import { partsOf } from "./attachments.ts";
import { commandsOf, runCommand } from "./mind-commands.ts";
import type { Minds } from "./minds.ts";
import { redactEntry } from "./redact.ts";
import { rowOf } from "./rows.ts";
import { shownEntries, wholeText } from "./shown-entries.ts";

/** The requests whose answers depend on what the page follows and was asked to show. */
type OfPage = "follow" | "unfollow" | "openInEditor" | "wanted";

/** Returns the answers to a page's requests, besides those about what it follows. */
export function conversationAnswers(
  context: ClientContext,
  minds: Minds,
): Omit<Answers<ConversationsContract>, OfPage> {
  const { kernel, models } = context;
  const { showDecisions, ...decisions } = decisionAnswers(context);
  const { show, ...readers } = cardReaders(context);
  return {
    ...commonAnswers(context),
    ...decisions,
    ...readers,
    show,
    showDecisions,
    list: async ({ text, isArchived, cursor }) => {
      const page = await kernel.request("lares/conversations/list", {
        state: isArchived ? "archived" : "open",
        limit: maxRows,
        ...(text === undefined ? {} : { text }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      const waiting = { actions: models.actions.pending, asks: models.asks.pending };
      return {
        rows: page.items.map((conversation) => rowOf(conversation, waiting)),
        ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
      };
    },
    minds: async () => ({ agents: (await minds.all()).map((id) => ({ id })) }),
    open: async ({ agent }) => ({ id: (await kernel.request("lares/conversations/open", { agent })).id }),
    earlier: ({ id, before }) => entriesBefore(context, id, before),
    send: async ({ id, text, attached, key }) =>
      await kernel.request("lares/conversations/send", {
        id,
        key,
        ...(attached.length === 0 ? { text } : { parts: partsOf(text, attached) }),
      }),
    cancel: async ({ id, process }) => {
      await kernel.request("lares/conversations/cancel", {
        id,
        ...(process === undefined ? {} : { process }),
      });
      return {};
    },
    fork: async ({ id, at }) => ({
      id: (await kernel.request("lares/conversations/fork", { id, ...(at === undefined ? {} : { at }) })).id,
    }),
    compact: async ({ id }) => {
      await kernel.request("lares/conversations/compact", { id });
      return {};
    },
    pin: async ({ id, entry, pinned }) => {
      await kernel.request("lares/conversations/pin", { id, entry, pinned });
      return {};
    },
    why: async ({ id, entry }) => {
      // The page does not wait until the list is closed.
      void commands.executeCommand("lares.why", id, entry);
      return {};
    },
    redact: async ({ id, entry, text }) => ({ isRemoved: await redactEntry(context, id, entry, text) }),
    update: async ({ id, title, model, isArchived }) => {
      await kernel.request("lares/conversations/update", {
        id,
        ...(title === undefined ? {} : { title }),
        ...(model === undefined ? {} : { model }),
        ...(isArchived === undefined ? {} : { state: isArchived ? "archived" : "open" }),
      });
      return {};
    },
    remove: async ({ id }) => ({ isRemoved: await remove(context, id) }),
    context: async ({ id, process }) => {
      const { sections, model, tokens, limit } = await kernel.request("lares/conversations/context", {
        id,
        ...(process === undefined ? {} : { process }),
      });
      return {
        sections: sections.slice(0, 64).map(({ name, tokens, text, cached }) => ({
          name: name.slice(0, 64),
          tokens,
          text: text.slice(0, maxSectionCharacters),
          isCached: cached === true,
          isCut: text.length > maxSectionCharacters,
        })),
        model: model.slice(0, 322),
        tokens,
        limit,
      };
    },
    models: async () => ({ ids: usable(await kernel.request("lares/models/list", {})) }),
    paths: async ({ text }) => {
      const { items } = await kernel.request("lares/entries/query", {
        kind: "file",
        limit: maxPaths,
        // A name, or the beginning of a path.
        ...(text.includes("/") ? { path: `${globOf(text)}*` } : text === "" ? {} : { text }),
      });
      return { paths: items.map(({ path }) => path) };
    },
    commands: async ({ agent }) => ({
      commands: (await commandsOf(kernel, agent))
        .slice(0, maxCommands)
        .map(({ name, title, description }) => ({
          name: name.slice(0, 128),
          title: title.slice(0, 256),
          description: description.slice(0, 1_000),
        })),
    }),
    runCommand: async ({ agent, name, text }) => ({
      message: message(await runCommand(kernel, agent, name, text), 1_000),
    }),
    answer: async ({ id, digest, allow, remember }) => {
      await kernel.request("lares/asks/answer", {
        id,
        digest: digest as `sha256:${string}`,
        allow,
        ...(allow && remember !== undefined ? { remember } : {}),
      });
      return {};
    },
    showWhole: async ({ id, seq }) => {
      const { items } = await kernel.request("lares/conversations/entries", { id, after: seq - 1, limit: 1 });
      const [entry] = items;
      if (entry?.seq !== seq) throw new Error("It is not there any more.");
      const document = await workspace.openTextDocument({ content: wholeText(entry), language: "plaintext" });
      await window.showTextDocument(document, { preview: true });
      return {};
    },
    copy: async ({ text }) => {
      await env.clipboard.writeText(text);
      return {};
    },
    openLink: async ({ address }) => {
      const whole = addressOf(address);
      if (whole === undefined) throw new Error("Only addresses of the web are opened.");
      await openAfterQuestion(whole);
      return {};
    },
  };
}

/** Returns a page of entries before a seq; the last ones without it. */
export async function entriesBefore({ kernel }: Pick<ClientContext, "kernel">, id: string, before?: number) {
  const { items, total } = await kernel.request("lares/conversations/entries", {
    id,
    limit: pageOfEntries,
    ...(before === undefined ? {} : { before }),
  });
  return { entries: shownEntries(items), hasEarlier: total > items.length, lastSeq: items.at(-1)?.seq ?? 0 };
}

function usable({ providers, models }: ResultOf<"lares/models/list">): string[] {
  const without = new Set(providers.flatMap(({ id, state }) => (state === "no_key" ? [id] : [])));
  return models
    .map(({ id }) => id)
    .filter((id) => id.length <= 322 && !without.has(id.slice(0, id.indexOf("/"))))
    .slice(0, maxModels);
}

/** The signs of a glob have no meaning in what a person types. */
function globOf(text: string): string {
  return text.replace(/[*?[\]{}!()\\]/g, "?");
}

/** A model chose the address: the person reads all of it before it is opened. */
async function openAfterQuestion(address: string): Promise<void> {
  const open = "Open";
  const answer = await window.showInformationMessage(
    "Open this address in a browser?",
    { modal: true, detail: message(address, 4_096) },
    open,
  );
  if (answer === open) await env.openExternal(Uri.parse(address, true));
}

async function remove({ kernel }: ClientContext, id: string): Promise<boolean> {
  const { title } = await kernel.request("lares/conversations/get", { id });
  const yes = "Delete";
  const answer = await window.showWarningMessage(
    `Delete “${label(title, 80)}” for good?`,
    {
      modal: true,
      detail: "What runs in it is stopped first. What forks of it show stays until they are deleted.",
    },
    yes,
  );
  if (answer !== yes) return false;
  try {
    const { kept_for_forks: isKept } = await kernel.request("lares/conversations/delete", { id });
    if (isKept)
      void window.showInformationMessage(
        "The conversation is deleted. Entries that forks of it show are kept until these are deleted, too.",
      );
  } catch (error) {
    // It was deleted elsewhere meanwhile.
    if (refusalOf(error) !== "NotFound") throw error;
  }
  await commands.executeCommand("lares.conversationDeleted", id);
  return true;
}
