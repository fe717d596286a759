import type { Conversation, Entry } from "../protocol.ts";

/** A conversation and entries of it for tests. */
export function conversation(given: Partial<Conversation> = {}): Conversation {
  return {
    id: "c1",
    agent: "test.agent",
    title: "Walks",
    state: "open",
    created: "2026-01-01T12:00:00.000Z",
    updated: "2026-01-01T12:00:00.000Z",
    seq: 1,
    model: "p/m",
    tainted: [],
    unread: 0,
    processes: [
      { id: "channel", kind: "channel", state: "WaitingForInput", started: "2026-01-01T12:00:00.000Z" },
    ],
    context: { tokens: 10, limit: 100 },
    usage: { input_tokens: 1, output_tokens: 2 },
    ...given,
  };
}

export function entry(seq: number, given: Partial<Entry> & Pick<Entry, "kind">): Entry {
  return {
    seq,
    id: `e${seq}`,
    conversation: "c1",
    process: "channel",
    created: "2026-01-01T12:00:00.000Z",
    origin: "workspace",
    turn: "e1",
    ...given,
  } as unknown as Entry;
}

export function said(seq: number, text: string, role: "user" | "assistant" = "assistant"): Entry {
  return entry(seq, {
    kind: "message",
    role,
    origin: role === "user" ? "person" : "model",
    parts: [{ type: "text", text }],
  });
}
