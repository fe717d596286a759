import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { LaresError } from "../../base/errors.ts";
import { exitCodes, folderNamed, UsageError, type CommandContext } from "../command.ts";
import type { OpenedPackage, OpenOptions, PackageOffer, PackageServices } from "../../services/packages.ts";
import { startInstalled, type Started } from "../install/consent.ts";
import type { EntryGrants } from "../install/document-edit.ts";
import { editToEnable, renderEdit, shownDocument, writeEdit } from "../install/workspace-document.ts";
import { oneLine } from "../render/foreign.ts";
import { bytes } from "../render/quantities.ts";
import { renderOffer } from "../render/packages.ts";
import type { Surface } from "../render/style.ts";

interface InstallOptions {
  readonly from?: string;
  /** Comma-separated. */
  readonly locations?: string;
  readonly deny?: readonly string[];
  readonly yes?: boolean;
  readonly workspace?: boolean;
  readonly acceptNewPublisher?: boolean;
  readonly downgrade?: boolean;
  /** Shows what would be installed, and installs nothing. */
  readonly dryRun?: boolean;
  /** The hexadecimal SHA-256 of the package that the person was shown and accepted; what it may do is asked later. */
  readonly accept?: string;
  readonly json?: boolean;
}

/** Verifies a package, shows it, extracts it, enables it in this folder's document, and starts it. */
export async function install(
  context: CommandContext,
  reference: string,
  options: InstallOptions,
): Promise<number> {
  const { ports, terminal } = context;
  if (options.accept !== undefined && options.yes === true) throw acceptsTwice();
  const folder = await folderNamed(".");
  const grants = await grantsFrom(folder, options);
  return ports.withPackages(async (packages) => {
    const opened = await opening(context, packages, reference, {
      ...(options.from === undefined ? {} : { from: options.from }),
      ...(options.workspace === true ? { workspace: folder } : {}),
    });
    const { offer } = opened;
    checkDenied(offer, grants);
    await checkInUse(packages, folder, offer, options);
    const edit = await editToEnable(folder, offer.id, grants);
    showOffer(context, options, (surface) => [...renderOffer(offer, surface), ...renderEdit(edit, surface)]);
    checkOffer(offer, options);
    if (options.dryRun === true) {
      if (options.json === true) terminal.json({ offer, document: shownDocument(edit) });
      else terminal.warn("Nothing was installed.");
      return exitCodes.ok;
    }
    if (!(await isConfirmed(context, options, offer, `Install ${offer.id} ${offer.version}?`))) {
      terminal.warn("Nothing was installed.");
      return terminal.interrupted.aborted ? terminal.interruptedCode : exitCodes.failed;
    }
    const target = await extract(context, opened, options);
    await writeEdit(folder, edit);
    await checkFound(packages, folder, offer, target);
    const started =
      options.accept === undefined
        ? await startInstalled(context, folder, offer, options.yes === true ? "all" : "ask")
        : askedLater;
    report(context, offer, target, started, options);
    return started.code;
  });
}

/** Gets and verifies a package, and says how much of it has arrived if that takes longer than a second. */
export async function opening(
  { terminal }: CommandContext,
  packages: PackageServices,
  reference: string,
  options: Pick<OpenOptions, "from" | "workspace">,
): Promise<OpenedPackage> {
  const began = performance.now();
  const received = (count: number): void => {
    if (performance.now() - began > 1000) terminal.status(`getting ${reference}, ${bytes(count)} so far`);
  };
  const work = packages.open(reference, { ...options, signal: terminal.interrupted, received });
  return terminal.progress(`getting ${reference}`, work);
}

/** Extracts the package and pins its publisher; Ctrl-C leaves nothing of it. */
export function extract(
  { terminal }: CommandContext,
  opened: OpenedPackage,
  { acceptNewPublisher, downgrade }: Pick<InstallOptions, "acceptNewPublisher" | "downgrade">,
): Promise<string> {
  return terminal.progress(
    "installing",
    opened.install({
      replacesPublisher: acceptNewPublisher === true,
      allowsOlder: downgrade === true,
      signal: terminal.interrupted,
    }),
  );
}

/** Refuses another publisher and an older version unless the person asked for it. */
export function checkOffer(
  offer: PackageOffer,
  { acceptNewPublisher, downgrade }: Pick<InstallOptions, "acceptNewPublisher" | "downgrade">,
): void {
  const { id, version, pinned, publisher, fingerprint, installed, isOlder } = offer;
  if (pinned !== null && pinned.publisher !== publisher && acceptNewPublisher !== true)
    throw new LaresError(
      "InvalidDocument",
      `${id} is signed by another publisher than the one you installed it from. Before: ${pinned.fingerprint}. Now: ${fingerprint}. Ask the publisher whether the key has changed; if so, run lares install with --accept-new-publisher.`,
      { fault: "publisher" },
    );
  if (isOlder && downgrade !== true)
    throw new LaresError(
      "InvalidDocument",
      `${id} ${version} is older than the installed ${installed}. To go back on purpose, run lares install with --downgrade.`,
      { fault: "older" },
    );
}

/** A program that shows packages itself, such as an editor, asks the person what the extension may do. */
const askedLater: Started = { code: exitCodes.ok, state: null };

export const acceptsTwice = (): UsageError =>
  new UsageError(
    "--accept and --yes cannot be combined. --accept installs exactly the package that you were shown, and allows it nothing yet.",
  );

/** Asks, unless --yes or the digest of this package is given. Throws UsageError if nobody can be asked. */
export async function isConfirmed(
  { terminal }: CommandContext,
  { yes, json, accept }: Pick<InstallOptions, "yes" | "json" | "accept">,
  { id, sha256 }: Pick<PackageOffer, "id" | "sha256">,
  question: string,
): Promise<boolean> {
  if (yes === true) return true;
  if (accept !== undefined) {
    if (accept.toLowerCase() === sha256) return true;
    throw new LaresError(
      "DigestMismatch",
      `The package of ${id} is another one than you accepted: its SHA-256 is ${sha256}. Nothing was installed. Look at it again.`,
      { id },
    );
  }
  if (json === true || !terminal.isInteractive)
    throw new UsageError(
      "Nothing was installed: this needs your confirmation at a terminal. In a script, add --yes, which allows everything that the extension requests.",
    );
  return terminal.confirm(question);
}

/** Prints the offer: to stdout at a terminal, where a person decides about it; to stderr in a script. */
export function showOffer(
  { terminal }: CommandContext,
  { json, yes }: Pick<InstallOptions, "json" | "yes">,
  render: (surface: Surface) => string[],
): void {
  const isRemark = json === true || yes === true || !terminal.isInteractive;
  if (isRemark) terminal.warn(render(terminal.errorSurface));
  else terminal.print(render(terminal.surface));
}

function report(
  { terminal }: CommandContext,
  { id, version, publisher, fingerprint }: PackageOffer,
  folder: string,
  { state }: Started,
  { json }: InstallOptions,
): void {
  if (json === true) {
    terminal.json({ id, version, folder, publisher, fingerprint, allowed: state !== null, state });
    return;
  }
  const { style } = terminal.surface;
  terminal.print(`${style.green("✓")} ${style.bold(id)} ${version} is installed in ${oneLine(folder)}`);
  if (state !== null && state !== "Error")
    terminal.print("It works in this workspace whenever an editor or lares run has it open.");
}

async function grantsFrom(folder: string, { locations, deny }: InstallOptions): Promise<EntryGrants> {
  const listed = (text: string): string[] => text.split(",").flatMap((each) => each.trim() || []);
  const named =
    locations === undefined
      ? undefined
      : await Promise.all(listed(locations).map((each) => locationIn(folder, each)));
  if (named?.length === 0)
    throw new UsageError(
      "--locations names no folder. Write folders of this workspace: --locations photos,notes",
    );
  const denied = deny?.flatMap(listed);
  return {
    ...(named === undefined ? {} : { locations: [...new Set(named)] }),
    ...(denied === undefined ? {} : { deny: [...new Set(denied)] }),
  };
}

/** Returns a folder of the workspace as documents write it. */
async function locationIn(folder: string, name: string): Promise<string> {
  const path = await realpath(join(folder, name)).catch(() => null);
  const isFolder = path !== null && (await stat(path)).isDirectory();
  const way = path === null || isAbsolute(name) ? ".." : relative(folder, path);
  if (!isFolder || way.startsWith("..") || isAbsolute(way))
    throw new UsageError(
      `--locations: "${oneLine(name)}" is not a folder of this workspace. Name folders beneath ${oneLine(folder)}.`,
    );
  return way === "" ? "." : `${way.replaceAll("\\", "/")}/`;
}

function checkDenied({ id, permissions }: PackageOffer, { deny = [] }: EntryGrants): void {
  const unknown = deny.find((name) => name !== "*" && !permissions.includes(name));
  if (unknown !== undefined)
    throw new UsageError(
      `--deny: ${id} does not request "${oneLine(unknown)}". It requests ${permissions.join(", ") || "nothing"}.`,
    );
}

/** A workspace's own extension of this id would be used instead of the installed one. */
async function checkInUse(
  packages: PackageServices,
  folder: string,
  { id }: PackageOffer,
  { workspace }: InstallOptions,
): Promise<void> {
  if (workspace === true) return;
  const used = await packages.folderInUse(folder, id);
  const way = used === null ? ".." : relative(folder, used);
  if (way.startsWith("..") || isAbsolute(way)) return;
  throw new UsageError(
    `This workspace has an extension ${id} of its own in ${oneLine(way)}, which would be used instead. Remove that one, or install with --workspace.`,
  );
}

async function checkFound(
  packages: PackageServices,
  folder: string,
  { id }: PackageOffer,
  target: string,
): Promise<void> {
  const used = await packages.folderInUse(folder, id);
  if (used !== null && used === (await realpath(target))) return;
  throw new LaresError(
    "Conflict",
    `${id} is installed in ${oneLine(target)}, but this workspace uses ${used === null ? "none of this id" : oneLine(used)}. It was not allowed to run.`,
  );
}
