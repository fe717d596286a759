import type { Position, Range } from "vscode-languageserver";
import type { OpenTexts } from "./ports.ts";

/** An open document, as the client has it now. */
export interface OpenText {
  readonly uri: string;
  readonly text: string;
}

/** A piece of a sentence, shown as it is written, or code. It may be a stranger's: see `markup.ts`. */
export type Span = string | { readonly code: string };
export interface Block {
  readonly kind: "paragraph" | "item";
  readonly spans: readonly Span[];
}
export type Explanation = readonly Block[];

/** Something that may be written at the cursor. */
export interface Proposal {
  readonly label: string;
  readonly kind:
    | "key"
    | "table"
    | "value"
    | "choice"
    | "event"
    | "field"
    | "function"
    | "method"
    | "keyword"
    | "handler"
    | "extension"
    | "folder"
    | "file";
  readonly detail?: string;
  readonly explanation?: Explanation;
  readonly range: Range;
  readonly newText: string;
  readonly isSnippet: boolean;
  readonly filterText: string;
}

/** Help for whoever writes one of the documents Lares reads. Answers for other documents with nothing. */
export interface AuthoringService {
  /** In the order in which they are best shown. What is `open` counts before what is on disk. */
  complete(
    document: OpenText,
    position: Position,
    client: { readonly snippets: boolean },
    open: OpenTexts,
  ): Promise<{ readonly items: readonly Proposal[]; readonly isIncomplete: boolean } | null>;
  hover(
    document: OpenText,
    position: Position,
  ): Promise<{ readonly range: Range; readonly explanation: Explanation } | null>;
  inlayHints(
    document: OpenText,
    range: Range,
  ): Promise<
    readonly { readonly position: Position; readonly label: string; readonly tooltip: readonly string[] }[]
  >;
}
