import type { Entry, Process } from "../../../base/vocabulary/conversation.ts";
import { anAction } from "../../testing/fake-kernel.ts";
import { renderChat } from "../render/screen.ts";
import { noStyle, type Style } from "../../render/style.ts";
import type { Action } from "../../../base/vocabulary/action.ts";
import type { Key } from "../../keyboard/key.ts";
import type { Size } from "../../review/state/state.ts";
import type { ChatCommand, ChatInput } from "../input.ts";
import { newChat, type ChatState } from "../state/state.ts";
import { update } from "../update.ts";

const created = "2026-11-20T10:00:00.000Z";
const nowMs = Date.parse("2026-11-20T10:00:10.000Z");

export const aConversation: ChatState["conversation"] = {
  id: "01a2162a-6b76-708b-abc7-bc622930fd59",
  agent: "dev.lares.steward",
  title: "Photos of a trip",
  state: "open",
  created,
  updated: created,
  seq: 0,
  model: "script/script",
  tainted: [],
  unread: 0,
  processes: [],
  context: { tokens: 1_204, limit: 8_000 },
  usage: { input_tokens: 1_000, output_tokens: 204, usd: 0.4213 },
};

type Without<Value, Keys extends string> = Value extends unknown ? Omit<Value, Keys> : never;
export type EntryFields = Without<
  Entry,
  "seq" | "id" | "conversation" | "process" | "created" | "origin" | "turn" | "by"
> &
  Partial<Pick<Entry, "id" | "process" | "origin" | "by">>;

export function anEntry(seq: number, fields: EntryFields): Entry {
  const common = {
    seq,
    id: `e${seq}`,
    conversation: aConversation.id,
    process: "channel",
    created,
    origin: "model",
    turn: "e1",
  };
  return { ...common, ...fields };
}

export function aProcess(id: string, more: Partial<Process> = {}): EntryFields {
  const value: Process = { id, kind: "worker", state: "Running", started: created, ...more };
  return { kind: "process", value };
}

export const channel = (state: Process["state"], more: Partial<Process> = {}): EntryFields =>
  aProcess("channel", { kind: "channel", state, ...more });

export const says = (
  text: string,
  more: Partial<Extract<EntryFields, { kind: "message" }>> = {},
): EntryFields => ({
  kind: "message",
  role: "assistant",
  parts: [{ type: "text", text }],
  ...more,
});

export const asks = (text: string): EntryFields => ({
  kind: "message",
  role: "user",
  origin: "person",
  parts: [{ type: "text", text }],
});

/** Walks through a chat: gives it inputs, and keeps what it asked the session for. */
export class ChatWalk {
  state: ChatState;
  readonly commands: ChatCommand[] = [];
  #seq = 0;
  #atMs = nowMs;

  constructor(
    size: Size = { columns: 80, rows: 24 },
    more: { readonly style?: Style; readonly isAscii?: boolean; readonly rehearsal?: string } = {},
  ) {
    this.state = newChat({
      screenStyle: { style: more.style ?? noStyle, isAscii: more.isAscii ?? false },
      size,
      nowMs,
      agentName: "Steward",
      rehearsal: more.rehearsal ?? null,
      conversation: aConversation,
    });
  }

  give(...inputs: readonly ChatInput[]): this {
    for (const input of inputs) {
      const { state, commands } = update(this.state, input);
      this.state = state;
      this.commands.push(...commands);
    }
    this.state = update(this.state, { kind: "drawn" }).state;
    return this;
  }

  entries(...fields: readonly EntryFields[]): this {
    return this.give({
      kind: "news",
      news: fields.map((each) => ({ kind: "entry", entry: anEntry(++this.#seq, each) })),
    });
  }

  writes(text: string, message = "m", type: "text" | "reasoning" | "tool_call" = "text"): this {
    const delta = { process: "channel", message, part: 0, type, text };
    return this.give({ kind: "news", news: [{ kind: "delta", delta }] });
  }

  action(id: string, more: Partial<Action> = {}): this {
    return this.give({ kind: "whole", whole: { action: anAction(id, more), unread: new Map() } });
  }

  /** Presses keys: names in angle brackets, all else as text. "<C-c>" is Ctrl-C, "<M-return>" Alt-Enter. */
  press(keys: string): this {
    for (const [token, name] of keys.matchAll(/<([\w-]+)>|[^]/gu)) {
      const [, modifier, base = ""] = /^(?:([CM])-)?(.*)$/.exec(name ?? token) ?? [];
      const key: Key = {
        name: token === " " ? "space" : base,
        text: name === undefined ? token : "",
        isControl: modifier === "C",
        isShift: false,
        ...(modifier === "M" ? { isMeta: true } : {}),
      };
      this.give({ kind: "key", key, atMs: (this.#atMs += 10) });
    }
    return this;
  }

  /** Lets time pass before the next key. */
  wait(ms: number): this {
    this.#atMs += ms;
    return this;
  }

  /** The screen as a person sees it. */
  get screen(): string {
    return renderChat(this.state)
      .frame.map((cells) =>
        cells
          .map(({ text }) => text)
          .join("")
          .trimEnd(),
      )
      .join("\n");
  }
}

/** A conversation that has begun. */
export const begun = (walk = new ChatWalk()): ChatWalk => walk.entries(channel("WaitingForInput"));

/** A conversation with something of everything. */
export function full(walk: ChatWalk): ChatWalk {
  return begun(walk)
    .entries(
      asks("Which of the trip photos are doubles?"),
      channel("Running"),
      says("Let me see.", {
        id: "m1",
        parts: [
          { type: "reasoning", text: "I look at the names first." },
          { type: "text", text: "Let me **see**:\n\n1. names\n2. sizes" },
        ],
      }),
      { kind: "tool_call", call: "c1", tool: "files/list", arguments: { path: "photos/2024" } },
      { kind: "tool_result", call: "c1", result: { status: "success", value: { files: ["dunes.jpg"] } } },
      { kind: "tool_call", call: "c2", tool: "files/read", arguments: { path: "gone.md" } },
      {
        kind: "tool_result",
        call: "c2",
        result: { status: "error", message: "There is no file gone.md.", recoverable: true },
      },
      aProcess("b", {
        kind: "branch",
        task: "Compare the two albums",
        state: "Done",
        ended: "2026-11-20T10:00:04.000Z",
      }),
      { kind: "conclusion", text: "37 pictures are in **both**.", process: "b" },
      aProcess("w", { task: "Find doubles", name: "research", status: "118 of 212 compared" }),
      aProcess("x", { task: "Name the scans", state: "WaitingForApproval" }),
      { kind: "notice", text: "The budget of today is nearly used." },
      { kind: "action", ref: "sea", state: "PendingApproval", process: "x" },
    )
    .action("sea");
}
