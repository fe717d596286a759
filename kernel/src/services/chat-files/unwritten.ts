import { type AnswerCut, cutWords } from "../../base/cut-answer.ts";
import {
  type Conversation,
  type Entry,
  noteOrigin,
  type ProcessState,
} from "../../base/vocabulary/conversation.ts";
import type { ConversationService } from "../conversations.ts";
import { maxAnswerCharacters } from "./answer-markdown.ts";

/** The answers of a conversation that are not in its file. */
export interface Unwritten {
  /** The seq of the last entry that was looked at. */
  readonly through: number;
  /** The mind is at rest and has read what it was sent. */
  readonly isOver: boolean;
  /** True if there is something to write: a text, or why there is none. */
  readonly isAnswer: boolean;
  /** The words of the mind, in one text; at most a little longer than `maxAnswerCharacters`. */
  readonly text: string;
  /** Why it ended without an answer, or not with the whole of it; null if neither. */
  readonly failure: string | null;
  /** Ids of actions that it proposed and that were not decided. */
  readonly waiting: readonly string[];
  /** Ids of actions that were carried out, and for which the conversation did not wait. */
  readonly made: readonly string[];
}

const pageSize = 1_000;
const kinds = ["message", "void", "request", "process", "action"];
const resting: ReadonlySet<ProcessState> = new Set(["WaitingForInput", "Done", "Failed", "Cancelled"]);

interface Said {
  readonly pieces: string[];
  isWhole: boolean;
}

/** Reads what the conversation's channel said behind the entry `after`. */
export async function readUnwritten(
  conversations: Pick<ConversationService, "entries">,
  { id, processes }: Pick<Conversation, "id" | "processes">,
  after: number,
): Promise<Unwritten> {
  const channel = processes.find(({ kind }) => kind === "channel");
  const reader = new UnwrittenReader(channel?.id ?? "");
  let through = after;
  for (;;) {
    const { items } = await conversations.entries({ id, after: through, kinds, limit: pageSize });
    for (const entry of items) reader.take(entry);
    through = items.at(-1)?.seq ?? through;
    if (items.length < pageSize) break;
  }
  return reader.result(through, channel?.state ?? "WaitingForInput");
}

class UnwrittenReader {
  readonly #channel: string;
  readonly #said = new Map<string, Said>();
  readonly #actions = new Map<string, string>();
  readonly #made = new Set<string>();
  /** Why the last answer ends early. */
  #cut: AnswerCut | null = null;
  #characters = 0;
  #lastAsked = 0;
  #lastRequest = 0;
  #last: { readonly seq: number; readonly state: ProcessState; readonly error: string | null } | null = null;

  constructor(channel: string) {
    this.#channel = channel;
  }

  take(entry: Entry): void {
    if (entry.kind === "action") {
      this.#actions.set(entry.ref, entry.state);
      if (entry.origin === noteOrigin) this.#made.add(entry.ref);
    }
    if (entry.process !== this.#channel) return;
    if (entry.kind === "request") this.#lastRequest = entry.seq;
    else if (entry.kind === "void") this.#said.delete(entry.message);
    else if (entry.kind === "process" && entry.value.id === this.#channel) {
      const { state, error } = entry.value;
      this.#last = { seq: entry.seq, state, error: error?.message ?? null };
    } else if (entry.kind === "message" && entry.role === "user") {
      if (entry.origin === "person") this.#lastAsked = entry.seq;
    } else if (entry.kind === "message") this.#say(entry);
  }

  result(through: number, state: ProcessState): Unwritten {
    const last = this.#last ?? { seq: through, state, error: null };
    const hasEnded = last.state === "Failed" || last.state === "Cancelled";
    const wasRead = hasEnded || this.#lastRequest > this.#lastAsked;
    const isOver =
      resting.has(last.state) &&
      (this.#lastAsked === 0 || (this.#last !== null && last.seq > this.#lastAsked && wasRead));
    const text = [...this.#said.values()]
      .map(({ pieces }) => pieces.join("").trim())
      .filter((piece) => piece !== "")
      .join("\n\n");
    return {
      through,
      isOver,
      isAnswer: text !== "" || this.#lastAsked > 0,
      text,
      failure: failureOf(last, text, this.#lastAsked) ?? (this.#cut === null ? null : cutWords(this.#cut)),
      waiting: [...this.#actions].flatMap(([ref, standing]) => (standing === "PendingApproval" ? [ref] : [])),
      made: [...this.#made],
    };
  }

  #say({ id, parts, partial, cut }: Extract<Entry, { kind: "message" }>): void {
    this.#cut = cut ?? null;
    const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    const known = this.#said.get(id);
    if (known?.isWhole === true) return;
    const isNew = known === undefined || partial !== true;
    // The whole message replaces its parts.
    if (isNew) for (const piece of known?.pieces ?? []) this.#characters -= piece.length;
    const said = isNew ? { pieces: [], isWhole: false } : known;
    said.isWhole = partial !== true;
    this.#said.set(id, said);
    // Only the beginning of a very long one is written.
    if (this.#characters > maxAnswerCharacters) return;
    this.#characters += text.length;
    said.pieces.push(text);
  }
}

function failureOf(
  { state, error }: { readonly state: ProcessState; readonly error: string | null },
  text: string,
  lastAsked: number,
): string | null {
  if (state === "Failed") return error ?? "It failed.";
  if (lastAsked === 0) return null;
  if (state === "Cancelled") return "It was stopped.";
  return text === "" ? "It had nothing to say." : null;
}
