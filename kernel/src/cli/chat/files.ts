import { maxMessageCharacters } from "../../base/vocabulary/bounds.ts";
import type { SentPart } from "../../base/vocabulary/conversation-requests.ts";
import { UsageError } from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { oneLine } from "../render/foreign.ts";
import { filesIn, partsOf } from "./state/slash.ts";

const maxProposed = 50;
const maxSearched = 500;
/** A message has at most 64 parts. */
const maxNamed = 32;
const maxChanges = 5;
const maxWaiting = 100;

/**
 * Returns the files and folders that a word can mean, folders with a slash at their end: without a name those directly in its
 * folder, else those beneath it whose name has it, the ones first that begin with it. The kernel looks at no more than it needs.
 */
export async function filePathsLike(
  kernel: Pick<KernelClient, "entries">,
  word: string,
): Promise<readonly string[]> {
  const name = word.slice(word.lastIndexOf("/") + 1).toLowerCase();
  const folder = word.slice(0, word.lastIndexOf("/") + 1);
  const within = folder.replaceAll(/[*?[\]{}\\]/g, "\\$&");
  const pathOf = ({ path, kind }: { readonly path: string; readonly kind: string }): string =>
    kind === "folder" ? `${path}/` : path;
  const { items } = await kernel.entries({
    limit: maxSearched,
    ...(name === ""
      ? { path: `${within}*` }
      : { text: name.slice(0, 256), ...(folder === "" ? {} : { path: `${within}**` }) }),
  });
  const rank = (path: string): number =>
    path
      .slice(path.lastIndexOf("/", path.length - 2) + 1)
      .toLowerCase()
      .startsWith(name)
      ? 0
      : 1;
  return items
    .map(pathOf)
    .filter((path) => path.startsWith(folder))
    .toSorted((a, b) => rank(a) - rank(b) || a.length - b.length || (a < b ? -1 : 1))
    .slice(0, maxProposed);
}

/** Returns the changes that wait for the person and have the word in their title, the newest first. */
export async function waitingChangesLike(
  kernel: Pick<KernelClient, "actions">,
  word: string,
): Promise<readonly { readonly id: string; readonly title: string }[]> {
  const wanted = word.toLowerCase();
  const waiting = await kernel.actions({ state: "PendingApproval", limit: maxWaiting });
  return waiting
    .filter(({ title }) => title.toLowerCase().includes(wanted))
    .slice(0, maxChanges)
    .map(({ id, title }) => ({ id, title }));
}

/** Throws UsageError for a message that is longer than a kernel takes. */
export function checkLength(text: string): void {
  if (text.length <= maxMessageCharacters) return;
  const number = (count: number): string => count.toLocaleString("en");
  throw new UsageError(
    `The message has ${number(text.length)} characters, and at most ${number(maxMessageCharacters)} can be sent. Put it into a file of the folder, and name that in the message, such as @notes.txt.`,
  );
}

/**
 * Returns the parts of a message that names files of the workspace by "@"; null if it names none. UsageError for a message that
 * is too long. Tells `missed` in a sentence which quoted names fit no file, since these mean nothing else.
 */
export async function namedFiles(
  kernel: Pick<KernelClient, "entries">,
  text: string,
  missed: (sentence: string) => void = () => undefined,
): Promise<SentPart[] | null> {
  checkLength(text);
  const found = new Set<string>();
  const named = filesIn(text).slice(0, maxNamed);
  for (const path of named) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const { items } = await kernel.entries({ kind: "file", text: name.slice(0, 256), limit: 1000 });
    if (items.some((item) => item.path === path)) found.add(path);
  }
  const missing = filesIn(text, { quoted: true }).filter(
    (path) => named.includes(path) && !found.has(path) && !path.endsWith("/"),
  );
  if (missing.length > 0) {
    const names = missing.map((path) => `"${oneLine(path)}"`).join(", ");
    missed(`No file of the folder is called ${names}, so the message has only the name.`);
  }
  return found.size === 0 ? null : partsOf(text, found);
}
