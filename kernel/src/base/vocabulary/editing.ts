import type { TextPosition } from "../text-positions.ts";

/** Documents of Lares, from the view of an editor. Positions count UTF-16 units; names and messages are plain text. */

export interface TextRange {
  readonly start: TextPosition;
  readonly end: TextPosition;
}

interface TextEdit {
  readonly range: TextRange;
  readonly newText: string;
}

/** The texts that a client has open; they take precedence over the disk. */
export interface OpenTexts {
  text(uri: string): string | null;
  uris(): Iterable<string>;
}

/** An open document, as the client has it now. */
export interface EditedDocument {
  readonly uri: string;
  readonly text: string;
}

export interface FileEdits {
  readonly uri: string;
  readonly edits: readonly TextEdit[];
}

export interface DocumentFault {
  readonly range: TextRange;
  readonly severity: "error" | "warning" | "information" | "hint";
  readonly code: string;
  readonly message: string;
}

/** A document's faults, and the places read to find them: absolute paths, and folders whose names were read. */
export interface Diagnosis {
  readonly faults: readonly DocumentFault[];
  readonly lookedAt: { readonly paths: readonly string[]; readonly listed: readonly string[] };
}

export interface OfferedFix {
  readonly title: string;
  readonly edits: readonly TextEdit[];
  readonly isPreferred: boolean;
  readonly fault: DocumentFault;
}

/** A part of a document, with its own parts. */
export interface OutlinePart {
  readonly name: string;
  readonly detail: string;
  readonly kind: "extension" | "hook" | "tool" | "permission" | "rule" | "list" | "map" | "value";
  readonly range: TextRange;
  /** The range of its name within `range`. */
  readonly selection: TextRange;
  readonly children: readonly OutlinePart[];
}

export interface Declaration {
  /** The range of the reference in the requested document. */
  readonly origin: TextRange;
  readonly uri: string;
  readonly range: TextRange;
}

/** A place in a document that declares an agent or one of its hooks. */
export interface AgentPlace {
  readonly range: TextRange;
  readonly agent: string;
  readonly hook?: { readonly handler: string; readonly event: string };
}

/** A piece of a sentence, as plain text or as code. It may come from an extension. */
export type Span = string | { readonly code: string };
/** A paragraph, or an item of a list. Whoever shows it escapes it: none of its texts is Markdown. */
export interface Block {
  readonly kind: "paragraph" | "item";
  readonly spans: readonly Span[];
}
export type Explanation = readonly Block[];

/** A completion at the cursor. */
export interface CompletionProposal {
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
  /** A few words beside the label. */
  readonly detail?: string;
  readonly explanation?: Explanation;
  readonly range: TextRange;
  readonly newText: string;
  /** `newText` is a snippet of the LSP. */
  readonly isSnippet: boolean;
  /** What typing is compared with. */
  readonly filterText: string;
}
