import { Type, type Static, type TProperties, type TSchema } from "typebox";
import { closed } from "./common.ts";
import type { InterceptedEvent } from "./mind-events.ts";
import type { ModelMessage } from "./model.ts";
import type { ProcessKind } from "./principal.ts";
import type { ToolResult } from "./tool-result.ts";

/** Bounds of what an interceptor may answer. Characters, except `added`. */
export const interceptBounds = {
  text: 1_000_000,
  /** Texts of one answer. */
  added: 16,
  addedText: 8_000,
  instructions: 4_000,
  reason: 1_000,
  /** A changed result, as JSON. */
  result: 1_000_000,
} as const;

const cancel = {
  cancel: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: interceptBounds.reason,
      description: "Refuses what is about to happen, for this reason, which the person and the model read",
    }),
  ),
};
const answer = <Fields extends TProperties>(description: string, fields: Fields) =>
  Type.Object(fields, { ...closed, description });
const status = { description: "How the call ended" };

/** A result as an interceptor may give it: it cannot make an action wait for a person. */
const InterceptedResult = Type.Union(
  [
    Type.Object(
      {
        status: Type.Literal("success", status),
        value: Type.Unknown({ description: "What the model reads, any JSON" }),
      },
      closed,
    ),
    Type.Object(
      {
        status: Type.Literal("error", status),
        message: Type.String({ maxLength: interceptBounds.text, description: "What the model reads" }),
        recoverable: Type.Boolean({
          description: "Another attempt, with other arguments or later, may succeed",
        }),
      },
      closed,
    ),
  ],
  { description: "A tool's result" },
);
type InterceptedResult = Static<typeof InterceptedResult>;

/** The answers that a hook with `intercept: true` may give, by event. Without a field the event continues unchanged. */
export const interceptAnswers = {
  UserInput: answer("Answer to `UserInput`", {
    text: Type.Optional(
      Type.String({ maxLength: interceptBounds.text, description: "What the model reads instead" }),
    ),
  }),
  Context: answer("Answer to `Context`", {
    add: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: interceptBounds.addedText }), {
        maxItems: interceptBounds.added,
        description: "Texts that this one request ends with, as quoted data",
      }),
    ),
  }),
  BeforeToolCall: answer("Answer to `BeforeToolCall`", cancel),
  AfterToolCall: answer("Answer to `AfterToolCall`", { result: Type.Optional(InterceptedResult) }),
  BeforeAction: answer("Answer to `BeforeAction`", cancel),
  BeforeCompact: answer("Answer to `BeforeCompact`", {
    ...cancel,
    custom_instructions: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: interceptBounds.instructions,
        description: "What the summary should observe, for the model that writes it",
      }),
    ),
  }),
} satisfies Record<InterceptedEvent, TSchema>;

/** An answer to any event, after its schema was checked. */
export interface InterceptAnswer {
  readonly cancel?: string;
  readonly text?: string;
  readonly add?: readonly string[];
  readonly result?: InterceptedResult;
  readonly custom_instructions?: string;
}

/** Where in a mind something happens. */
export interface MindPlace {
  /** The agent whose mind it is. */
  readonly agent: string;
  readonly conversation: string;
  /** The process's id. */
  readonly process: string;
  readonly kind: ProcessKind;
  /** When the process began what it does now; see `Lineage.begun`. */
  readonly begun: string;
  /** Texts of the conversation that nobody vouches for, by where they come from. */
  readonly sources: readonly string[];
  /** The conversation, or what the mind keeps, holds text of neither the person nor the model. */
  readonly holdsForeign: boolean;
}

/** A request to a model, before it is sent. */
export interface ShownContext {
  readonly messages: readonly ModelMessage[];
  /** The number of messages at the beginning that the kernel made: instructions, what the mind keeps, summaries. */
  readonly begins: number;
  /** Which of these messages and results interceptors have changed. */
  readonly changed: readonly ChangedText[];
}

/** A change by an interceptor: of the result of `call`, otherwise of a message. */
export interface ChangedText {
  readonly by: string;
  readonly call?: string;
}

/** A text that an interceptor added, and its source, which is never the person. */
export interface Change<Value> {
  /** The interceptor's id. */
  readonly by: string;
  readonly value: Value;
  /** As `Entry.origin`. */
  readonly origin: string;
  readonly isTainted: boolean;
  readonly sources?: readonly string[];
}

/** An interceptor did not let something happen, or could not be asked about it: a sentence that names it. */
export type Refusal = Change<string>;

/**
 * Asks extensions before something of a mind takes effect. Each method returns null where no extension is to be asked,
 * which costs a lookup; the promises never reject.
 */
export interface MindInterception {
  /** True if an extension would be asked about this event of an agent's mind. */
  isAsked(event: InterceptedEvent, agent: string): boolean;
  /** Returns what the person's text becomes, one change for each interceptor that changed it. */
  userInput(place: MindPlace, text: string): Promise<readonly Change<string>[]> | null;
  /** Returns texts for the end of the request. */
  context(place: MindPlace, shown: () => ShownContext): Promise<readonly Change<readonly string[]>[]> | null;
  beforeToolCall(place: MindPlace, call: InterceptedCall): Promise<Refusal | null> | null;
  /** Returns what the result becomes, one change for each interceptor that changed it. */
  afterToolCall(
    place: MindPlace,
    call: InterceptedCall,
    result: ToolResult,
  ): Promise<readonly Change<ToolResult>[]> | null;
  beforeCompact(
    place: MindPlace,
    covers: readonly [number, number],
  ): Promise<Refusal | { readonly instructions: readonly Change<string>[] }> | null;
}

export interface InterceptedCall {
  readonly call: string;
  readonly tool: string;
  readonly arguments: unknown;
}

/** For a mind that no extension can intercept. */
export const noInterception: MindInterception = {
  isAsked: () => false,
  userInput: () => null,
  context: () => null,
  beforeToolCall: () => null,
  afterToolCall: () => null,
  beforeCompact: () => null,
};
