import type { AnswerCut } from "../../../../kernel/src/base/cut-answer.ts";
import type { ShownEntry, ShownEntryOf, ShownPart, ShownProcess } from "./entries.ts";
import type { Streamed, Transcript } from "./transcript.ts";
import { endOf, joined, lengthOf } from "./written-parts.ts";

type CallState = "working" | "done" | "failed" | "waiting";

interface Common {
  /** Unique in its transcript. */
  readonly key: string;
  readonly created: string;
  /** Where its text comes from, if it is foreign. */
  readonly sources?: readonly string[] | undefined;
  /** Those of `sources` that no earlier item has: only these are named beside it. */
  readonly newSources?: readonly string[] | undefined;
  /** The last entry that it was made from: where one can fork, and what is opened whole. */
  readonly seq: number;
  readonly isCut: boolean;
  /** A person had texts of it removed. */
  readonly isRedacted?: true;
}

/** The items of a transcript. */
export type Item = Common &
  (
    | {
        readonly kind: "you";
        readonly id: string;
        readonly from: string;
        /** The extensions that changed what the person wrote. */
        readonly changedBy: readonly string[];
        readonly parts: readonly ShownPart[];
      }
    | {
        readonly kind: "answer";
        readonly id: string;
        readonly parts: readonly (ShownPart | Streamed)[];
        readonly isStreaming: boolean;
        /** The text ends where the process was stopped or failed. */
        readonly isPartial: boolean;
        /** Characters at its beginning that are not shown while it is written. */
        readonly leftOut: number;
        /** The model writes a call of a tool now. */
        readonly isCalling: boolean;
        /** Why the answer ends early, though nothing failed. */
        readonly ending: AnswerCut | undefined;
      }
    | {
        readonly kind: "call";
        readonly tool: string;
        readonly main: string;
        readonly arguments: string;
        readonly state: CallState;
        readonly result: string | undefined;
        readonly ended: string | undefined;
        /** The proposal that the call made. */
        readonly action: string | undefined;
      }
    | { readonly kind: "task"; readonly process: string }
    | { readonly kind: "conclusion"; readonly process: string; readonly text: string }
    | {
        readonly kind: "summary";
        readonly text: string;
        readonly covers: readonly [number, number] | undefined;
      }
    | { readonly kind: "notice"; readonly text: string }
    | { readonly kind: "block"; readonly name: string; readonly text: string }
    | { readonly kind: "change"; readonly words: string }
    | {
        readonly kind: "end";
        readonly process: ShownProcess;
        /** Messages before it that the model has not got. */
        readonly unread: number;
      }
    | { readonly kind: "action"; readonly ref: string; readonly state: string }
    | { readonly kind: "ask"; readonly ref: string; readonly state: string }
  );
export type ItemOf<Kind extends Item["kind"]> = Extract<Item, { kind: Kind }>;

/** A person's message, and everything that followed until their next one. */
export interface Turn {
  readonly key: string;
  readonly items: readonly Item[];
  /** The ids of its proposals. */
  readonly actions: readonly string[];
  /** Equal for equal turns. */
  readonly stamp: string;
}

/** Returns the ids of the pinned entries. `before`: those that were pinned by entries that the page does not have. */
export function pinnedIn(entries: readonly ShownEntry[], before: readonly string[] = []): Set<string> {
  const pinned = new Set(before);
  for (const entry of entries) {
    if (entry.kind !== "pin") continue;
    if (entry.pinned) pinned.add(entry.entry);
    else pinned.delete(entry.entry);
  }
  return pinned;
}

/**
 * Returns the turns of one process; those of the channel have what waits for a person in any process, and the
 * conclusions of the others. `channel`: the channel's id.
 */
export function turnsOf(transcript: Transcript, process: string, channel: string): Turn[] {
  const isMain = process === channel;
  const items = new Items(transcript, process, isMain);
  for (const entry of transcript.entries) items.take(entry);
  return grouped(items.all());
}

class Items {
  readonly #transcript: Transcript;
  readonly #process: string;
  readonly #isMain: boolean;
  readonly #items = new Map<string, Item>();
  readonly #wholes: ReadonlySet<string>;
  readonly #tasks = new Set<string>();
  /** What is logged of answers that are not whole. */
  readonly #logged = new Map<string, ShownPart[]>();
  /** Messages that came since the process last began to answer. */
  #unread = 0;

  constructor(transcript: Transcript, process: string, isMain: boolean) {
    this.#transcript = transcript;
    this.#process = process;
    this.#isMain = isMain;
    this.#wholes = new Set(
      transcript.entries.flatMap((entry) =>
        entry.kind === "message" && entry.partial !== true ? [entry.id] : [],
      ),
    );
  }

  take(entry: ShownEntry): void {
    const isOwn = entry.process === this.#process;
    switch (entry.kind) {
      case "message":
        if (isOwn) this.#message(entry);
        return;
      case "tool_call":
        if (!isOwn) return;
        this.#unread = 0;
        return this.#put(`call ${entry.call}`, entry, {
          kind: "call",
          tool: entry.tool,
          main: entry.main,
          arguments: entry.arguments,
          state: "working",
          result: undefined,
          ended: undefined,
          action: undefined,
        });
      case "tool_result":
        if (isOwn) this.#result(entry);
        return;
      case "conclusion":
        if (isOwn || this.#isMain)
          this.#put(`conclusion ${entry.id}`, entry, {
            kind: "conclusion",
            process: entry.process,
            text: entry.text,
          });
        return;
      case "summary":
        if (this.#isMain)
          this.#put(`summary ${entry.id}`, entry, {
            kind: "summary",
            text: entry.text,
            covers: entry.covers,
          });
        return;
      case "notice":
        if (this.#isMain) this.#put(`notice ${entry.id}`, entry, { kind: "notice", text: entry.text });
        return;
      case "block":
        if (isOwn)
          this.#put(`block ${entry.id}`, entry, { kind: "block", name: entry.name, text: entry.text });
        return;
      case "meta":
        if (this.#isMain && entry.model !== undefined)
          this.#put(`change ${entry.id}`, entry, {
            kind: "change",
            words:
              entry.model === "" ? "The usual model answers from here." : `${entry.model} answers from here.`,
          });
        return;
      case "process":
        return this.#processEntry(entry);
      case "action":
      case "ask":
        if (isOwn || this.#isMain) this.#decision(entry);
        return;
      case "pin":
      case "void":
    }
  }

  all(): Item[] {
    for (const [key, logged] of this.#logged) {
      const item = this.#items.get(key);
      if (item?.kind === "answer" && !this.#transcript.streams.has(item.id))
        this.#items.set(key, { ...item, parts: joined(logged) });
    }
    for (const [id, { process, pieces, isCalling }] of this.#transcript.streams) {
      if (process !== this.#process) continue;
      const key = `message ${id}`;
      const before = this.#items.get(key);
      const { parts, leftOut } = endOf([...(this.#logged.get(key) ?? []), ...pieces]);
      this.#items.set(key, {
        ...(before ?? { key, created: "", seq: Number.MAX_SAFE_INTEGER, isCut: false }),
        kind: "answer",
        id,
        parts,
        isStreaming: true,
        isPartial: false,
        leftOut,
        isCalling,
        ending: undefined,
      });
    }
    return [...this.#items.values()].map((item) => this.#decided(item));
  }

  /** A call that made a proposal is what became of the proposal. */
  #decided(item: Item): Item {
    if (item.kind !== "call" || item.action === undefined) return item;
    const proposal = this.#items.get(`action ${item.action}`);
    if (proposal?.kind !== "action" || proposal.state === "PendingApproval") return item;
    return { ...item, state: proposal.state === "Committed" ? "done" : "failed" };
  }

  #message(entry: ShownEntryOf<"message">): void {
    const { id, parts, cut, by } = entry;
    if (this.#transcript.isVoid(id)) return;
    const key = `message ${id}`;
    if (entry.role === "user") {
      const before = this.#items.get(key);
      if (before === undefined && entry.origin !== "kernel" && entry.origin !== "decision") this.#unread++;
      const changed = before?.kind === "you" ? before.changedBy : [];
      const changedBy = by === undefined || changed.includes(by) ? changed : [...changed, by];
      return this.#put(key, entry, { kind: "you", id, from: entry.origin, changedBy, parts });
    }
    const isPartial = entry.partial === true;
    if (isPartial && this.#wholes.has(id)) return;
    if (isPartial) {
      const logged = this.#logged.get(key);
      if (logged === undefined) {
        this.#logged.set(key, [...parts]);
        this.#unread = 0;
      } else logged.push(...parts);
    } else {
      this.#logged.delete(key);
      this.#unread = 0;
    }
    // An answer that only calls tools is told by its calls.
    if (parts.length === 0 && cut === undefined) return;
    this.#put(key, entry, {
      kind: "answer",
      id,
      parts: isPartial ? [] : parts,
      isStreaming: false,
      isPartial,
      leftOut: 0,
      isCalling: false,
      ending: cut,
    });
  }

  #result(entry: ShownEntryOf<"tool_result">): void {
    const { call, status, text, action, created, seq, isCut, isRedacted, sources } = entry;
    const key = `call ${call}`;
    const before = this.#items.get(key);
    if (before?.kind !== "call") return;
    const state = status === "success" ? "done" : status === "error" ? "failed" : "waiting";
    this.#items.set(key, {
      ...before,
      state,
      result: text,
      ended: created,
      action,
      seq,
      isCut: isCut === true,
      ...(isRedacted === true ? { isRedacted } : {}),
      sources: sources ?? before.sources,
    });
  }

  #processEntry(entry: ShownEntryOf<"process">): void {
    const { value } = entry;
    const isShown = value.id === this.#process;
    if (isShown && (value.state === "Failed" || value.state === "Cancelled")) {
      this.#put(`end ${entry.id}`, entry, { kind: "end", process: value, unread: this.#unread });
      this.#unread = 0;
      return;
    }
    if (isShown && value.state === "Running") this.#unread = 0;
    if (isShown || value.kind === "channel" || this.#tasks.has(value.id)) return;
    const isChild = value.parent === this.#process;
    if (!isChild && !(this.#isMain && value.parent === undefined)) return;
    this.#tasks.add(value.id);
    this.#put(`task ${value.id}`, entry, { kind: "task", process: value.id });
  }

  #decision(entry: ShownEntryOf<"action" | "ask">): void {
    const key = `${entry.kind} ${entry.ref}`;
    const before = this.#items.get(key);
    if (before === undefined)
      return this.#put(key, entry, { kind: entry.kind, ref: entry.ref, state: entry.state });
    if (before.kind === entry.kind) this.#items.set(key, { ...before, state: entry.state });
  }

  #put(key: string, { created, seq, sources, isCut, isRedacted }: ShownEntry, item: Distributed<Item>): void {
    this.#items.set(key, {
      key,
      created,
      seq,
      isCut: isCut === true,
      ...(isRedacted === true ? { isRedacted } : {}),
      ...(sources === undefined ? {} : { sources }),
      ...item,
    });
  }
}

type Distributed<Of> = Of extends unknown ? Omit<Of, keyof Common> : never;

function grouped(items: readonly Item[]): Turn[] {
  const turns: { key: string; items: Item[] }[] = [];
  const known = new Set<string>();
  for (const each of items) {
    const newSources = (each.sources ?? []).filter((source) => !known.has(source));
    for (const source of newSources) known.add(source);
    const item = newSources.length === 0 ? each : { ...each, newSources };
    const last = turns.at(-1);
    // Messages that came one after the other belong to one turn.
    const begins = item.kind === "you" && last?.items.at(-1)?.kind !== "you";
    if (last === undefined || begins) turns.push({ key: item.key, items: [item] });
    else last.items.push(item);
  }
  return turns.map(({ key, items: own }) => ({
    key,
    items: own,
    actions: own.flatMap((item) => (item.kind === "action" ? [item.ref] : [])),
    stamp: own.map((item) => `${stampOf(item)}${item.isRedacted === true ? "r" : ""}`).join(" "),
  }));
}

function stampOf(item: Item): string {
  switch (item.kind) {
    case "answer": {
      const size = item.parts.reduce((sum, part) => sum + lengthOf(part), item.leftOut);
      return `${item.key}:${item.seq}:${size}:${Number(item.isStreaming)}${Number(item.isPartial)}${Number(item.isCalling)}`;
    }
    case "call":
    case "action":
    case "ask":
      return `${item.key}:${item.state}`;
    case "you":
    case "task":
    case "conclusion":
    case "summary":
    case "notice":
    case "block":
    case "change":
    case "end":
      return `${item.key}:${item.seq}`;
  }
}
