import type { TextPosition } from "../text-positions.ts";

/** What documents of ours are to whoever edits them. Positions count UTF-16 units; names and messages are plain text. */

export interface TextRange {
  readonly start: TextPosition;
  readonly end: TextPosition;
}

interface TextEdit {
  readonly range: TextRange;
  readonly newText: string;
}

/** What a client has open; its texts count before what is on disk. */
export interface OpenTexts {
  text(uri: string): string | null;
  uris(): Iterable<string>;
}

/** An open document, as the client has it now. */
export interface EditedDocument {
  readonly uri: string;
  readonly text: string;
}

/** The edits of one file. */
export interface FileEdits {
  readonly uri: string;
  readonly edits: readonly TextEdit[];
}

/** A fault in a document. */
export interface DocumentFault {
  readonly range: TextRange;
  readonly severity: "error" | "warning" | "information" | "hint";
  readonly code: string;
  readonly message: string;
}

/** What was found in a document, and where was looked for it: absolute paths, and folders whose names were read. */
export interface Diagnosis {
  readonly faults: readonly DocumentFault[];
  readonly lookedAt: { readonly paths: readonly string[]; readonly listed: readonly string[] };
}

/** A way to mend a fault. */
export interface OfferedFix {
  readonly title: string;
  readonly edits: readonly TextEdit[];
  readonly isPreferred: boolean;
  readonly fault: DocumentFault;
}

/** A part of a document, with the parts in it. */
export interface OutlinePart {
  readonly name: string;
  readonly detail: string;
  readonly kind: "extension" | "hook" | "tool" | "permission" | "rule" | "list" | "map" | "value";
  readonly range: TextRange;
  /** The part of `range` that is its name. */
  readonly selection: TextRange;
  readonly children: readonly OutlinePart[];
}

/** Where something is declared. */
export interface Declaration {
  /** What names it in the document that was asked about. */
  readonly origin: TextRange;
  readonly uri: string;
  readonly range: TextRange;
}

/** A place in a document that an agent, or one of its hooks, stands for. */
export interface AgentPlace {
  readonly range: TextRange;
  readonly agent: string;
  readonly hook?: { readonly handler: string; readonly event: string };
}

/** A piece of a sentence, shown as it is written, or code. It may be a stranger's. */
export type Span = string | { readonly code: string };
export interface Block {
  readonly kind: "paragraph" | "item";
  readonly spans: readonly Span[];
}
export type Explanation = readonly Block[];

/** Something that may be written at the cursor. */
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
  readonly detail?: string;
  readonly explanation?: Explanation;
  readonly range: TextRange;
  readonly newText: string;
  readonly isSnippet: boolean;
  readonly filterText: string;
}
