import { isLaresError, LaresError } from "../../base/errors.ts";
import { exitCodes, folderNamed, requireConfirmation, type CommandContext } from "../command.ts";
import type { InstalledExtension, MemoryPlace, PackageServices } from "../packaging/package-ports.ts";
import { editToRemove, renderEdit, shownDocument, writeEdit } from "../install/workspace-document.ts";
import { oneLine } from "../render/foreign.ts";
import { renderInstalled, renderMemories } from "../render/packages.ts";
import { counted } from "../render/quantities.ts";

export interface ListOptions {
  readonly json?: boolean;
}

export interface RemoveOptions {
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
  if (dryRun !== true) requireConfirmation(terminal, options, `lares remove ${oneLine(id)}`);
  return ports.withPackages(async (packages) => {
    const installed = await installedHere(packages, folder, id);
    const edit = await editToRemove(folder, id);
    const memories = await packages.memoriesOf(id, folder);
    const words = memoryWords(memories, forget === true);
    const lines = [
      `This removes ${installed.folder}`,
      ...(edit === null ? [] : renderEdit(edit, terminal.errorSurface)),
      ...words,
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
      return terminal.interrupted.aborted ? 130 : exitCodes.failed;
    }
    const forgets =
      forget === true &&
      memories.length > 0 &&
      (yes === true || (await terminal.confirm("Delete what it remembers for good?")));
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
    if (json === true)
      terminal.json({
        removed: id,
        folder: installed.folder,
        forgotten: forgets,
        memories: memories.map((memory) => memory.folder),
      });
    else
      terminal.print([
        `${id} is removed.`,
        ...(memories.length === 0 || !forgets
          ? memoryWords(memories, false)
          : [
              "What it remembered is deleted. Values of its types, notifications and dead jobs stay in the workspace's ledger.",
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
      ? `And what it remembers in ${counted(memories.length, "workspace")}, which nothing can bring back:`
      : "What it remembers stays, for when you install it again. To delete that too, add --forget. It is in",
    ...renderMemories(memories),
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
