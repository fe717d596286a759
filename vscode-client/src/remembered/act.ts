import { commands, window } from "vscode";
import type { ClientContext } from "../feature.ts";
import { explain } from "../deciding/explain.ts";
import { count, label, message } from "../model/text.ts";
import { blockAddress, openBlock } from "./block-documents.ts";
import { remains, type Known } from "./known.ts";

/** The mind whose knowledge is shown, and the conversation that it is shown for, if there is one. */
export interface Place {
  readonly agent: string;
  readonly conversation?: string;
}

const maxCorrected = 4_000;

/** Offers what can be done with something that a mind knows, and does it. */
export async function actOn(context: ClientContext, place: Place, known: Known): Promise<void> {
  switch (known.kind) {
    case "bulletin":
      return void (await window.showInformationMessage("The mind’s bulletin", {
        modal: true,
        detail: `${message(known.text, 4_000)}\n\nThe mind writes it itself. Correct or forget the memories that it was written from; they stand below it in the list.`,
      }));
    case "block":
      return await actOnBlock(context, place, known.name);
    case "memory":
      return await actOnMemory(context, place, known);
  }
}

async function actOnMemory(
  context: ClientContext,
  { agent }: Place,
  { id, text, conversation }: Known & { kind: "memory" },
): Promise<void> {
  if (id === undefined)
    return void (await window.showInformationMessage("The mind no longer remembers this.", {
      modal: true,
      detail: message(text, 1_000),
    }));
  const picked = await window.showQuickPick(
    [
      {
        label: "$(edit) Correct…",
        detail: "Say what is right. The old text is forgotten.",
        act: () => correct(),
      },
      { label: "$(trash) Forget…", detail: "Remove it for good.", act: () => forget() },
      ...(conversation === undefined
        ? []
        : [
            {
              label: "$(comment-discussion) Open the Conversation",
              detail: "Where the mind saved it.",
              act: async () => void (await commands.executeCommand("lares.openConversation", conversation)),
            },
          ]),
    ],
    { title: label(text, 120), placeHolder: "What about this memory?" },
  );
  await picked?.act();

  async function correct(): Promise<void> {
    const given = await window.showInputBox({
      title: "Correct a Memory",
      prompt: "What does it say from now on? It is kept in your words.",
      value: text,
      ignoreFocusOut: true,
      validateInput: (value) =>
        value.trim() === ""
          ? "Type what it says."
          : value.length > maxCorrected
            ? `At most ${maxCorrected} characters fit.`
            : undefined,
    });
    if (given === undefined || given.trim() === text) return;
    const done = await context.kernel.request("lares/memory/correct", {
      agent,
      id: id ?? "",
      text: given.trim(),
    });
    void window.showInformationMessage(`Corrected: “${label(given, 100)}”.${remains(done)}`);
  }

  async function forget(): Promise<void> {
    const answer = await window.showWarningMessage(
      `Have ${label(context.models.agents.nameOf(agent), 80)} forget this for good?`,
      {
        modal: true,
        detail: `“${message(text, 400)}”\n\nNo conversation recalls it from then on. Conversations keep what was said in them; “Forget Everywhere” also removes these words from all conversations that have them.`,
      },
      "Forget",
      "Forget Everywhere",
    );
    if (answer === undefined) return;
    const done = await context.kernel.request("lares/memory/forget", { agent, id: id ?? "" });
    const { conversations = [], ...rest } = done;
    if (answer === "Forget" || conversations.length === 0)
      return void window.showInformationMessage(`Forgotten.${remains(done)}`);
    let removed = 0;
    for (const each of conversations)
      try {
        removed += (await context.kernel.request("lares/conversations/redact", { id: each.id, text })).entries
          .length;
      } catch (error) {
        return void window.showErrorMessage(
          `Forgotten, but in “${label(each.title, 60)}” it still stands: ${explain(error)}`,
        );
      }
    void window.showInformationMessage(
      `Forgotten, and removed from ${count(removed, "entry", "entries")} of ${count(conversations.length, "conversation")}.${remains(rest)}`,
    );
  }
}

async function actOnBlock(
  context: ClientContext,
  { agent, conversation }: Place,
  name: string,
): Promise<void> {
  const { items } = await context.kernel.request("lares/conversations/blocks", {
    agent,
    ...(conversation === undefined ? {} : { id: conversation }),
  });
  const block = items.find((each) => each.name === name);
  if (block === undefined) throw new Error(`there is no block “${label(name, 60)}” any more.`);
  const of = block.scope === "conversation" && conversation !== undefined ? { id: conversation } : {};
  const picked = await window.showQuickPick(
    [
      {
        label: "$(edit) Edit",
        detail: "Opens it as a document. Saving it writes the block, and running conversations are told.",
        act: async () => await openBlock(blockAddress({ agent, name, ...of })),
      },
      {
        label: "$(trash) Forget…",
        detail: "Empty it, and remove what it said from every log.",
        act: async () => {
          const answer = await window.showWarningMessage(
            `Empty the block “${label(name, 60)}” for good?`,
            {
              modal: true,
              detail: `“${message(block.text, 400)}”\n\nWhat it says and said is removed, also from the conversations that were told. It cannot be restored.`,
            },
            "Forget",
          );
          if (answer !== "Forget") return;
          await context.kernel.request("lares/conversations/editBlock", {
            agent,
            ...of,
            name,
            text: "",
            forget: true,
          });
          void window.showInformationMessage(`The block “${label(name, 60)}” is empty.`);
        },
      },
    ],
    { title: `Block ${label(name, 80)}`, placeHolder: label(block.description, 120) },
  );
  await picked?.act();
}
