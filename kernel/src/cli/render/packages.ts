import { visibleText } from "../../base/visible-text.ts";
import type {
  FoundExtension,
  InstalledExtension,
  MemoryPlace,
  PackageOffer,
  PublisherKey,
} from "../../services/packages.ts";
import { oneLine } from "./foreign.ts";
import { bytes, counted } from "./quantities.ts";
import type { Surface } from "./style.ts";
import { wrap } from "./width.ts";
import { hint } from "./hint.ts";

/** Returns who signed a package, and what it requests, for the decision to install it. */
export function renderOffer(offer: PackageOffer, { style, width }: Surface): string[] {
  const { id, version, name, description, license, installed } = offer;
  const text = (line: string, indent: number): string[] =>
    wrap(oneLine(line), width - indent).map((each) => " ".repeat(indent) + each);
  return [
    `${style.bold(oneLine(name))}  ${id} ${version}${installed === null ? "" : `  (installed: ${oneLine(installed)})`}`,
    ...(description === "" ? [] : text(description, 2)),
    `  Publisher  ${offer.fingerprint}`,
    ...text(publisherWords(offer), 13),
    `  From       ${oneLine(visibleText(offer.source))}`,
    `  Package    ${bytes(offer.size)}, ${counted(offer.files, "file")}${license === "" ? "" : `, ${oneLine(license)}`}`,
    ...(offer.requests.length === 0
      ? ["  It requests no permissions."]
      : ["  It requests to", ...offer.requests.flatMap((request) => text(`- ${request}`, 4))]),
    ...(offer.hosts.length === 0
      ? ["  It reaches no hosts."]
      : text(`It may reach the hosts ${offer.hosts.join(", ")}`, 2)),
    ...(offer.more.length === 0
      ? []
      : [
          style.bold("  More than the installed version:"),
          ...offer.more.flatMap((more) => text(`- ${more}`, 4)),
        ]),
  ];
}

function publisherWords({ id, pinned, publisher }: PackageOffer): string {
  if (pinned === null)
    return "You install this extension for the first time: from now on only this publisher may update it. Compare the key with the one that the publisher names.";
  if (pinned.publisher === publisher) return `The same as since ${pinned.since.slice(0, 10)}.`;
  return `ANOTHER publisher than before: ${pinned.fingerprint}, pinned on ${pinned.since.slice(0, 10)}. If you accept it, it gets what the earlier one has left: its memory, values and jobs. To delete these first: lares remove ${id} --forget`;
}

export function renderInstalled(installed: readonly InstalledExtension[], surface: Surface): string[] {
  const { style } = surface;
  if (installed.length === 0)
    return hint("No extension is installed from a package. Install one: lares install <file>", surface);
  return installed.flatMap(({ id, version, folder, scope, fingerprint, fault, changed, missing, added }) => {
    const warnings = [
      ...(fault === null ? [] : [fault]),
      ...list("changed since it was installed", changed),
      ...list("missing", missing),
      ...list("not from the package", added),
    ];
    return [
      `${style.bold(oneLine(id))} ${oneLine(version)}${scope === "workspace" ? "  in this workspace" : ""}`,
      `    ${oneLine(folder)}`,
      ...(fingerprint === "" ? [] : [style.dim(`    signed by ${fingerprint}`)]),
      ...warnings.map((warning) => `    ${style.yellow("!")} ${oneLine(visibleText(warning))}`),
    ];
  });
}

const maxNamed = 5;

function list(what: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : "";
  return [`${what}: ${paths.slice(0, maxNamed).join(", ")}${more}`];
}

export function renderFound(found: readonly FoundExtension[], { style, width }: Surface): string[] {
  if (found.length === 0) return [style.dim("The index has no extension with these words.")];
  return found.flatMap(({ id, version, name, description, size, fingerprint, permissions }) => [
    `${style.bold(oneLine(id))} ${oneLine(version)}  ${oneLine(name)}, ${bytes(size)}`,
    ...wrap(oneLine(description), width - 4).map((line) => `    ${line}`),
    // The index is not trusted; the package's own data is shown.
    style.dim(
      `    says it requests ${permissions.map(oneLine).join(", ") || "nothing"}; signed by ${fingerprint}`,
    ),
  ]);
}

export function renderKeys(keys: readonly PublisherKey[], surface: Surface): string[] {
  const { style } = surface;
  if (keys.length === 0)
    return hint("You have no key to sign packages with. Make one: lares keys new", surface);
  return keys.map(
    ({ name, fingerprint, created }) =>
      `${style.bold(name)}  ${fingerprint}  ${style.dim(`made ${created.slice(0, 10)}`)}`,
  );
}

export function renderMemories(memories: readonly MemoryPlace[]): string[] {
  return memories.map(({ folder, isHere }) => `  ${oneLine(folder)}${isHere ? "  (this workspace)" : ""}`);
}
