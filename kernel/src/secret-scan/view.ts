import { type CharacterSet, endOfRun } from "./alphabets.ts";

/** A text while it is looked at: more of it may follow. */
export class View {
  #text = "";
  /** The last measured run of each alphabet, so that a text full of keywords is measured only once. */
  readonly #runs = new Map<CharacterSet, { readonly from: number; readonly end: number }>();
  /** One past the last character that was looked at; beyond the text's end where more of it could say something else. */
  reach = 0;

  get text(): string {
    return this.#text;
  }

  set text(text: string) {
    this.#text = text;
    this.#runs.clear();
  }

  /** Returns the end of the characters of the set from `at` on, at most `limit`. */
  endOfRun(at: number, limit: number, set: CharacterSet): number {
    const known = this.#runs.get(set);
    let end: number;
    if (known !== undefined && known.from <= at && at <= known.end) end = known.end;
    else {
      end = endOfRun(this.#text, at, set);
      this.#runs.set(set, { from: at, end });
    }
    if (end >= limit) {
      this.reached(limit);
      return limit;
    }
    this.reached(end + 1);
    return end;
  }

  reached(place: number): void {
    if (place > this.reach) this.reach = place;
  }
}
