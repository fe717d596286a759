import type { Block, Span } from "../../base/vocabulary/editing.ts";

export function paragraph(...spans: readonly Span[]): Block {
  return { kind: "paragraph", spans };
}

export function item(...spans: readonly Span[]): Block {
  return { kind: "item", spans };
}

export function code(text: string): Span {
  return { code: text };
}
