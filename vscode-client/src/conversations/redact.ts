import { commands, window } from "vscode";
import type { ClientContext } from "../feature.ts";
import { count, message } from "../model/text.ts";

/** Asks, and removes a message from the transcript for good. Returns false if the person does not want to. */
export async function redactEntry(
  { kernel }: Pick<ClientContext, "kernel">,
  id: string,
  entry: string,
  text: string,
): Promise<boolean> {
  const answer = await window.showWarningMessage(
    "Remove this message from the transcript for good?",
    {
      modal: true,
      detail: `“${message(text, 300)}”\n\nIts text is erased from this conversation and from all that share it, from searches, and from what models read; “[redacted by the person]” stands in its place. Summaries that were made of it go, too. Files in the folder, and what was remembered, stay.`,
    },
    "Remove",
  );
  if (answer !== "Remove") return false;
  const { entries, conversations, memories } = await kernel.request("lares/conversations/redact", {
    id,
    entry,
  });
  const where = conversations.length > 1 ? ` of ${count(conversations.length, "conversation")}` : "";
  const said = `Removed from ${count(entries.length, "entry", "entries")}${where}.`;
  if (memories.length === 0) void window.showInformationMessage(said);
  else void offerMemories(said, memories.length);
  return true;
}

async function offerMemories(said: string, amount: number): Promise<void> {
  const show = "Show Memories";
  const answer = await window.showInformationMessage(
    `${said} ${count(amount, "memory", "memories")} made in this conversation may still hold it.`,
    show,
  );
  if (answer === show) await commands.executeCommand("lares.memories");
}
