import type { Answer, ProgramExports } from "../ports.ts";

/** An identifier of the filter language. */
export interface FilterWord {
  readonly name: string;
  readonly kind: "field" | "function" | "method" | "keyword";
  readonly signature: string;
  readonly description: string;
  readonly values?: readonly string[];
}

export interface EventHelp {
  readonly name: string;
  readonly description: string;
  readonly fields: Readonly<Record<string, { readonly type: string; readonly description: string }>>;
}

/** The knowledge of `events/` that editing a manifest needs. */
export interface EventLanguage {
  readonly eventTypes: readonly EventHelp[];
  readonly isCustomEvent: (name: string) => boolean;
  readonly filterWords: (eventName: string) => readonly FilterWord[];
  readonly filterMembers: (receiver: string, eventName: string) => readonly FilterWord[];
  readonly scheduleInWords: (expression: string) => Promise<string | null>;
  /** Returns the next run times in UTC, ISO 8601. Empty if the expression or the time zone is invalid. */
  readonly nextRuns: (
    expression: string,
    timezone: string | undefined,
    nowMs: number,
    count: number,
  ) => readonly string[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What a manifest says about itself. All its texts are untrusted. */
export interface ExtensionSummary {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly tools: readonly string[];
  readonly permissions: readonly string[];
  /** Names of the types that it declares, without the extension. */
  readonly types: readonly string[];
  /** Names of the events that it emits, without the publisher. */
  readonly events: readonly string[];
}

/** The surroundings of one document. Implementations bound what they read. */
export interface Surroundings {
  /** Extensions that can be referred to by id. */
  readonly extensions: () => Answer<readonly ExtensionSummary[]>;
  readonly extension: (reference: {
    readonly path?: string;
    readonly id?: string;
  }) => Answer<ExtensionSummary | null>;
  /**
   * Returns the subfolder names of a folder of the workspace, or relative to the document. Empty if the folder
   * does not exist or is outside the workspace without permission.
   */
  readonly foldersIn: (place: "workspace" | "document", path: string) => Answer<readonly string[]>;
  /** Returns files beside the manifest that may be programs. */
  readonly programs: () => Answer<readonly string[]>;
  /** Returns the outline of the manifest's program, or null if it cannot be determined. */
  readonly programExports: () => Answer<ProgramExports | null>;
}
