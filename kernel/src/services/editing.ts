import type { TextPosition } from "../base/text-positions.ts";
import type {
  AgentPlace,
  CompletionProposal,
  Declaration,
  Diagnosis,
  EditedDocument,
  Explanation,
  FileEdits,
  OfferedFix,
  OpenTexts,
  OutlinePart,
  TextRange,
} from "../base/vocabulary/editing.ts";

/** Help for whoever writes one of the documents Lares reads. Answers for other documents with nothing. */
export interface AuthoringService {
  /** In the order in which they are best shown. What is `open` counts before what is on disk. */
  complete(
    document: EditedDocument,
    position: TextPosition,
    client: { readonly snippets: boolean },
    open: OpenTexts,
  ): Promise<{ readonly items: readonly CompletionProposal[]; readonly isIncomplete: boolean } | null>;
  hover(
    document: EditedDocument,
    position: TextPosition,
  ): Promise<{ readonly range: TextRange; readonly explanation: Explanation } | null>;
  inlayHints(
    document: EditedDocument,
    range: TextRange,
  ): Promise<
    readonly {
      readonly position: TextPosition;
      readonly label: string;
      readonly tooltip: readonly string[];
    }[]
  >;
}

/** What can be asked of a document of ours: ways into it, through it and out of its faults. */
export interface NavigationService {
  /** True for a file of a name that Lares reads. */
  handles(uri: string): boolean;
  /** Names and details are plain text. */
  outline(document: EditedDocument): Promise<readonly OutlinePart[]>;
  definition(
    document: EditedDocument,
    position: TextPosition,
    open: OpenTexts,
  ): Promise<readonly Declaration[]>;
  /** True for a file in which handlers have names: a manifest, or what may be a program. */
  renames(uri: string): boolean;
  /** Returns the name at the position if it can be renamed, otherwise null; null for everything else in a program. */
  prepareRename(
    document: EditedDocument,
    position: TextPosition,
    open: OpenTexts,
  ): Promise<{ readonly range: TextRange; readonly placeholder: string } | null>;
  /** Null as in `prepareRename`; InvalidParams, with a sentence for the person, where the new name is none or is taken. */
  rename(
    document: EditedDocument,
    position: TextPosition,
    newName: string,
    open: OpenTexts,
  ): Promise<readonly FileEdits[] | null>;
  /** Returns the fixes of faults that touch the range. */
  fixes(document: EditedDocument, range: TextRange, open: OpenTexts): Promise<readonly OfferedFix[]>;
  /** Returns places of agents; looks at the first `limit` candidates. */
  agentPlaces(document: EditedDocument, limit: number): Promise<readonly AgentPlace[]>;
}

/** Follows what one document's diagnosis was made from: on disk, and as the client has it open. */
export interface DiagnosisWatch extends Disposable {
  /** From now on it is this one. True where something of it was not followed while it was made. */
  watch(lookedAt: Diagnosis["lookedAt"]): boolean;
  /** The client has another text for this file than before. */
  heardOf(uri: string): void;
}

/** The faults of one document. */
export interface DocumentService {
  /** True for a file of a name that Lares reads. */
  handles(path: string): boolean;
  diagnose(uri: string, text: string, open: OpenTexts): Promise<Diagnosis>;
  /** `changed` is told when what a diagnosis of the document was made from may be otherwise; of everything at once. */
  follow(uri: string, changed: () => void): DiagnosisWatch;
  /** Returns the text of a file in the workspace; null if it does not exist, is too large or is not UTF-8. Never rejects. */
  textOnDisk(uri: string): Promise<string | null>;
}
