import type { SentPart } from "../../base/vocabulary/conversation-requests.ts";
import type { KernelClient } from "../kernel-client.ts";
import { filesIn, partsOf } from "./state/slash.ts";

const maxProposed = 50;
const maxSearched = 500;
/** A message has at most 64 parts. */
const maxNamed = 32;

/** Returns the files whose path has this word, those first whose name begins with it. */
export async function filePathsLike(
  kernel: Pick<KernelClient, "entries">,
  word: string,
): Promise<readonly string[]> {
  const name = word.slice(word.lastIndexOf("/") + 1).toLowerCase();
  const folder = word.slice(0, word.lastIndexOf("/") + 1);
  const { items } = await kernel.entries({
    kind: "file",
    limit: maxSearched,
    ...(name === "" ? {} : { text: name.slice(0, 256) }),
  });
  const rank = (path: string): number =>
    path
      .slice(path.lastIndexOf("/") + 1)
      .toLowerCase()
      .startsWith(name)
      ? 0
      : 1;
  return items
    .map(({ path }) => path)
    .filter((path) => path.startsWith(folder))
    .toSorted((a, b) => rank(a) - rank(b) || a.length - b.length || (a < b ? -1 : 1))
    .slice(0, maxProposed);
}

/** Returns the parts of a message that names files of the workspace by "@"; null if it names none. */
export async function namedFiles(
  kernel: Pick<KernelClient, "entries">,
  text: string,
): Promise<SentPart[] | null> {
  const found = new Set<string>();
  for (const path of filesIn(text).slice(0, maxNamed)) {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const { items } = await kernel.entries({ kind: "file", text: name.slice(0, 256), limit: 1000 });
    if (items.some((item) => item.path === path)) found.add(path);
  }
  return found.size === 0 ? null : partsOf(text, found);
}
