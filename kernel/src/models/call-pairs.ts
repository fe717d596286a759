import type { ModelMessage, ModelToolCall, ModelToolResult } from "../base/vocabulary/model.ts";

/** A call of the history and the result that belongs to it. */
export interface Pair {
  readonly result: ModelToolResult;
  /** The index of the result's message. */
  readonly message: number;
  /** True if there is another message between the two. */
  readonly isApart: boolean;
}

export interface Pairing {
  readonly pairs: ReadonlyMap<ModelToolCall, Pair>;
  /** How many results of a message belong to no call, by its index. */
  readonly unpaired: ReadonlyMap<number, number>;
}

/**
 * Finds the result of each call from a message on. Some models reuse one id for every call: a reused id leaves its earlier calls
 * without a result, and equal ids within one message are matched in order.
 */
export function pairCalls(messages: readonly ModelMessage[], from: number): Pairing {
  const pairs = new Map<ModelToolCall, Pair>();
  const unpaired = new Map<number, number>();
  const open = new Map<string, { readonly calls: ModelToolCall[]; readonly message: number }>();
  let lastSpoken = -1;
  for (let index = from; index < messages.length; index++) {
    const message = messages[index];
    if (message?.role === "assistant")
      for (const part of message.parts) {
        if (part.type !== "tool_call") continue;
        const waiting = open.get(part.call);
        if (waiting?.message === index) waiting.calls.push(part);
        else open.set(part.call, { calls: [part], message: index });
      }
    if (message?.role !== "tool") {
      lastSpoken = index;
      continue;
    }
    for (const result of message.parts) {
      const waiting = open.get(result.call);
      const call = waiting?.calls.shift();
      if (waiting === undefined || call === undefined) unpaired.set(index, (unpaired.get(index) ?? 0) + 1);
      else pairs.set(call, { result, message: index, isApart: lastSpoken !== waiting.message });
    }
  }
  return { pairs, unpaired };
}
