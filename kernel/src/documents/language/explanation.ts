/** A piece of a sentence: literal text, ours or a third party's, or code. */
type Span = string | { readonly code: string };

/** A paragraph or a list item. The renderer escapes it: no text in it is Markdown. */
interface Block {
  readonly kind: "paragraph" | "item";
  readonly spans: readonly Span[];
}

export type Explanation = readonly Block[];

export function paragraph(...spans: readonly Span[]): Block {
  return { kind: "paragraph", spans };
}

export function item(...spans: readonly Span[]): Block {
  return { kind: "item", spans };
}

export function code(text: string): Span {
  return { code: text };
}
