import type { Action } from "./action.ts";
import type { EventBase } from "./event-base.ts";

/** The fields of every event of a conversation. */
export interface MindEvent extends EventBase {
  /** The agent whose mind it is. */
  readonly agent: string;
  readonly conversation: string;
  /** The id of the process in the conversation. */
  readonly process: string;
}

/** A person wrote something, and the mind has not read it yet. */
export interface UserInput extends MindEvent {
  readonly text: string;
  /** True if it is left out: another agent has put something into it that this one may not have. Then it cannot be changed. */
  readonly withheld: boolean;
}

/** A request to the model is about to be sent. */
export interface Context extends MindEvent {
  readonly messages: readonly ContextMessage[];
  /**
   * True if a part is left out: it may hold what this agent cannot see, or neither the person nor the model wrote it and the
   * agent can reach a host, itself or through others.
   */
  readonly withheld: boolean;
}

export type ContextMessage =
  | { readonly role: "system"; readonly text: string }
  | { readonly role: "user" | "assistant" | "tool"; readonly parts: readonly ContextPart[] };

export interface ContextPart {
  readonly type: "text" | "reasoning" | "image" | "tool_call" | "tool_result";
  readonly text?: string;
  readonly call?: string;
  readonly tool?: string;
  readonly arguments?: unknown;
  readonly is_error?: boolean;
  readonly media_type?: string;
}

/** A tool is about to be called. */
export interface BeforeToolCall extends MindEvent {
  /** Such as `files/delete`. */
  readonly tool: string;
  readonly call: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /**
   * True if a part is left out: it may hold what this agent cannot see, or neither the person nor the model wrote it and the
   * agent can reach a host, itself or through others.
   */
  readonly withheld: boolean;
}

/** A tool has answered, and the mind has not read the answer yet. */
export interface AfterToolCall extends BeforeToolCall {
  readonly result: {
    readonly status: "success" | "error" | "needs_approval";
    readonly value?: unknown;
    readonly message?: string;
    readonly recoverable?: boolean;
  };
}

/** An action is about to be proposed. */
export interface BeforeAction extends MindEvent {
  /** As it would be proposed. Effects on files that this agent cannot see have their `kind` only. */
  readonly action: Action;
  readonly withheld: boolean;
}

/** A part of the conversation is about to be summarised. */
export interface BeforeCompact extends MindEvent {
  /** The first and the last entry of that part. */
  readonly covers: readonly [number, number];
}

/** A message is complete. */
export interface MessageEnd extends MindEvent {
  readonly message: string;
  readonly role: "user" | "assistant";
  /** At most 8,000 characters of it. */
  readonly text: string;
  /** True if the text is left out. */
  readonly withheld: boolean;
}

interface Answers {
  UserInput: {
    /** The text that the model reads instead. */
    readonly text?: string;
  };
  Context: {
    /** Texts that this one request ends with, as quoted data: at most 16 of 8,000 characters. */
    readonly add?: readonly string[];
  };
  BeforeToolCall: {
    /** Refuses the call, for this reason. */
    readonly cancel?: string;
  };
  AfterToolCall: {
    /** The text that the model reads instead. */
    readonly result?:
      | { readonly status: "success"; readonly value: unknown }
      | { readonly status: "error"; readonly message: string; readonly recoverable: boolean };
  };
  BeforeAction: {
    /** Refuses the action, for this reason. */
    readonly cancel?: string;
  };
  BeforeCompact: {
    /** Refuses the summary, for this reason. */
    readonly cancel?: string;
    /** Instructions for the summary: at most 4,000 characters. */
    readonly customInstructions?: string;
  };
}

/**
 * What the handler of a hook with `intercept: true` returns: `{}` leaves the event unchanged. A handler that throws, or
 * takes longer than two seconds, has what can be cancelled refused.
 */
export type InterceptAnswer<Event extends keyof Answers = keyof Answers> = Answers[Event];
