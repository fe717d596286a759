import { LaresError, messageOf } from "../../base/errors.ts";
import { exitCodes, folderNamed, UsageError, type CommandContext } from "../command.ts";
import { startInstalled } from "../install/consent.ts";
import { editToRemove } from "../install/workspace-document.ts";
import type {
  InstalledExtension,
  OpenedPackage,
  PackageOffer,
  PackageServices,
} from "../../services/packages.ts";
import { oneLine } from "../render/foreign.ts";
import { renderFound, renderOffer } from "../render/packages.ts";
import { acceptsTwice, checkOffer, extract, isConfirmed, opening, showOffer } from "./install.ts";

interface UpdateOptions {
  readonly from?: string;
  readonly yes?: boolean;
  readonly acceptNewPublisher?: boolean;
  /** Shows which newer versions there are, and installs nothing. */
  readonly dryRun?: boolean;
  /** The hexadecimal SHA-256 of the package that the person was shown and accepted. */
  readonly accept?: string;
  readonly json?: boolean;
}

/**
 * The outcome for one extension. `held`: its new version requests more, which a script cannot allow. `available`: of a dry run.
 */
interface Updated {
  readonly id: string;
  readonly scope: InstalledExtension["scope"];
  readonly from: string;
  readonly to: string | null;
  readonly state: "updated" | "available" | "current" | "held" | "declined" | "failed";
  readonly error?: string;
  /** The newer version, in a dry run. */
  readonly offer?: PackageOffer;
}

/** Updates one installed extension, or all, from where they came from or from an index. */
export async function update(
  context: CommandContext,
  id: string | undefined,
  options: UpdateOptions,
): Promise<number> {
  const { ports, terminal } = context;
  if (options.accept !== undefined && options.yes === true) throw acceptsTwice();
  if (options.accept !== undefined && id === undefined)
    throw new UsageError(
      "--accept is about one package. Name the extension: lares update <id> --accept <sha256>",
    );
  const folder = await folderNamed(".");
  return ports.withPackages(async (packages) => {
    const installed = (await packages.list(folder)).filter((each) => id === undefined || each.id === id);
    if (id !== undefined && installed.length === 0)
      throw new LaresError(
        "NotFound",
        `${oneLine(id)} is not installed from a package. lares list shows what is.`,
        { what: "package", name: id },
      );
    const items: Updated[] = [];
    for (const each of installed) {
      const item = await updateOne(context, packages, folder, each, options).catch(
        (error: unknown): Updated => {
          // Wrong usage and Ctrl-C concern all of them.
          if (error instanceof UsageError || terminal.interrupted.aborted) throw error;
          const { id, scope, version: from } = each;
          return { id, scope, from, to: null, state: "failed", error: messageOf(error) };
        },
      );
      items.push(item);
      if (options.json !== true) say(context, item);
    }
    if (options.json === true) terminal.json({ items });
    else if (items.length === 0) terminal.print("No extension is installed from a package.");
    if (items.some(({ state }) => state === "failed")) return exitCodes.failed;
    return items.some(({ state }) => state === "held") ? exitCodes.waiting : exitCodes.ok;
  });
}

async function updateOne(
  context: CommandContext,
  packages: PackageServices,
  folder: string,
  { id, version, scope, source, index }: InstalledExtension,
  options: UpdateOptions,
): Promise<Updated> {
  const place = options.from ?? index ?? undefined;
  const reference = place === undefined ? source : id;
  if (reference === null)
    throw new LaresError(
      "NotFound",
      `It is not known where ${id} came from. Name an index with --from, or install a newer package: lares install <file>`,
    );
  const opened: OpenedPackage = await opening(context, packages, reference, {
    ...(place === undefined ? {} : { from: place }),
    ...(scope === "workspace" ? { workspace: folder } : {}),
  });
  const { offer } = opened;
  if (offer.id !== id)
    throw new LaresError("InvalidDocument", `At ${oneLine(reference)} there is now ${offer.id}, not ${id}.`);
  const result = { id, scope, from: version, to: offer.version };
  if (offer.version === offer.installed || offer.isOlder) return { ...result, state: "current" };
  showOffer(context, options, (surface) => renderOffer(offer, surface));
  checkOffer(offer, options);
  if (options.dryRun === true) return { ...result, state: "available", offer };
  const wantsMore = offer.more.length > 0;
  if (wantsMore && options.yes === true) return { ...result, state: "held" };
  if (!(await isConfirmed(context, options, offer, `Update ${id} from ${version} to ${offer.version}?`)))
    return { ...result, state: "declined" };
  await extract(context, opened, options);
  // In other workspaces, the kernel asks when they are opened.
  const isHere = scope === "workspace" || (await editToRemove(folder, id)) !== null;
  // Who shows packages itself, such as an editor, asks about what is more when the kernel does.
  const isAskedLater = wantsMore && options.accept !== undefined;
  if (isHere && !isAskedLater) await startInstalled(context, folder, offer, wantsMore ? "ask" : "as-before");
  return { ...result, state: "updated" };
}

function say({ terminal }: CommandContext, { id, from, to, state, error = "" }: Updated): void {
  const { style } = terminal.surface;
  switch (state) {
    case "updated":
      return terminal.print(`${style.green("✓")} ${style.bold(id)} ${oneLine(from)} → ${to}`);
    case "current":
      return terminal.print(`${id} ${oneLine(from)} is up to date.`);
    case "available":
      return terminal.print(`${style.bold(id)} ${oneLine(from)} can be updated to ${to}.`);
    case "declined":
      return terminal.print(`${id} stays at ${oneLine(from)}.`);
    case "held":
      return terminal.warn(
        `${id} stays at ${oneLine(from)}: ${to} requests more, as shown above. Update it at a terminal, or install it with lares install and --yes.`,
      );
    case "failed":
      return terminal.warn(`${id} was not updated: ${oneLine(error)}`);
  }
}

interface SearchOptions {
  readonly from?: string;
  readonly json?: boolean;
}

/** Lists the extensions of an index that have all of the words. */
export async function search(
  { ports, terminal }: CommandContext,
  words: readonly string[],
  { from, json }: SearchOptions,
): Promise<number> {
  if (from === undefined)
    throw new UsageError(
      "Name the index to search in: lares search <words> --from <file, folder or address>",
    );
  return ports.withPackages(async (packages) => {
    const { items, unusable } = await terminal.progress(
      "getting the index",
      packages.search(words.join(" "), { from, signal: terminal.interrupted }),
    );
    if (json === true) terminal.json({ items });
    else terminal.print(renderFound(items, terminal.surface));
    if (unusable > 0) terminal.warn(`${unusable} entries of the index cannot be read, and are left out.`);
    return exitCodes.ok;
  });
}
