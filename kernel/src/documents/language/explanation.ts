/** A piece of a sentence: ours or anybody's, it is shown as it is written; or code. */
type Span = string | { readonly code: string };

/** A paragraph, or an item of a list. Whoever shows it escapes it: no text in here is Markdown. */
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
