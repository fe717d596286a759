import { visibleText } from "../base/visible-text.ts";
import { questionOf, type Answers, type QuestionCard } from "../decisions/question.ts";
import type { RequestedPermissions } from "../decisions/requested-permissions.ts";
import type { DecisionStore } from "../decisions/store.ts";
import type { TrustCard, TrustProgram, TrustQuestion } from "../base/vocabulary/trust.ts";
import type { CatalogEntry, CatalogSnapshot } from "./catalog-snapshot.ts";
import type { ProgramSources } from "./program-sources.ts";

/** Maximum length of an extension's own description in the question. */
const maxDescriptionCharacters = 1_000;

/** Returns what the user has granted and answered for these documents, and what is in force. */
export function answersOf(
  { digest, requests }: Pick<CatalogSnapshot, "digest" | "requests">,
  inForce: RequestedPermissions,
  decisions: DecisionStore,
): Answers {
  if (!decisions.isAccepted(digest)) {
    const { accepted: granted, answered, declined } = decisions;
    return { granted, answered, declined, inForce };
  }
  // An earlier consent to exactly these documents holds, whatever was answered for others since.
  const sources = decisions.accepted.extensions;
  const extensions = Object.fromEntries(
    Object.entries(requests.extensions).map(([id, { behaviourDigest: _digest, ...request }]) => [
      id,
      { ...request, ...(sources[id]?.sources === undefined ? {} : { sources: sources[id].sources }) },
    ]),
  );
  const all = { ...requests, extensions };
  return { granted: all, answered: all, declined: new Set(), inForce };
}

/** Returns the complete question of consent, including the changes in the programs. */
export async function trustQuestion(
  { digest, requests, entries }: Pick<CatalogSnapshot, "digest" | "requests" | "entries">,
  answers: Answers & { readonly isAnswered: boolean; readonly since: string | null },
  sources: ProgramSources,
): Promise<Omit<TrustQuestion, "trusted">> {
  const { cards, workspace } = questionOf(requests, answers);
  const extensions: TrustCard[] = [];
  for (const card of cards) {
    const entry = entries.find(({ id }) => id === card.extension);
    if (entry !== undefined) extensions.push(await withProgram(card, entry, answers, sources));
  }
  return { digest, answered: answers.isAnswered, since: answers.since, extensions, workspace };
}

async function withProgram(
  { programChange, ...card }: QuestionCard,
  entry: CatalogEntry,
  { granted }: Answers,
  sources: ProgramSources,
): Promise<TrustCard> {
  const { description = "", version = "" } = entry.extension.checked.value ?? {};
  const before = granted.extensions[card.extension]?.sources;
  const isCompared = programChange === "changed" && before !== undefined && entry.program.program !== null;
  const differing = isCompared
    ? (await sources.changes(entry, before)).files.filter(({ change }) => change !== "unchanged")
    : null;
  const sum = (side: "added" | "removed"): number =>
    differing?.reduce((total, file) => total + file[side], 0) ?? 0;
  return {
    ...card,
    changes: [...card.changes],
    parts: [...card.parts],
    folders: [...card.folders],
    facts: [...card.facts],
    cannot: [...card.cannot],
    version: visibleText(version),
    ...(description === ""
      ? {}
      : { description: visibleText(description.slice(0, maxDescriptionCharacters)) }),
    program: {
      change: programChange,
      ...(entry.program.program === null ? { fault: visibleText(entry.program.fault) } : {}),
      ...(differing === null
        ? {}
        : { diff: { files: differing.length, added: sum("added"), removed: sum("removed") } }),
    },
  };
}

/**
 * Returns the changes in one extension's program since it was accepted; with a path, those of one file with its
 * diff.
 */
export async function programChanges(
  { digest, entries }: Pick<CatalogSnapshot, "digest" | "entries">,
  extension: string,
  path: string | undefined,
  { granted }: Pick<Answers, "granted">,
  sources: ProgramSources,
): Promise<TrustProgram | null> {
  const entry = entries.find(({ id }) => id === extension);
  if (entry === undefined) return null;
  const before = Object.hasOwn(granted.extensions, extension)
    ? granted.extensions[extension]?.sources
    : undefined;
  const { kept, reason, files } = await sources.changes(entry, before, path);
  return { digest, kept, files: [...files], ...(reason === undefined ? {} : { reason }) };
}
