import { count, label, message } from "../model/text.ts";
import { size } from "../webviews/shared/size.ts";
import type { Offer, Offered, Removal } from "./answers.ts";

/** Lines of one list in a message, which the editor does not scroll everywhere. */
const maxLines = 12;
/** A line of a message. */
const maxLineCharacters = 400;

/** Returns the details of the question whether to install or update: the same facts as `lares install` shows. */
export function offerWords({
  offer,
  document,
}: Partial<Pick<Offered, "document">> & { readonly offer: Offer }): string {
  const { description, installed, fingerprint, source, license, files, requests, hosts, more } = offer;
  return [
    ...(description === "" ? [] : [line(description), ""]),
    `${label(offer.id)} ${label(offer.version, 60)}${installed === null ? "" : ` (installed: ${label(installed, 60)})`}`,
    `From ${line(source)}`,
    `${size(offer.size)}, ${count(files, "file")}${license === "" ? "" : `, ${message(license, 80)}`}`,
    "",
    `Signed by ${label(fingerprint)}`,
    publisherWords(offer),
    "",
    ...(more.length === 0 ? [] : ["More than the installed version:", ...listed(more), ""]),
    ...(requests.length === 0 ? ["It requests no permissions."] : ["It requests to", ...listed(requests)]),
    hosts.length === 0 ? "It reaches no hosts." : line(`It may reach the hosts ${hosts.join(", ")}`),
    "",
    document === undefined || document === null
      ? "What you allowed before stays allowed. You are asked next about anything beyond it."
      : `It is added to ${line(document.file)}${document.isNew ? ", a new file" : ""}. Nothing is allowed yet: you choose next what it may do.`,
  ].join("\n");
}

function publisherWords({ pinned, publisher }: Offer): string {
  if (pinned === null)
    return "You install this extension for the first time: from now on only this publisher may update it. Compare the key with the one that the publisher names.";
  return pinned.publisher === publisher
    ? `The same publisher as since ${label(pinned.since.slice(0, 10))}.`
    : `ANOTHER publisher than before: ${label(pinned.fingerprint)}, pinned on ${label(pinned.since.slice(0, 10))}.`;
}

/** Returns the details of the question whether to remove an extension. */
export function removalWords({ folder, document, memories }: Removal): string {
  return [
    `Its folder is deleted: ${line(folder)}`,
    ...(document === null ? [] : [`Its entry is taken out of ${line(document.file)}`]),
    ...(memories.length === 0
      ? []
      : [
          "",
          `It remembers something in ${count(memories.length, "workspace")}. If its memory stays, it is there when you install it again.`,
        ]),
  ].join("\n");
}

export function memoryWords({ memories }: Removal): string {
  return [
    "Nothing can bring it back:",
    ...listed(memories.map((memory) => `${memory.folder}${memory.isHere ? " (this workspace)" : ""}`)),
  ].join("\n");
}

function listed(texts: readonly string[]): string[] {
  const shown = texts.slice(0, maxLines).map((text) => `• ${line(text)}`);
  const more = texts.length - shown.length;
  return more > 0 ? [...shown, `… and ${more} more`] : shown;
}

const line = (text: string): string => message(text, maxLineCharacters);
