import { readWords } from "../../../kernel/src/base/vocabulary/reason-words.ts";
import { clockTime, label, message } from "../model/text.ts";
import type { ResultOf } from "../protocol.ts";

type Why = ResultOf<"lares/conversations/why">;
type Block = ResultOf<"lares/conversations/blocks">["items"][number];

/** Something that a mind knows beside a conversation: what a row of a list stands for. */
export type Known =
  | {
      readonly kind: "memory";
      /** Undefined: it is gone. */
      readonly id?: string;
      /** As it is now; if it is gone, as it was. */
      readonly text: string;
      /** The conversation in which it was saved. */
      readonly conversation?: string;
    }
  | { readonly kind: "block"; readonly name: string }
  | { readonly kind: "bulletin"; readonly text: string };

export interface KnownRow {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  /** The filter of the list leaves it as the kernel found it. */
  readonly alwaysShow: boolean;
  readonly known: Known;
}

const maxShown = 300;

/** Returns the rows for what an answer rests on: memories that were recalled first, then blocks and the bulletin. */
export function rowsOfWhy({ memories, blocks, bulletin }: Why): KnownRow[] {
  const remembered = memories.map(({ type, text, read, query, state, present }): KnownRow => {
    const facts = [
      readWords[read],
      ...(query === undefined ? [] : [`searched for “${label(query, 80)}”`]),
      ...(present?.created === undefined ? [] : [`saved ${clockTime(present.created, Date.now())}`]),
      ...(state === "remembered"
        ? []
        : [state === "gone" ? "gone since" : `now: “${label(present?.text ?? "", 120)}”`]),
    ];
    return {
      label: `$(lightbulb) ${label(text, 120)}`,
      description: label(type, 40),
      detail: facts.join(" · "),
      alwaysShow: false,
      known: {
        kind: "memory",
        text: present?.text ?? text,
        ...(present === undefined ? {} : { id: present.id }),
        ...(present?.conversation === undefined ? {} : { conversation: present.conversation }),
      },
    };
  });
  const direct = memories.filter(({ read }) => read !== "bulletin").length;
  return [
    ...remembered.slice(0, direct),
    ...blocks.map(({ name, text, present }): KnownRow => ({
      label: `$(note) ${label(name, 80)}`,
      description: `block, always before the mind${present ? "" : " · changed since"}`,
      detail: message(text, maxShown),
      alwaysShow: false,
      known: { kind: "block", name },
    })),
    ...(bulletin === undefined
      ? []
      : [
          {
            label: "$(book) Bulletin",
            description: `written by the mind about all its conversations${bulletin.present ? "" : " · changed since"}`,
            detail: message(bulletin.text, maxShown),
            alwaysShow: false,
            known: { kind: "bulletin" as const, text: bulletin.text },
          },
        ]),
    ...remembered.slice(direct),
  ];
}

/** Returns the row of an item of `lares/memory/query`; undefined for an event of the history. */
export function rowOfMemory(item: unknown): KnownRow | undefined {
  if (!isObject(item) || typeof item["id"] !== "string" || item["kind"] === "temporal") return undefined;
  const { id, variant, text, data } = item;
  const { about, created, origin, tainted, conversation } = isObject(data) ? data : {};
  const said = typeof text === "string" ? text : JSON.stringify(data ?? null);
  const facts = [
    ...(typeof about === "string" ? [`about ${label(about, 80)}`] : []),
    ...(typeof created === "string" ? [`saved ${clockTime(created, Date.now())}`] : []),
    ...(origin === "person" ? ["in your words"] : []),
    ...(tainted === true ? ["from a foreign source"] : []),
  ];
  return {
    label: `$(lightbulb) ${label(said, 120)}`,
    description: typeof variant === "string" ? label(variant, 40) : "",
    detail: facts.join(" · "),
    alwaysShow: true,
    known: {
      kind: "memory",
      id,
      text: said,
      ...(typeof conversation === "string" ? { conversation } : {}),
    },
  };
}

export function rowOfBlock({ name, description, text, read_only: isReadOnly, limit }: Block): KnownRow {
  const facts = [
    description,
    `${text.length} of ${limit} characters`,
    ...(isReadOnly ? ["only you change it"] : []),
  ];
  return {
    label: `$(note) ${label(name, 80)}`,
    description: facts.map((fact) => label(fact, 120)).join(" · "),
    detail: text === "" ? "(empty)" : message(text, maxShown),
    alwaysShow: false,
    known: { kind: "block", name },
  };
}

/** Returns where a text still stands that a mind no longer remembers; empty if nowhere. */
export function remains({
  bulletin,
  blocks = [],
  conversations = [],
}: Pick<ResultOf<"lares/memory/forget">, "bulletin" | "blocks" | "conversations">): string {
  const [first] = conversations;
  return [
    ...(bulletin === true ? [" The mind’s bulletin was emptied, too."] : []),
    ...(blocks.length === 0
      ? []
      : [
          ` ${blocks.length === 1 ? "The block" : "Blocks"} ${blocks.map((name) => label(name, 60)).join(", ")} still ${blocks.length === 1 ? "says" : "say"} it.`,
        ]),
    ...(first === undefined
      ? []
      : [
          conversations.length === 1
            ? ` It still stands in the conversation “${label(first.title, 60)}”.`
            : ` It still stands in ${conversations.length} conversations.`,
        ]),
  ].join("");
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
