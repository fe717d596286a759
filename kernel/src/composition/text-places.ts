import type { RemainingText } from "../base/vocabulary/forgetting.ts";

const otherConversation = "another conversation";
/** The name of a conversation that only the ledger shows. */
const unnamed = "of this folder";

/** What lies in the state folder, by its first names, and how a person reaches a text in it. */
const stateFiles: readonly (readonly [start: string, place: string, why: string])[] = [
  [
    "extensions/",
    "the memory or data of an agent",
    "An agent remembers it on its own, or from other conversations. Look with lares memory query, and have it forgotten there.",
  ],
  [
    "namespaces/",
    "a shared memory",
    "Agents share it. Look with lares memory query, and have it forgotten there.",
  ],
  [
    "conversations/",
    otherConversation,
    "It has the text on its own. Redact it there too; lares conversations lists them.",
  ],
  ["objects/", "the content of an action", "It is kept so that the action can be undone. Undo it, or wait."],
  ["programs/", "the program of an agent", "Its own files have the text."],
  ["cache/", "the program of an agent", "Its own files have the text."],
  ["bundles/", "the program of an agent", "Its own files have the text."],
  ["imports/", "a memory of another workspace", "Have it forgotten in that workspace; it is only read here."],
  ["store/", "the store of memories", "It is made again from the memories. Redact once more."],
  ["kernel.log", "the kernel's log", "Delete the file while no kernel runs."],
  ["traces/", "the traces", "They were written while the text was removed. Redact once more."],
  ["decisions.yaml", "your decisions", "It is your own file. Remove the text there yourself."],
];

/** Returns how a person reaches a text in a file of the state folder. */
export function placeOfFile(path: string): RemainingText {
  const known = stateFiles.find(([start]) => path.startsWith(start));
  const parts = path.split("/");
  const [, place = "a file of the state folder", why = "Nothing removes it by itself."] = known ?? [];
  const isOfOne = parts.length > 2 && ["extensions", "namespaces", "conversations"].includes(parts[0] ?? "");
  return { place, name: isOfOne ? (parts[1] ?? path) : path, why };
}

const workspaceTables = new Set([
  "entries",
  "entry_tags",
  "entry_fields",
  "entry_sidecars",
  "awaited_metadata",
  "conversation_files",
  "conversation_taints",
  "conversation_proposed_taints",
  "conversation_places",
]);

/** Returns how a person reaches a text in a table of the ledger. */
export function placeOfTable(table: string): RemainingText {
  if (workspaceTables.has(table))
    return {
      place: "the index of this folder",
      name: table,
      why: "A file's name, tag, field or sidecar has the text. Change it in the folder, and the index follows.",
    };
  if (table.startsWith("conversation"))
    return {
      place: otherConversation,
      name: unnamed,
      why: "It has the text on its own. Redact it there too; lares conversations lists them.",
    };
  return { place: "the ledger", name: table, why: "A name, a key or a path there has the text." };
}

/** Returns each place once. A conversation that the ledger shows without a name is left out where its log is named by its id. */
export function eachOnce(found: readonly RemainingText[]): RemainingText[] {
  const places = [...new Map(found.map((each) => [`${each.place}\n${each.name}`, each])).values()];
  const isNamed = places.some(({ place, name }) => place === otherConversation && name !== unnamed);
  return isNamed ? places.filter(({ name }) => name !== unnamed) : places;
}
