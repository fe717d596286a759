import { window, workspace } from "vscode";
import type { Kernel } from "../kernel/kernel.ts";
import { label } from "../model/text.ts";
import type { ListedPackage } from "./answers.ts";
import { askWhatItMayDo } from "./consent-after.ts";
import type { PackageCommands, Wanted, Where } from "./package-commands.ts";
import type { PackageList } from "./package-list.ts";
import { nameOf } from "./package-tree.ts";
import { withProgress } from "./progress.ts";
import { memoryWords, offerWords, removalWords } from "./words.ts";

/** What the questions to a person need. */
export interface Deciding {
  readonly packages: PackageCommands;
  readonly list: PackageList;
  readonly kernel: Kernel;
  /** Called when something may have been installed or removed. */
  changed(): void;
  /** Runs something while no kernel of this editor has the workspace open. */
  withoutKernel(run: () => Promise<void>): Promise<void>;
}

/** Verifies a package, shows it, and installs exactly what was shown if the person says so. */
export async function installAsked(
  { packages, kernel, changed }: Deciding,
  wanted: Wanted,
  where: Where,
): Promise<void> {
  const offered = await withProgress("Verifying the package", (signal) =>
    packages.look(wanted, { ...where, signal }),
  );
  const { offer } = offered;
  const answer = await window.showInformationMessage(
    `Install the extension “${nameOf(offer, 80)}”?`,
    { modal: true, detail: offerWords(offered) },
    "Install",
  );
  if (answer !== "Install") return;
  checkSaved(offered.document?.file);
  try {
    await withProgress(`Installing ${label(offer.id)}`, (signal) =>
      packages.install(wanted, offer.sha256, { ...where, signal }),
    );
  } finally {
    changed();
  }
  await askWhatItMayDo(kernel, offer);
}

/** Looks for a newer version where an extension came from, shows it, and installs it if the person says so. */
export async function updateAsked(deciding: Deciding, item: ListedPackage): Promise<void> {
  const { packages, list, kernel, changed } = deciding;
  const name = nameOf(item, 80);
  const { root } = item;
  const items = await withProgress(`Looking for a newer version of ${name}`, (signal) =>
    packages.updates({ root, signal }, item.id),
  );
  list.checked(items, root);
  const found = items.find(({ scope }) => scope === item.scope);
  if (found?.state === "failed") throw new Error(found.error ?? "No newer version can be had.");
  const offer = found?.offer;
  if (offer === undefined) {
    void window.showInformationMessage(`${name} ${label(item.version, 60)} is up to date.`);
    return;
  }
  const answer = await window.showInformationMessage(
    `Update the extension “${name}” from ${label(item.version, 60)} to ${label(offer.version, 60)}?`,
    { modal: true, detail: offerWords({ offer }) },
    "Update",
  );
  if (answer !== "Update") return;
  try {
    const results = await withProgress(`Updating ${name}`, (signal) =>
      packages.update(item.id, offer.sha256, { root, signal }),
    );
    const failed = results.find(({ scope, state }) => scope === item.scope && state !== "updated");
    if (failed !== undefined) throw new Error(failed.error ?? "It stays as it is.");
  } finally {
    changed();
  }
  if (item.inUse) await askWhatItMayDo(kernel, offer);
}

/** Shows what removing an extension does, asks what becomes of its memory, and removes it. */
export async function removeAsked(deciding: Deciding, item: ListedPackage): Promise<void> {
  const { packages, changed, withoutKernel } = deciding;
  const name = nameOf(item, 80);
  const where = { root: item.root };
  const removal = await packages.lookAtRemoval(item.id, where);
  if (removal.folder !== item.folder)
    throw new Error(
      `The workspace has an extension ${label(item.id)} of its own, which goes first. Remove that one before your own.`,
    );
  const hasMemory = removal.memories.length > 0;
  const [keep, forget] = hasMemory
    ? ["Remove, Keep Its Memory", "Remove and Delete Its Memory…"]
    : ["Remove", ""];
  const answer = await window.showWarningMessage(
    `Remove the extension “${name}”?`,
    { modal: true, detail: removalWords(removal) },
    ...[keep, forget].filter((title) => title !== ""),
  );
  if (answer === undefined) return;
  const forgets = hasMemory && answer === forget;
  if (forgets) {
    const sure = await window.showWarningMessage(
      `Delete what “${name}” remembers for good?`,
      { modal: true, detail: memoryWords(removal) },
      "Remove and Delete",
    );
    if (sure !== "Remove and Delete") return;
  }
  checkSaved(removal.document?.file);
  const remove = (): Promise<void> => packages.remove(item.id, forgets, where);
  try {
    await withProgress(`Removing ${name}`, () => (forgets ? withoutKernel(remove) : remove()));
  } finally {
    changed();
  }
}

/** Nothing is written beneath an editor with unsaved changes. */
function checkSaved(file: string | undefined): void {
  const open = workspace.textDocuments.find(({ uri, isDirty }) => isDirty && uri.fsPath === file);
  if (open !== undefined)
    throw new Error(`${label(open.uri.fsPath)} has unsaved changes. Save or revert it, and try again.`);
}
