import type { OpenedChat } from "../../services/chat-files/chat-files.ts";
import { endOfWritten, movedPlaces, offsetMover, type Places } from "../../services/chat-files/places.ts";

/** Text that the editor was asked to insert, and is expected to show. */
export interface Insertion {
  readonly text: string;
  /** The offset at which it was to be inserted; moves with the edits. */
  at: number;
  /** The seq of the last entry of the conversation that it contains; null if it has no answer. */
  readonly through: number | null;
}

/** A chat file that an editor has open: its text, and the places in it. */
export class OpenChat {
  readonly uri: string;
  /** The workspace's path. */
  readonly path: string;
  text: string;
  places: Places;
  foreign: OpenedChat["foreign"];
  /** The id of the conversation that it shows; null before the first message. */
  conversation: string | null;
  /** The places as they will be once the message that is being sent is in the conversation. */
  sending: Places | null = null;
  insertion: Insertion | null = null;
  /** The states of the conversation's processes when they were looked at last. */
  looked = "";
  /** The last seq whose answer was shown to the person in another way. */
  shownThrough = 0;
  /** Resolved at the next change of the text. */
  #changing = Promise.withResolvers<void>();

  constructor(uri: string, path: string, text: string, { places, foreign, conversation }: OpenedChat) {
    this.uri = uri;
    this.path = path;
    this.text = text;
    this.places = places;
    this.foreign = foreign;
    this.conversation = conversation;
  }

  /** Resolves at the next change of the text. */
  get changed(): Promise<void> {
    return this.#changing.promise;
  }

  /** Takes the text that the editor has now. Returns the insertion that is in it for the first time; null if none is. */
  take(text: string): Insertion | null {
    if (text === this.text) return null;
    const moved = offsetMover(this.text, text);
    this.places = movedPlaces(this.text, text, this.places);
    if (this.sending !== null) this.sending = movedPlaces(this.text, text, this.sending);
    this.text = text;
    const reached = this.#reached(moved);
    this.#changing.resolve();
    this.#changing = Promise.withResolvers<void>();
    return reached;
  }

  #reached(moved: (offset: number) => number): Insertion | null {
    const { insertion, text } = this;
    if (insertion === null) return null;
    insertion.at = moved(insertion.at);
    const end = endOfWritten(text, insertion.text, insertion.at);
    if (end === null) return null;
    this.insertion = null;
    // It ends with the heading of the person's next turn, or is followed by one.
    const lineStart = Math.max(text.lastIndexOf("\n", end - 1), text.lastIndexOf("\r", end - 1)) + 1;
    const place = insertion.text.trimEnd().endsWith("## You") ? lineStart : end;
    this.places = { answer: place, floor: Math.max(place, this.places.floor) };
    return insertion;
  }
}
