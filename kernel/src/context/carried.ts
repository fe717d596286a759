import type { Entry } from "../base/vocabulary/conversation.ts";
import { asData, quoted, withoutMiddle } from "./data-text.ts";
import { exactStringsOf, isNumberPhrase, type ExactString, type SaidBy } from "./exact-strings.ts";
import { estimateTokens } from "./tokens.ts";

/** Facts that the program itself keeps of the entries that a summary covers. */
export interface Carried {
  readonly pins: readonly PinnedText[];
  readonly tasks: readonly OpenTask[];
  readonly approvals: readonly WaitingApproval[];
  /** The person's words first, then error texts; newest first. */
  readonly strings: readonly ExactString[];
  /** The number of pins, tasks, approvals and strings that had no room. */
  readonly leftOut: number;
}

export interface PinnedText {
  /** The id of the entry. */
  readonly entry: string;
  readonly text: string;
  /** A person said it, so it still holds; anything else that is pinned only informs. */
  readonly person?: true;
}

interface OpenTask {
  /** The process that works on it. */
  readonly id: string;
  readonly text: string;
}

/** An action or question that a person has not decided about. */
interface WaitingApproval {
  readonly id: string;
  readonly title: string;
}

export const nothingCarried: Carried = { pins: [], tasks: [], approvals: [], strings: [], leftOut: 0 };

/** The share of the window that the carried texts take at most. */
const carriedShare = 0.1;
/** The number of strings, however large the window is: a model finds nothing in a longer list. */
const maxStrings = 1_000;

export interface CarriedInput {
  /** The facts carried over so far. */
  readonly earlier: Carried;
  /** The entries that leave the context. */
  readonly covered: readonly Entry[];
  /** All pins of entries that have left or leave the context. */
  readonly pins: readonly PinnedText[];
  readonly openTasks: readonly OpenTask[];
  readonly approvals: readonly WaitingApproval[];
  /** The model's window in tokens. */
  readonly limit: number;
}

/** Returns what is carried over a compaction: in at most 10 % of the window, pins and open tasks first. */
export function carriedOver(input: CarriedInput): Carried {
  const room = new Room(Math.floor(input.limit * carriedShare) - headingTokens);
  const pins = room.fit(input.pins, (pin, cut) => ({ ...pin, text: cut(pin.text) }), pinText, 0.5);
  const tasks = room.fit(input.openTasks, ({ id, text }, cut) => ({ id, text: cut(text) }), taskText, 0.6);
  const approvals = room.fit(
    input.approvals,
    ({ id, title }, cut) => ({ id, title: cut(title) }),
    approvalText,
    0.5,
  );
  const strings: ExactString[] = [];
  for (const string of ranked(input)) {
    if (strings.length < maxStrings && room.take(string.text)) strings.push(string);
    else room.leftOut++;
  }
  return { pins, tasks, approvals, strings, leftOut: room.leftOut };
}

const ranks: Readonly<Record<SaidBy, number>> = { person: 0, error: 1, model: 2, other: 3 };

/** What names something comes before numbers of the same rank: there are far more of these, and each is newer. */
function rankOf({ text, by }: ExactString): number {
  return ranks[by] + (by !== "error" && isNumberPhrase(text) ? (by === "person" ? 1.5 : 0.5) : 0);
}

/** Returns all strings, each once: names that a person said first, then errors, the person's numbers, and the model's; newest first. */
function ranked({ covered, earlier }: CarriedInput): ExactString[] {
  const best = new Map<string, ExactString>();
  const add = (string: ExactString): void => {
    const known = best.get(string.text);
    // The first mention that is found is the newest one, and gives the place.
    if (known === undefined || ranks[string.by] < ranks[known.by]) best.set(string.text, string);
  };
  for (const entry of covered.toReversed()) for (const string of exactStringsOf(entry)) add(string);
  for (const string of earlier.strings) add(string);
  return [...best.values()].toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** Fits texts into a number of tokens. */
class Room {
  #left: number;
  leftOut = 0;

  constructor(tokens: number) {
    this.#left = tokens;
  }

  /** Takes one line if there is room for it. */
  take(line: string): boolean {
    const tokens = lineTokens(line);
    if (tokens > this.#left) return false;
    this.#left -= tokens;
    return true;
  }

  /** Takes all items, cut as far as their share of what is left requires it, or the newest ones if even that is too much. */
  fit<Item>(
    items: readonly Item[],
    cutItem: (item: Item, cut: (text: string) => string) => Item,
    show: (item: Item) => string,
    share: number,
  ): Item[] {
    const most = this.#left * share;
    const shortest = cuts.length - 1;
    for (const [index, length] of cuts.entries()) {
      const cut = items.map((item) => cutItem(item, (text) => withoutMiddle(text, length)));
      const tokens = cut.map((item) => textTokens(show(item)));
      const all = tokens.reduce((sum, each) => sum + each, 0);
      if (all <= most) {
        this.#left -= all;
        return cut;
      }
      if (index === shortest) return this.#newest(cut, tokens, most);
    }
    return [];
  }

  #newest<Item>(items: readonly Item[], tokens: readonly number[], most: number): Item[] {
    let first = items.length;
    let used = 0;
    while (first > 0 && used + (tokens[first - 1] ?? 0) <= most) used += tokens[--first] ?? 0;
    this.#left -= used;
    this.leftOut += first;
    return items.slice(first);
  }
}

/** Code units of a text, tried in turn. */
const cuts: readonly number[] = [Number.MAX_SAFE_INTEGER, 8_000, 4_000, 2_000, 1_000, 500, 250, 120];

const textTokens = (text: string): number =>
  text.split("\n").reduce((sum, line) => sum + estimateTokens(`\n${line}`) + 1, 0);
const lineTokens = (line: string): number => textTokens(asData("", line)) + 2;

const pinText = ({ entry, text, person }: PinnedText): string =>
  asData(
    `${person === true ? "said by the person and pinned" : "pinned by the person"}: entry ${quoted(entry)}`,
    text,
  );
const taskText = ({ id, text }: OpenTask): string => asData(`open task of the process ${quoted(id)}`, text);
const approvalText = ({ id, title }: WaitingApproval): string =>
  asData("waits for the person", `${quoted(id)}: ${quoted(title)}`);

const personsHeading = "exact strings of what the person said earlier";
const othersHeading = "exact strings of what came earlier";
const leftOutText = (count: number): string =>
  `[${count} more pins, tasks and strings had no room here; the log has them]`;
const headingTokens =
  estimateTokens(`[${personsHeading}]\n[${othersHeading}]\n${leftOutText(999_999_999)}`) + 8;

/** Returns the carried texts as quoted data; empty if there are none. */
export function carriedText({ pins, tasks, approvals, strings, leftOut }: Carried): string {
  const lines = (isWanted: (by: SaidBy) => boolean): string =>
    strings.flatMap(({ text, by }) => (isWanted(by) ? [text] : [])).join("\n");
  const persons = lines((by) => by === "person");
  const others = lines((by) => by !== "person");
  return [
    ...pins.map(pinText),
    ...tasks.map(taskText),
    ...approvals.map(approvalText),
    ...(persons === "" ? [] : [asData(personsHeading, persons)]),
    ...(others === "" ? [] : [asData(othersHeading, others)]),
    ...(leftOut === 0 ? [] : [leftOutText(leftOut)]),
  ].join("\n");
}
