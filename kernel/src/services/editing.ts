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

/** Help for authors of the documents that Lares reads. Returns nothing for other documents. */
export interface AuthoringService {
  /** In display order. The texts in `open` take precedence over the disk. */
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

/** Navigation in the documents that Lares reads, renames, and fixes of their faults. */
export interface NavigationService {
  /** True for a file with a name that Lares reads. */
  handles(uri: string): boolean;
  /** Names and details are plain text. */
  outline(document: EditedDocument): Promise<readonly OutlinePart[]>;
  definition(
    document: EditedDocument,
    position: TextPosition,
    open: OpenTexts,
  ): Promise<readonly Declaration[]>;
  /** True for a file that may contain names of handlers: a manifest or a program. */
  renames(uri: string): boolean;
  /** Returns the name at the position if it can be renamed, otherwise null; null for everything else in a program. */
  prepareRename(
    document: EditedDocument,
    position: TextPosition,
    open: OpenTexts,
  ): Promise<{ readonly range: TextRange; readonly placeholder: string } | null>;
  /** Returns null as in `prepareRename`; InvalidParams, with a sentence for people, if the name is invalid or taken. */
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

/** Watches the inputs of one document's diagnosis, on disk and in the client's editors. */
export interface DiagnosisWatch extends Disposable {
  /** Replaces the watched inputs. Returns true if some of them were not watched while the diagnosis was made. */
  watch(lookedAt: Diagnosis["lookedAt"]): boolean;
  /** Called when the client has a new text for this file. */
  heardOf(uri: string): void;
}

export interface DocumentService {
  /** True for a file with a name that Lares reads. */
  handles(path: string): boolean;
  diagnose(uri: string, text: string, open: OpenTexts): Promise<Diagnosis>;
  /** Calls `changed` when inputs of the document's diagnosis may have changed; reports several changes together. */
  follow(uri: string, changed: () => void): DiagnosisWatch;
  /** Returns the text of a file in the workspace; null if it does not exist, is too large or is not UTF-8. Never rejects. */
  textOnDisk(uri: string): Promise<string | null>;
}
