import type { Clock } from "../base/clock.ts";
import type { Emitter } from "../base/emitter.ts";
import type { AgentLimits, Permissions } from "../base/vocabulary/permissions.ts";

/** A running guest: its pipes and its end. */
export interface GuestPipe {
  /** Writes a line to its stdin and adds "\n". */
  send(line: string): void;
  /** Writes bytes to its stdin as they are. */
  sendBytes(bytes: Uint8Array): void;
  /** Complete lines of its stdout, without "\n". */
  readonly lines: Emitter<string>;
  readonly exited: Promise<{ readonly reason: string }>;
  kill(reason?: string): Promise<void>;
}

/** A hook of the manifest that the program handles. */
export interface SubjectHook {
  readonly handler: string;
  /** An event as the kernel would send it, without `id` and `timestamp`. */
  readonly event: Readonly<Record<string, unknown>>;
  /** A hook with `intercept: true`. */
  readonly isQuestion: boolean;
}

export interface SubjectTool {
  readonly name: string;
  /** The name that the guest is asked for: one of its `tools`. */
  readonly handler: string;
  /** Arguments that fit its schema; null if none could be made, and the tool is not called. */
  readonly arguments: unknown;
}

/** The facts of the manifest beside the program. */
export interface SubjectManifest {
  readonly hooks: readonly SubjectHook[];
  readonly tools: readonly SubjectTool[];
  /** Named actions; `handler` is one of the guest's `actions`. */
  readonly actions: readonly SubjectTool[];
}

/** The program that is tried. */
export interface Subject {
  readonly extension: { readonly id: string; readonly version: string };
  readonly permissions: Permissions;
  readonly limits: AgentLimits;
  /** Null if there is none: rules about hooks and tools do not apply. */
  readonly manifest: SubjectManifest | null;
  /**
   * Starts the program in a guest of its own. Throws LaresError "AgentError" with `facts.reason` "program" if it cannot
   * be loaded.
   */
  start(): Promise<GuestPipe>;
}

/** How long the kernel waits, in milliseconds. */
export interface Patience {
  /** For an answer that the guest owes at once: to `ping`, `cancelJob` and `cancelTool`. */
  readonly promptMs: number;
  /** For the first answer, with the program's own loading. */
  readonly initializeMs: number;
  /** For the answer of a handler whose host calls are answered. */
  readonly answerMs: number;
  /** From the answer to `shutdown` to the guest's end. */
  readonly exitMs: number;
  /** For one rule as a whole. */
  readonly ruleMs: number;
}

export interface ConformancePorts {
  readonly clock: Clock;
  readonly patience: Patience;
  /** Called before a rule is tried. */
  readonly onRule?: (rule: string) => void;
  readonly signal?: AbortSignal;
}

export const bounds = {
  /** Entries of the manifest that one rule tries. */
  maxTried: 16,
  /** Host calls of one guest that are kept for later rules. */
  maxSeenCalls: 1000,
  /** Sentences about the same rule that are kept. */
  maxDetails: 3,
  /** Lines that are kept while invalid ones are provoked, and characters of each. */
  maxProvoked: 100,
  maxProvokedCharacters: 4096,
  /** Characters of the host calls that are kept. */
  maxSeenCharacters: 4 * 1024 * 1024,
} as const;
