import type { DeclaredEvent, ResolvedManifest } from "./resolved-manifest.ts";

/** What the checks need from other rooms. A port that may read files may answer asynchronously. */
export type Answer<Value> = Value | Promise<Value>;

interface FilterEdit {
  readonly offset: number;
  readonly length: number;
  readonly newText: string;
}

export type FilterCheck =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly message: string;
      readonly offset: number;
      readonly length: number;
      readonly oldSpelling?: boolean;
      readonly fix?: { readonly title: string; readonly edits: readonly FilterEdit[] };
    };

/** The hook language, as `events/` implements it. */
export interface EventPorts {
  readonly eventNames: readonly string[];
  readonly isCustomEvent: (name: string) => boolean;
  /** `schema`: the JSON Schema of a custom event's fields; without it, any field may exist. */
  readonly compileFilter: (
    source: string,
    eventName: string,
    schema?: Readonly<Record<string, unknown>>,
  ) => FilterCheck;
  readonly compileSchedule: (
    expression: string,
    timezone: string | undefined,
    nowMs: number,
    activeHours: string | undefined,
  ) =>
    | { readonly ok: true }
    | {
        readonly ok: false;
        readonly part: "schedule" | "timezone" | "active_hours";
        readonly message: string;
      };
  readonly nowMs: number;
}

/** What a program contains; null if that is only known by running it. */
export interface ProgramExports {
  readonly handlers: readonly string[] | null;
  readonly tools: readonly string[] | null;
  /** Absent: not known. */
  readonly actions?: readonly string[] | null;
}

/** A file beneath an extension's folder, or the reason why it is not read. */
export type FileText =
  /** With its byte order mark, if it has one. */
  | { readonly text: string; readonly refused?: undefined; readonly size?: undefined }
  | {
      readonly text: null;
      /**
       * `unreadable`: this user may not read it. `encoding`: it is not UTF-8. `no-room`: with the texts of other extensions
       * it is too much.
       */
      readonly refused:
        "missing" | "outside" | "no-file" | "too-large" | "unreadable" | "encoding" | "no-room";
      /** In bytes, for a file that is too large. */
      readonly size?: number;
    };

/** A folder in a folder; `outside`: a link that leads out of the extension's folder. */
export interface NamedFolder {
  readonly name: string;
  readonly state: "folder" | "outside";
}

/** Reads what belongs to an extension, beneath the manifest's folder. Paths are relative with "/" separators. */
export interface ExtensionFiles {
  readonly read: (path: string, maxBytes: number) => Answer<FileText>;
  /** Returns the folders in a folder, by name, without hidden ones; none if it cannot be listed. */
  readonly folders: (path: string) => Answer<readonly NamedFolder[]>;
}

export interface ManifestPorts {
  readonly events: EventPorts;
  /** True if a file exists below the manifest's folder. The path is relative with "/" separators. */
  readonly fileExists: (path: string) => Answer<boolean>;
  /**
   * Returns the outline of the program at this path below the manifest's folder. Handlers are not checked if it is
   * absent or null.
   */
  readonly programExports?: (main: string) => Answer<ProgramExports | null>;
  /** If absent, the files of a mind are neither read nor checked. */
  readonly files?: ExtensionFiles;
  /** Returns the ids of the extensions that can be found; if absent, they are not checked. */
  readonly extensionIds?: () => Answer<ReadonlySet<string>>;
  /**
   * Returns what an extension says that it emits; null if it cannot be found, or declares no events. If absent, events of
   * other extensions are not checked.
   */
  readonly declaredEvents?: (extension: string) => Answer<readonly DeclaredEvent[] | null>;
  /**
   * Returns the names of the types that an extension declares; null if it cannot be found. If absent, types of other
   * extensions are not checked.
   */
  readonly declaredTypes?: (extension: string) => Answer<readonly string[] | null>;
  readonly kernelVersion: string;
}

/** The result of resolving a path below the workspace, with links followed. */
export type FolderState = "folder" | "other" | "missing" | "outside";

/** The result of resolving an entry of `extensions`. */
export type FoundExtension =
  | {
      readonly state: "missing";
      readonly lookedIn: readonly string[];
      /** The ids (for an id) or paths that would have led to an extension. */
      readonly candidates?: readonly string[];
    }
  | {
      readonly state: "invalid";
      readonly file: string;
      /** The manifest belongs to another product. */
      readonly isForeign: boolean;
    }
  | {
      readonly state: "found";
      readonly file: string;
      readonly manifest: ResolvedManifest;
    }
  | {
      /** Its folder must not contain a program. */
      readonly state: "misplaced";
      readonly file: string;
      /** The reason as a sentence. */
      readonly reason: string;
    };

export interface LaresPorts {
  /**
   * The document's owner. Settings that allow network access or execution apply only in the user's document and
   * the defaults.
   */
  readonly layer: "workspace" | "user" | "defaults";
  /** If absent, locations are not checked. */
  readonly folderState?: (path: string) => Answer<FolderState>;
  /** If absent, extensions are not checked. */
  readonly findExtension?: (
    reference: { readonly path?: string; readonly id?: string },
    /** Canonical locations that the document grants to any extension. */
    granted: readonly string[],
  ) => Answer<FoundExtension>;
}
