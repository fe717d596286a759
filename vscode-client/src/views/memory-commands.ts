import { homedir } from "node:os";
import { join } from "node:path";
import { env, ProgressLocation, Uri, window } from "vscode";
import { explain } from "../deciding/explain.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { size } from "../webviews/shared/size.ts";
import { count, label, message } from "../model/text.ts";
import type { Agent, SharedMemory } from "../protocol.ts";
import { localTime } from "../webviews/shared/local-time.ts";
import { given } from "./given.ts";
import type { Whose } from "./memory-watch.ts";

/** The usual file extensions of an exported memory; imports recognize it by its content. */
const carriedFiles = { "Lares memory": ["lares", "memory"], "All files": ["*"] };

/**
 * Lets the person choose an agent's memory or a shared one; undefined if they cancel. Memories of another workspace are
 * not offered, because only their own kernel can verify and export them.
 */
export async function chooseMemory(
  agents: readonly Agent[],
  namespaces: readonly SharedMemory[],
): Promise<Whose | undefined> {
  const own = agents.map(({ id, name, metrics }) => ({
    label: label(id),
    description: label(name === id ? "" : name),
    detail: `${size(metrics.memory_size_bytes)} · ${count(metrics.temporal_events_count, "event")} · ${count(metrics.knowledge_items_count, "item")}`,
    whose: { agent: id } as Whose,
  }));
  const shared = namespaces.flatMap(({ name, agents: [agent, ...others], workspace, records = 0 }) => {
    if (agent === undefined || workspace !== undefined) return [];
    return [
      {
        label: label(name),
        description: "shared",
        detail: `${count(records, "record")} · open to ${count(others.length + 1, "agent")}`,
        whose: { agent, namespace: name },
      },
    ];
  });
  const all = [...own, ...shared];
  if (all.length === 0) {
    void window.showInformationMessage("No agent has a memory to show.");
    return undefined;
  }
  if (all.length === 1) return all[0]?.whose;
  return (await window.showQuickPick(all, { title: "Whose memory?", matchOnDescription: true }))?.whose;
}

/** Returns the name for use in sentences, on one line. */
const nameOf = ({ agent, namespace }: Whose): string =>
  namespace === undefined ? label(agent, 80) : `${label(namespace, 80)} (shared)`;

const asked = ({ agent, namespace }: Whose) => ({ agent, ...given({ namespace }) });

/** Verifies the chain and reports the result. */
export async function verifyAloud(kernel: Kernel, whose: Whose): Promise<void> {
  const name = nameOf(whose);
  await reporting(async () => {
    const { ok, records, head, firstBad } = await withProgress(`Verifying the memory of ${name}`, () =>
      kernel.request("lares/memory/verify", asked(whose)),
    );
    if (ok)
      void window.showInformationMessage(
        `The memory of ${name} is intact: ${count(records, "record")} proven. Head: ${head ?? "none yet"}`,
      );
    else
      void window.showErrorMessage(
        `The memory of ${name} is broken` +
          (firstBad === undefined ? "." : ` at record ${firstBad.seq}: ${message(firstBad.reason, 300)}`),
      );
    return true;
  });
}

/**
 * Asks for a destination and writes the file. Returns false if the person cancelled, or if it failed and the error was
 * shown.
 */
export async function exportMemory(kernel: Kernel, whose: Whose): Promise<boolean> {
  const file = `${(whose.namespace ?? whose.agent).replaceAll(/[^\w.-]+/g, "-").slice(0, 100)}.lares`;
  const target = await window.showSaveDialog({
    title: `Export the Memory of ${nameOf(whose)}`,
    defaultUri: Uri.file(join(homedir(), file)),
    filters: carriedFiles,
  });
  if (target === undefined) return false;
  return reporting(async () => {
    const { records, head, bytes } = await withProgress("Exporting the memory", () =>
      // The dialog has already asked whether an existing file may be replaced.
      kernel.request("lares/memory/export", { ...asked(whose), path: target.fsPath, overwrite: true }),
    );
    void offerHead(`Exported ${count(records, "record")} (${size(bytes)}) of ${nameOf(whose)}.`, head);
    return true;
  });
}

/** Asks for a file, shows its contents and its head, and imports it if the person confirms. */
export async function importMemory(kernel: Kernel, agent: string): Promise<boolean> {
  const [file] =
    (await window.showOpenDialog({
      title: `Import a Memory into ${label(agent, 80)}`,
      openLabel: "Look at It",
      canSelectMany: false,
      filters: carriedFiles,
    })) ?? [];
  if (file === undefined) return false;
  return reporting(async () => {
    const path = file.fsPath;
    const found = await withProgress("Proving the file", () =>
      kernel.request("lares/memory/import", { agent, path, preview: true }),
    );
    const answer = await window.showInformationMessage(
      `Import the memory of ${label(found.from, 100)} into ${label(agent, 80)}?`,
      {
        modal: true,
        detail: [
          `${count(found.records, "record")}, ${size(found.bytes)}`,
          ...vectorsOf(found),
          `Written from ${localTime(found.first)} to ${localTime(found.last)}`,
          `Exported ${localTime(found.created)}`,
          "",
          "Its chain is intact. Compare its head with the one that was shown when it was exported:",
          found.head,
        ].join("\n"),
      },
      "Import",
    );
    if (answer !== "Import") return false;
    const { records } = await withProgress("Importing the memory", () =>
      // Imports exactly what was shown, even if the file has changed meanwhile.
      kernel.request("lares/memory/import", { agent, path, head: found.head }),
    );
    void window.showInformationMessage(`Imported ${count(records, "record")} into ${label(agent, 80)}.`);
    return true;
  });
}

/** Vectors are not part of the chain: the author of the file controls what searches find. */
function vectorsOf({ vectors }: { readonly vectors: number }): string[] {
  if (vectors === 0) return [];
  return [
    `${count(vectors, "vector")}, unproven: they are used where the same embedder would make them again, and forged ones make searches find the wrong items`,
  ];
}

/** Asks for confirmation and forgets the item. */
export async function forget(kernel: Kernel, agent: string, id: string, what: string): Promise<boolean> {
  const answer = await window.showWarningMessage(
    `Have ${label(agent, 80)} forget this for good?`,
    {
      modal: true,
      detail: `“${message(what, 200)}”\n\nIts data is erased and cannot be restored. Only the fact that something was forgotten stays in the record.`,
    },
    "Forget",
  );
  if (answer !== "Forget") return false;
  await kernel.request("lares/memory/forget", { agent, id, reason: "Asked for in the Memory view" });
  return true;
}

/** After an export, the person may want to compare the head where it is imported. */
async function offerHead(sentence: string, head: string): Promise<void> {
  const answer = await window.showInformationMessage(
    `${sentence} Head, to compare where it is imported: ${head}`,
    "Copy Head",
  );
  if (answer === "Copy Head") await env.clipboard.writeText(head);
}

function withProgress<Result>(title: string, act: () => Promise<Result>): Thenable<Result> {
  return window.withProgress({ location: ProgressLocation.Notification, title }, act);
}

/** Shows an error as a message; a command's own error would be shown with its stack. */
async function reporting(act: () => Promise<boolean>): Promise<boolean> {
  try {
    return await act();
  } catch (error) {
    void window.showErrorMessage(explain(error));
    return false;
  }
}
