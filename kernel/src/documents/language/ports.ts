import type { Answer, ProgramExports } from "../ports.ts";

/** A word of the language of filters. */
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

/** What `events/` knows, for whoever writes a manifest. */
export interface EventLanguage {
  readonly eventTypes: readonly EventHelp[];
  readonly isCustomEvent: (name: string) => boolean;
  readonly filterWords: (eventName: string) => readonly FilterWord[];
  readonly filterMembers: (receiver: string, eventName: string) => readonly FilterWord[];
  readonly scheduleInWords: (expression: string) => Promise<string | null>;
  /** The next times after `nowMs`, UTC, ISO 8601; empty where the expression or the time zone is none. */
  readonly nextRuns: (
    expression: string,
    timezone: string | undefined,
    nowMs: number,
    count: number,
  ) => readonly string[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What a manifest says of itself. Every text of it is a stranger's. */
export interface ExtensionSummary {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly tools: readonly string[];
  readonly permissions: readonly string[];
  /** Names of the events it emits, without the publisher. */
  readonly events: readonly string[];
}

/** What lies around one document. Whoever implements it bounds what it reads. */
export interface Surroundings {
  /** Those that an id can name. */
  readonly extensions: () => Answer<readonly ExtensionSummary[]>;
  readonly extension: (reference: {
    readonly path?: string;
    readonly id?: string;
  }) => Answer<ExtensionSummary | null>;
  /**
   * Names of the folders in a folder: of the workspace, or relative to the document's own. Empty where there is no such
   * folder, or it leads out of the workspace and may not.
   */
  readonly foldersIn: (place: "workspace" | "document", path: string) => Answer<readonly string[]>;
  /** Files beside the manifest that may be programs. */
  readonly programs: () => Answer<readonly string[]>;
  /** What the manifest's program has; null where that cannot be known. */
  readonly programExports: () => Answer<ProgramExports | null>;
}
