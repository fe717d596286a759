import { readWords } from "../../../base/vocabulary/reason-words.ts";
import type { Why } from "../../../base/vocabulary/answer-reasons.ts";
import type { Block } from "../../../base/vocabulary/conversation-requests.ts";
import { isJsonObject } from "../../../base/json.ts";
import { oneLine } from "../../render/foreign.ts";
import { dayAndTime } from "../../render/quantities.ts";
import { emptyComposer, withText, type Composer } from "./composer.ts";

/** Something that a mind knows beside the conversation, as a person can change it. */
export type Known =
  | {
      readonly kind: "memory";
      /** Null: it is gone. */
      readonly id: string | null;
      readonly type: string;
      readonly text: string;
      /** Its present text; absent if that is `text`. */
      readonly now?: string;
      readonly facts: readonly string[];
    }
  | {
      readonly kind: "block";
      readonly name: string;
      readonly text: string;
      readonly now?: string;
      readonly scope: Block["scope"];
      readonly facts: readonly string[];
    }
  | { readonly kind: "bulletin"; readonly text: string; readonly facts: readonly string[] };

/** What a list shows: it is needed to read the list again. */
export type KnownSource =
  | { readonly kind: "why"; readonly entry: string }
  | { readonly kind: "memories"; readonly words: string }
  | { readonly kind: "blocks" };

/** Why the list was opened. */
export type Purpose = "look" | "correct" | "forget";

/** A list of what a mind knows, with what is being done with the selected one. */
export interface KnownPanel {
  readonly kind: "known";
  readonly title: string;
  readonly items: readonly Known[];
  readonly selected: number;
  readonly purpose: Purpose;
  readonly source: KnownSource;
  readonly doing: "list" | "forget" | { readonly composer: Composer };
  /** When the question was asked whether to forget, and what the person typed for it. */
  readonly asked?: { readonly atMs: number; readonly by: string };
}

export function knownPanel(
  shown: Pick<KnownPanel, "title" | "items" | "purpose" | "source">,
  selected = 0,
): KnownPanel {
  const { title, items, purpose, source } = shown;
  return { kind: "known", title, items, selected, purpose, source, doing: "list" };
}

/** Returns the panel in which the selected text is corrected. */
export function correcting(panel: KnownPanel, text: string): KnownPanel {
  return { ...panel, doing: { composer: withText(emptyComposer, text) } };
}

/** Returns the present text of a memory or block. */
export function textNow(item: Known): string {
  return item.kind === "bulletin" ? item.text : (item.now ?? item.text);
}

/** Returns why something cannot be corrected or forgotten; null if it can. */
export function whyFixed(item: Known): string | null {
  if (item.kind === "bulletin")
    return "The mind writes its bulletin itself. Correct or forget the memories that it was written from.";
  if (item.kind === "memory" && item.id === null) return "It is gone already.";
  return null;
}

/** Returns the question before something is removed for good. */
export function forgetQuestion(item: Known): string {
  return item.kind === "block"
    ? `Empty the block ${oneLine(item.name)}, and remove what it says and said from every conversation that was told, for good?`
    : "Forget this memory for good? Conversations keep what was said in them.";
}

/** Returns what an answer rests on: memories that were recalled for it first, then blocks, then everything else. */
export function knownBehind(
  { memories, blocks, bulletin }: Why,
  scopeOf: (name: string) => Block["scope"],
): Known[] {
  const remembered = memories.map((memory): Known => {
    const { type, text, read, query, state, present } = memory;
    return {
      kind: "memory",
      id: present?.id ?? null,
      type,
      text,
      ...(present === undefined || present.text === text ? {} : { now: present.text }),
      facts: [
        readWords[read],
        ...(query === undefined ? [] : [`searched for: ${query}`]),
        ...(present?.created === undefined ? [] : [`saved ${dayAndTime(present.created)}`]),
        ...(state === "corrected" ? ["corrected since"] : state === "gone" ? ["gone since"] : []),
      ],
    };
  });
  const direct = memories.filter(({ read }) => read !== "bulletin").length;
  return [
    ...remembered.slice(0, direct),
    ...blocks.map(({ name, text, present }): Known => ({
      kind: "block",
      name,
      text,
      scope: scopeOf(name),
      facts: ["always before the mind", ...(present ? [] : ["changed since"])],
    })),
    ...(bulletin === undefined
      ? []
      : [
          {
            kind: "bulletin" as const,
            text: bulletin.text,
            facts: [
              "written by the mind about all its conversations",
              ...(bulletin.present ? [] : ["changed since"]),
            ],
          },
        ]),
    ...remembered.slice(direct),
  ];
}

/** Returns an item of `lares/memory/query`; null for an event of the history, which no mind saves. */
export function knownMemory(item: unknown): Known | null {
  if (!isJsonObject(item) || typeof item["id"] !== "string" || item["kind"] === "temporal") return null;
  const { id, variant, text, data } = item;
  const { about, created, origin, tainted } = isJsonObject(data) ? data : {};
  return {
    kind: "memory",
    id,
    type: typeof variant === "string" ? variant : "",
    text: typeof text === "string" ? text : JSON.stringify(data ?? null),
    facts: [
      ...(typeof about === "string" ? [`about ${about}`] : []),
      ...(typeof created === "string" ? [`saved ${dayAndTime(created)}`] : []),
      ...(origin === "person" ? ["in your words"] : []),
      ...(tainted === true ? ["from a foreign source"] : []),
    ],
  };
}

export function knownBlock({ name, text, description, scope, limit, read_only }: Block): Known {
  return {
    kind: "block",
    name,
    text,
    scope,
    facts: [
      description,
      scope === "mind" ? "in all conversations" : "in this conversation",
      `${text.length} of ${limit} characters`,
      ...(read_only ? ["only you change it"] : []),
    ],
  };
}
