import type { Action } from "../../base/vocabulary/action.ts";
import type { RememberedRule } from "../../base/vocabulary/approval-rule.ts";
import type { Ask, AskScope } from "../../base/vocabulary/ask.ts";
import type { Conversation } from "../../base/vocabulary/conversation.ts";
import type {
  ConversationContext,
  RedactedConversation,
} from "../../base/vocabulary/conversation-requests.ts";
import type { Key } from "../keyboard/key.ts";
import type { OfferedCommand } from "../offered-commands.ts";
import type { Notice } from "../render/model.ts";
import type { Size } from "../review/state/state.ts";
import type { WholeAction } from "../run/whole-action.ts";
import type { ConversationChoice } from "./state/choices.ts";
import type { Known, KnownSource, Purpose } from "./state/memories.ts";
import type { ChatState } from "./state/state.ts";
import type { News } from "./state/transcript.ts";

/** An input of a chat. */
export type ChatInput =
  | { readonly kind: "key"; readonly key: Key; readonly atMs: number }
  | { readonly kind: "paste"; readonly text: string }
  | { readonly kind: "news"; readonly news: readonly News[] }
  | { readonly kind: "conversation"; readonly conversation: Conversation }
  /** Another conversation is shown from now on. */
  | {
      readonly kind: "opened";
      readonly conversation: Conversation;
      readonly agentName: string;
      readonly isCopy?: boolean;
    }
  /** An action was read, or has changed. */
  | { readonly kind: "whole"; readonly whole: WholeAction }
  | { readonly kind: "action"; readonly action: Action }
  | { readonly kind: "ask"; readonly ask: Ask }
  | { readonly kind: "notice"; readonly notice: Notice }
  | { readonly kind: "decided"; readonly id: string }
  | { readonly kind: "sent"; readonly key: string; readonly failure: string | null }
  /** What a word after "@" can mean: files, folders with a slash at their end, and changes that wait. */
  | {
      readonly kind: "files";
      readonly word: string;
      readonly paths: readonly string[];
      readonly changes?: readonly { readonly id: string; readonly title: string }[];
    }
  | { readonly kind: "context"; readonly context: ConversationContext }
  /** What the mind knows, to look at and to change. */
  | {
      readonly kind: "known";
      readonly title: string;
      readonly items: readonly Known[];
      readonly purpose: Purpose;
      readonly source: KnownSource;
      /** It was read again, because something in it has changed. */
      readonly isAgain?: boolean;
    }
  /** The preview of a removal, which the person is asked about. */
  | {
      readonly kind: "redactable";
      readonly text: string;
      readonly found: RedactedConversation;
      readonly atMs: number;
    }
  | { readonly kind: "conversations"; readonly items: readonly ConversationChoice[] }
  | { readonly kind: "workspace"; readonly ownDocument: string }
  /** The commands that extensions offer. */
  | { readonly kind: "offered"; readonly commands: readonly OfferedCommand[] }
  | { readonly kind: "said"; readonly text: string }
  | { readonly kind: "failed"; readonly message: string; readonly id?: string }
  | { readonly kind: "link"; readonly isCutOff: boolean }
  /** The screen now shows the state. */
  | { readonly kind: "drawn" }
  | { readonly kind: "resized"; readonly size: Size }
  | { readonly kind: "tick"; readonly nowMs: number };

/** A request from the chat to the session. */
export type ChatCommand =
  | KernelCommand
  | { readonly kind: "send"; readonly key: string; readonly text: string }
  | { readonly kind: "quit" }
  | { readonly kind: "suspend" }
  | { readonly kind: "redraw" };

/** A request to the kernel, whose error is shown. */
export type KernelCommand =
  | { readonly kind: "load"; readonly id: string }
  | {
      readonly kind: "approve";
      readonly id: string;
      readonly digest: string;
      readonly rules?: readonly RememberedRule[];
    }
  | { readonly kind: "reject"; readonly id: string; readonly reason?: string }
  | { readonly kind: "undo" | "rebase"; readonly id: string }
  | {
      readonly kind: "answer";
      readonly id: string;
      readonly digest: Ask["digest"];
      readonly allow: boolean;
      readonly remember: AskScope;
    }
  | { readonly kind: "files"; readonly word: string }
  | { readonly kind: "model" | "title"; readonly value: string }
  /** Looks for what a text would be removed from, to ask about it. */
  | { readonly kind: "preview"; readonly text: string }
  /** `withDerived`: also what models made from it. */
  | { readonly kind: "redact"; readonly text: string; readonly withDerived: boolean }
  | {
      readonly kind: "run";
      readonly agent: string;
      readonly name: string;
      readonly args: Readonly<Record<string, unknown>>;
    }
  | { readonly kind: "known"; readonly source: KnownSource; readonly purpose: Purpose }
  /** `again`: the list that stays open, and is read again. */
  | { readonly kind: "correct"; readonly item: Known; readonly text: string; readonly again?: KnownSource }
  | {
      readonly kind: "forget";
      readonly item: Known;
      readonly everywhere: boolean;
      readonly again?: KnownSource;
    }
  | { readonly kind: "pin"; readonly entry: string; readonly pinned: boolean }
  | { readonly kind: "resume"; readonly conversation: Conversation }
  /** Stops one process with what it started; without `process`, all that runs. */
  | { readonly kind: "stop"; readonly process?: string }
  | {
      readonly kind: "fork" | "compact" | "context" | "list" | "new";
    };

export interface ChatStep {
  readonly state: ChatState;
  readonly commands: readonly ChatCommand[];
}
