import type {
  Diagnostic,
  DocumentSymbol,
  LocationLink,
  Position,
  Range,
  TextEdit,
} from "vscode-languageserver";

/** What a client has open; its texts count before what is on disk. */
export interface OpenTexts {
  text(uri: string): string | null;
  uris(): Iterable<string>;
}

/** The document a request is about, as the client has it. */
export interface EditedDocument {
  readonly uri: string;
  readonly text: string;
}

/** A way to mend a fault. */
export interface OfferedFix {
  readonly title: string;
  readonly edits: readonly TextEdit[];
  readonly isPreferred: boolean;
  readonly diagnostic: Diagnostic;
}

/** The edits of one file. */
export interface FileEdits {
  readonly uri: string;
  readonly edits: readonly TextEdit[];
}

/** A place in a document that an agent, or one of its hooks, stands for. */
export interface AgentPlace {
  readonly range: Range;
  readonly agent: string;
  readonly hook?: { readonly handler: string; readonly event: string };
}

/** What can be asked of a document of ours: ways into it, through it and out of its faults. */
export interface NavigationService {
  /** True for a file of a name that Lares reads. */
  handles(uri: string): boolean;
  /** Names and details are plain text. */
  symbols(document: EditedDocument): Promise<DocumentSymbol[]>;
  definition(document: EditedDocument, position: Position, open: OpenTexts): Promise<LocationLink[]>;
  /** True for a file in which handlers have names: a manifest, or what may be a program. */
  renames(uri: string): boolean;
  /** The name at the position, where it can be another; null where there is none, and for all else in a program. */
  prepareRename(
    document: EditedDocument,
    position: Position,
    open: OpenTexts,
  ): Promise<{ range: Range; placeholder: string } | null>;
  /** Null as in `prepareRename`; InvalidParams, with a sentence for the person, where the new name is none or is taken. */
  rename(
    document: EditedDocument,
    position: Position,
    newName: string,
    open: OpenTexts,
  ): Promise<readonly FileEdits[] | null>;
  /** Of the faults that touch the range. */
  fixes(document: EditedDocument, range: Range, open: OpenTexts): Promise<readonly OfferedFix[]>;
  /** Of the first `limit` places that could be some. */
  agentPlaces(document: EditedDocument, limit: number): Promise<readonly AgentPlace[]>;
}
