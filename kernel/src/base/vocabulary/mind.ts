import type { ProcessKind } from "./principal.ts";

/** A text of the extension, as it was accepted, or one that the person's own folder puts in its place. */
export interface MindText {
  /** Its file's name, as `SOUL.md`. */
  readonly name: string;
  readonly text: string;
}

export interface MindSkill {
  readonly name: string;
  readonly description: string;
  /** The text that `read_skill` returns. */
  readonly text: string;
}

/** The name of a `block` entry that says what the bulletin reads from now on. No block of a mind can have it. */
export const bulletinBlock = "bulletin";

/** A text that stays in the context, and that the mind can edit. */
export interface MindBlock {
  readonly name: string;
  readonly description: string;
  readonly limitCharacters: number;
  readonly isReadOnly: boolean;
  /** Where it is kept: for all conversations of the mind, for one, or in a shared namespace. */
  readonly scope: "mind" | "conversation";
  readonly namespace?: string;
}

/** A file or folder of the workspace from which texts of a mind are read. */
export interface MindSource {
  /** A path of the workspace. */
  readonly path: string;
  readonly kind: "identity" | "prompt" | "skill";
}

export interface WorkerKind {
  readonly name: string;
  readonly description: string;
  /** Its role prompt. */
  readonly prompt: string;
  /** Patterns of the tools that it gets, of those that the mind may use. */
  readonly tools: readonly string[];
  readonly maxTurns: number;
  /** It does not end with its report, but waits for a follow-up. */
  readonly isInteractive: boolean;
  readonly atOnce: number;
}

/** The part of an extension that talks to a language model, with its defaults filled in and its files read. */
export interface MindDefinition {
  readonly identity: readonly MindText[];
  /** The role prompt of each kind of process. */
  readonly prompts: Readonly<Record<ProcessKind, string>>;
  readonly skills: readonly MindSkill[];
  /** Patterns of the tools that workers may get, as `files/*`. */
  readonly tools: readonly string[];
  /** Patterns of the tools that the channel uses itself. */
  readonly directTools: readonly string[];
  readonly blocks: readonly MindBlock[];
  readonly channel: { readonly maxTurns: number };
  readonly branches: { readonly atOnce: number; readonly maxTurns: number };
  readonly workers: readonly WorkerKind[];
  /** Shares of the model's window at which a compaction starts, becomes urgent, and is done without a model. */
  readonly compaction: {
    readonly background: number;
    readonly aggressive: number;
    readonly emergency: number;
  };
  readonly cortex: { readonly everyMs: number; readonly bulletinTokens: number };
  /** Where its texts are read from, as far as that lies in the workspace; absent: nowhere in it. */
  readonly sources?: readonly MindSource[];
}
