import type { ChatStanding } from "../../services/chat-files/chat-files.ts";
import type { OwnTurn } from "../../services/chat-files/turns.ts";
import type { Unwritten } from "../../services/chat-files/unwritten.ts";
import type { OpenChat } from "./open-chat.ts";

/** A chat file, and how its conversation stands for this client. */
export interface ShownChat {
  readonly chat: OpenChat;
  readonly standing: ChatStanding;
  /** The text that the person could send now; null without a heading of their own. */
  readonly turn: OwnTurn | null;
  /** An answer that a person at this client may have written into the file; null if there is none. */
  readonly missing: Unwritten | null;
  /** An answer is to be written by this client without being asked for again, because it sent the message. */
  readonly isDue: boolean;
  readonly isWorking: boolean;
}
