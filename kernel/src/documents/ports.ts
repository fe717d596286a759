import type { ResolvedManifest } from "./resolved-manifest.ts";

/** What checks need from elsewhere. Where a port may look at files, it may answer later. */
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

/** The language of hooks, as `events/` speaks it. */
export interface EventPorts {
  readonly eventNames: readonly string[];
  readonly isCustomEvent: (name: string) => boolean;
  readonly compileFilter: (source: string, eventName: string) => FilterCheck;
  readonly compileSchedule: (
    expression: string,
    timezone: string | undefined,
    nowMs: number,
  ) =>
    | { readonly ok: true }
    | { readonly ok: false; readonly part: "schedule" | "timezone"; readonly message: string };
  readonly nowMs: number;
}

/** What a program has; null where that can only be known by running it. */
export interface ProgramExports {
  readonly handlers: readonly string[] | null;
  readonly tools: readonly string[] | null;
}

export interface ManifestPorts {
  readonly events: EventPorts;
  /** Whether a file exists beneath the manifest's folder; the path is relative, "/" separators. */
  readonly fileExists: (path: string) => Answer<boolean>;
  /** Of the program at this path beneath the manifest's folder. Absent or null: not known, so handlers are not checked. */
  readonly programExports?: (main: string) => Answer<ProgramExports | null>;
  readonly kernelVersion: string;
}

/** What a path beneath the workspace turns out to be, links followed. */
export type FolderState = "folder" | "other" | "missing" | "outside";

/** What an entry of `extensions` leads to. */
export type FoundExtension =
  | {
      readonly state: "missing";
      readonly lookedIn: readonly string[];
      /** Ids (for an id) or paths that would have led to an extension. */
      readonly candidates?: readonly string[];
    }
  | {
      readonly state: "invalid";
      readonly file: string;
      /** It is another product's. */
      readonly isForeign: boolean;
    }
  | {
      readonly state: "found";
      readonly file: string;
      readonly manifest: ResolvedManifest;
    }
  | {
      /** Its folder is no place for a program. */
      readonly state: "misplaced";
      readonly file: string;
      /** The sentence that says why. */
      readonly reason: string;
    };

export interface LaresPorts {
  /** Whose document it is: what can reach out or execute counts in the user's and in the defaults only. */
  readonly layer: "workspace" | "user" | "defaults";
  /** Absent: locations are not looked up. */
  readonly folderState?: (path: string) => Answer<FolderState>;
  /** Absent: extensions are not looked up. */
  readonly findExtension?: (
    reference: { readonly path?: string; readonly id?: string },
    /** Canonical locations that the document grants, to whichever extension. */
    granted: readonly string[],
  ) => Answer<FoundExtension>;
}
