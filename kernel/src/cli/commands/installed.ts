import { isLaresError, LaresError } from "../../base/errors.ts";
import { exitCodes, folderNamed, requireConfirmation, type CommandContext } from "../command.ts";
import type { InstalledExtension, MemoryPlace, PackageServices } from "../../services/packages.ts";
import { editToRemove, renderEdit, shownDocument, writeEdit } from "../install/workspace-document.ts";
import { proposalWords, rejectProposals, waitingProposals } from "../install/waiting-proposals.ts";
import { oneLine } from "../render/foreign.ts";
import { renderInstalled, renderMemories } from "../render/packages.ts";
import { counted } from "../render/quantities.ts";

interface ListOptions {
  readonly json?: boolean;
}

interface RemoveOptions {
  readonly forget?: boolean;
  readonly yes?: boolean;
  /** Shows what would be removed, and removes nothing. */
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** Lists installed packages. Exits with 1 if files of one differ from what was signed. */
export async function list({ ports, terminal }: CommandContext, { json }: ListOptions): Promise<number> {
  const folder = await folderNamed(".");
  return ports.withPackages(async (packages) => {
    const items = await terminal.progress("checking installed files", packages.list(folder));
    if (json === true) terminal.json({ items });
    else terminal.print(renderInstalled(items, terminal.surface));
    return items.every(isIntact) ? exitCodes.ok : exitCodes.failed;
  });
}

const isIntact = ({ fault, changed, missing, added }: InstalledExtension): boolean =>
  fault === null && changed.length + missing.length + added.length === 0;

/** Removes an installed extension, and its entry in this folder's document. Its memory stays unless `forget`. */
export async function remove(context: CommandContext, id: string, options: RemoveOptions): Promise<number> {
  const { ports, terminal } = context;
  const { forget, yes, dryRun, json } = options;
  const folder = await folderNamed(".");
  return ports.withPackages(async (packages) => {
    const installed = await installedHere(packages, folder, id);
    if (dryRun !== true) requireConfirmation(terminal, options, `lares remove ${oneLine(id)}`);
    const edit = await editToRemove(folder, id);
    const waiting = await waitingProposals(context, folder, id);
    const memories = await packages.memoriesOf(id, folder, forget === true);
    const words = memoryWords(memories, forget === true);
    const lines = [
      `This removes ${installed.folder}`,
      ...(edit === null ? [] : renderEdit(edit, terminal.errorSurface)),
      ...proposalWords(waiting ?? []),
      // If nobody is asked, only the result has these words.
      ...(yes === true && forget !== true && dryRun !== true ? [] : words),
    ];
    if (dryRun === true) {
      if (json === true)
        terminal.json({ id, folder: installed.folder, document: shownDocument(edit), memories });
      else terminal.print([...lines, "Nothing was removed."]);
      return exitCodes.ok;
    }
    terminal.warn(lines);
    if (yes !== true && !(await terminal.confirm(`Remove ${id}?`))) {
      terminal.warn("Nothing was removed.");
      return terminal.interrupted.aborted ? terminal.interruptedCode : exitCodes.failed;
    }
    const forgets =
      forget === true &&
      memories.length > 0 &&
      (yes === true || (await terminal.confirm("Delete what it remembers for good?")));
    // While the kernel still knows whose they are.
    let rejected = await rejectProposals(context, folder, waiting ?? []);
    if (edit !== null) await writeEdit(folder, edit);
    if (forgets) {
      // Agents of this workspace end with their kernel; editors start the next one.
      await terminal.progress("closing the kernel of this workspace", ports.stopKernel([folder]));
      const left = await forgetAll(packages, id, memories);
      // The package stays, so that the command can be run again.
      if (left.length > 0) {
        terminal.warn([...left, `${id} is still installed. Run the command again to delete what is left.`]);
        return exitCodes.failed;
      }
    }
    await packages.remove(installed, folder);
    // Without the extension, nothing else may be left that the person has not accepted.
    const left = waiting ?? (await waitingProposals(context, folder, id));
    if (waiting === null) rejected = await rejectProposals(context, folder, left ?? []);
    if (left === null)
      terminal.warn(
        "This workspace is not trusted, so that changes which it proposed may still wait. Reject them with lares actions.",
      );
    if (json === true)
      terminal.json({
        removed: id,
        folder: installed.folder,
        forgotten: forgets,
        ...(rejected === 0 ? {} : { rejected }),
        memories: memories.map((memory) => memory.folder),
      });
    else
      terminal.print([
        `${id} is removed.`,
        ...(rejected === 0 ? [] : [`Rejected what it proposed: ${counted(rejected, "change")}.`]),
        ...(memories.length === 0 || !forgets
          ? memoryWords(memories, false)
          : [
              "What it remembered is deleted, with the values of its types, its jobs and its notifications. What it proposed stays in the history of actions, and what it traced until the traces expire.",
            ]),
      ]);
    return exitCodes.ok;
  });
}

/** Deletes each of the memories. Returns a sentence for each that is left. */
async function forgetAll(
  packages: PackageServices,
  id: string,
  memories: readonly MemoryPlace[],
): Promise<string[]> {
  const left: string[] = [];
  for (const memory of memories) {
    try {
      await packages.forget(id, memory);
    } catch (error) {
      if (!isLaresError(error)) throw error;
      left.push(`Not deleted: ${oneLine(memory.folder)}. ${error.message}`);
    }
  }
  return left;
}

function memoryWords(memories: readonly MemoryPlace[], forget: boolean): string[] {
  if (memories.length === 0) return [];
  return [
    forget
      ? `And what it remembers, the values of its types, its jobs and its notifications in ${counted(memories.length, "workspace")}, which nothing can bring back:`
      : "What it remembers stays, for when you install it again. To delete that too, add --forget. It is in",
    ...renderMemories(memories),
    ...(forget
      ? [
          "What it wrote into shared memories and their blocks stays there; lares blocks forget removes a block.",
        ]
      : []),
  ];
}

async function installedHere(
  packages: PackageServices,
  folder: string,
  id: string,
): Promise<InstalledExtension> {
  const found = (await packages.list(folder)).filter((each) => each.id === id);
  // The workspace's own extension takes precedence.
  const installed = found.find(({ scope }) => scope === "workspace") ?? found[0];
  if (installed !== undefined) return installed;
  throw new LaresError(
    "NotFound",
    `${oneLine(id)} is not installed from a package. lares list shows what is.`,
    {
      what: "package",
      name: id,
    },
  );
}
