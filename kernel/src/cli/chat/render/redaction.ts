import type { RedactedConversation } from "../../../base/vocabulary/conversation-requests.ts";
import { isWholeId } from "../../one-named.ts";
import { oneLine } from "../../render/foreign.ts";
import { counted } from "../../render/quantities.ts";
import type { Surface } from "../../render/style.ts";
import type { RedactPanel } from "../state/state.ts";
import { truncate, wrap } from "../../render/width.ts";

type Copy = RedactedConversation["remains"][number];

/** Derived texts and memories that are shown; the rest is counted. */
const maxShown = 10;
/** Characters of the text and of what was made from it, in a question. */
const maxQuoted = 60;
const nowhere = "The text stands nowhere in this conversation.";

/** Returns what a person reads after a redaction: what it reached, what stays and why, and what was made from it. */
export function redactionLines(done: RedactedConversation, agent: string, surface: Surface): string[] {
  const { style } = surface;
  const { entries, conversations, removed, remains } = done;
  // Some of them may have it only in what the model reads before all entries.
  const others =
    conversations.length <= 1
      ? ""
      : `${entries.length > 0 ? " and from what the model reads" : ""}, in ${counted(conversations.length, "conversation")}`;
  const count = derivedCount(done);
  const reached = reachedBy(done);
  return [
    reached === null ? style.yellow(nowhere) : `${style.green("✓")} removed from ${reached}${others}`,
    ...copyLines(removed, remains, surface),
    ...(count === 0
      ? []
      : [
          "",
          ...derivedLines(done, surface),
          "Remove one with: lares conversations redact <id> --entry <entry>, or",
          `lares memory forget ${oneLine(agent)} <memory>. --with-derived removes all of them together with the text.`,
        ]),
  ];
}

/** Returns what models made from a text, which may say the same in other words; nothing if there is nothing. */
export function derivedLines(found: RedactedConversation, { style }: Pick<Surface, "style">): string[] {
  const { memories, derived } = found;
  const shown = [
    ...derived.map(({ entry, kind, text }) => ({ id: entry, kind, text })),
    ...memories.map(({ id, type, text }) => ({ id, kind: `memory (${type})`, text })),
  ].slice(0, maxShown);
  const count = derivedCount(found);
  if (count === 0) return [];
  return [
    `${counted(count, "text")} made from it by models may say the same in other words:`,
    ...shown.map(({ id, kind, text }) => `  ${style.dim(oneLine(id))}  ${oneLine(kind)}: ${oneLine(text)}`),
    ...(count > shown.length ? [`  … and ${count - shown.length} more`] : []),
  ];
}

/** Returns what was removed outside of the conversations, and what stays. */
export function copyLines(
  removed: RedactedConversation["removed"],
  remains: RedactedConversation["remains"],
  { style, width }: Surface,
): string[] {
  return [
    ...removed.map(({ place, count }) => `${style.green("✓")} removed from ${oneLine(place)}: ${count}`),
    ...(remains.length === 0
      ? []
      : [
          "",
          style.yellow("The text stays, or was not looked for, here:"),
          ...remains.flatMap((copy) =>
            wrap(`${whereOf(copy)}: ${oneLine(copy.why)}`, width - 4).map(
              (line, row) => `${row === 0 ? "  " : "    "}${line}`,
            ),
          ),
        ]),
  ];
}

/** "an action · 5c1f9e20": without a sign between them, the two would read as one. */
function whereOf({ place, name }: Copy): string {
  return `${oneLine(place)} · ${oneLine(nameOf({ place, name }))}`;
}

/** Returns a name as the lists show it: of a conversation, the end of its id. */
function nameOf({ place, name }: Pick<Copy, "place" | "name">): string {
  return place.endsWith("conversation") && isWholeId(name) ? name.slice(-8) : name;
}

/** Returns where a text was removed; null if it stood nowhere. */
function reachedBy({
  entries,
  conversations,
}: Pick<RedactedConversation, "entries" | "conversations">): string | null {
  if (entries.length > 0) return counted(entries.length, "entry", "entries");
  return conversations.length > 0 ? "what the model reads before all entries" : null;
}

/** The number of texts that models made from one that is removed. */
export function derivedCount({ memories, derived_total: total }: RedactedConversation): number {
  return total + memories.length;
}

/** Returns the question whether a text is to be removed, with what has it and what was made from it. */
export function redactionQuestion(
  { text, found }: RedactPanel,
  { style, width }: Pick<Surface, "style" | "width">,
): string[] {
  const shown = oneLine(text);
  const quoted = `"${shown.length > maxQuoted ? `${shown.slice(0, maxQuoted)}…` : shown}"`;
  const reached = reachedBy(found);
  const others =
    found.conversations.length > 1 ? `, in ${counted(found.conversations.length, "conversation")}` : "";
  const count = derivedCount(found);
  const example = oneLine(found.derived[0]?.text ?? found.memories[0]?.text ?? "");
  return [
    ...wrap(
      reached === null
        ? `${nowhere} Remove copies of ${quoted} elsewhere for good?`
        : `Remove ${quoted} for good, from ${reached}${others}?`,
      width,
    ).map((line) => style.bold(line)),
    ...wrap(
      [
        "Copies in questions, actions, events, notifications, traces and memories go too; files of this folder stay.",
        ...(count === 0
          ? []
          : [
              `${counted(count, "text")} made from it by models may say the same in other words, such as: ${truncate(example, maxQuoted)}`,
            ]),
      ].join(" "),
      width,
    ),
    ...wrap(
      `y removes it.${count === 0 ? "" : " t removes those texts too."} Esc removes nothing.`,
      width,
    ).map((line) => style.dim(line)),
  ];
}

/** The same in a few sentences. */
export function redactionSentence(done: RedactedConversation): string {
  const { memories, removed, remains } = done;
  const copies = removed.reduce((sum, { count }) => sum + count, 0);
  const count = derivedCount(done);
  const reached = reachedBy(done);
  return [
    reached === null ? nowhere : `Removed from ${reached}.`,
    ...(copies === 0
      ? []
      : [
          `${counted(copies, "copy", "copies")} elsewhere: ${removed.map(({ place }) => oneLine(place)).join(", ")}.`,
        ]),
    ...(remains.length === 0
      ? []
      : [
          `It stays, or was not looked for, in: ${remains.slice(0, maxShown).map(whereOf).join(", ")}${remains.length > maxShown ? ", …" : ""}.`,
        ]),
    ...(count === 0
      ? []
      : [
          `${counted(count, "text")} made from it may say the same in other words, such as: ${oneLine(done.derived[0]?.text ?? memories[0]?.text ?? "")}`,
        ]),
  ].join(" ");
}
