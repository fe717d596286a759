import { Detection, type Found } from "./detection.ts";
import type { Detector, Detectors } from "./detectors.ts";
import { inOrder } from "./findings.ts";

/** Characters of a text that are looked at in one step, so that a long piece takes no memory of its own. */
const stepLength = 64 * 1024;
/** A detection looks at one character before its keyword. */
const lookBehind = 1;

/** A keyword that was found and is not decided yet. Places count from the beginning of the kept text. */
interface Hit {
  readonly detector: Detector;
  end: number;
}

/**
 * Replaces secrets in a text that comes in pieces, with what `SecretScanner.replace` returns for the whole text, however
 * it is cut. Holds back only what may be part of a secret: from the beginning of a keyword, or of what may become one, up
 * to 4,096 characters.
 */
export class StreamRedactor {
  readonly #detectors: Detectors;
  readonly #detection: Detection;
  readonly #mark: (rule: string) => string;
  /** The text that was not passed on, and what detections need of the text before it. */
  #text = "";
  /** The text was passed on up to here. */
  #sent = 0;
  /** The end of the last secret that was marked. */
  #markedEnd = 0;
  #state = 0;
  #hits: Hit[] = [];
  /** Secrets that were found and not yet marked. */
  #found: Found[] = [];
  /** Marked secrets whose end has not come. */
  #growing: Found[] = [];

  constructor(detectors: Detectors, mark: (rule: string) => string) {
    this.#detectors = detectors;
    this.#detection = new Detection(detectors);
    this.#mark = mark;
  }

  /** Characters that are held back. */
  get held(): number {
    return this.#text.length - this.#sent;
  }

  /** Takes the next piece; returns what can be passed on. */
  push(piece: string): string {
    let passed = "";
    for (let at = 0; at < piece.length; at += stepLength)
      passed += this.#step(piece.slice(at, at + stepLength), false);
    return passed;
  }

  /**
   * Passes on what is held back, because it has waited too long. A secret that has begun is marked as far as it can be
   * recognised by now; what still comes of it is left out.
   */
  flush(): string {
    if (this.held === 0) return "";
    const tentative = this.#detection.tentatively(() =>
      this.#hits.flatMap(({ detector, end }) => {
        const found = this.#detection.detect(detector, end);
        return found === null || found === "undecided" ? [] : [found];
      }),
    );
    const grown = this.#detection.tentatively(() =>
      this.#growing.map((found) => ({ ...found, end: this.#detection.grow(found).end })),
    );
    const found = [...this.#found, ...grown, ...tentative];
    const passed = this.#pass(found, this.#text.length);
    this.#growing.push(...this.#found.filter((each) => each.grows !== undefined));
    this.#found = [];
    return passed;
  }

  /** Returns the rest of the text. The next piece begins another one. */
  end(): string {
    const passed = this.#step("", true);
    this.#text = "";
    this.#sent = this.#markedEnd = this.#state = 0;
    this.#detection.shift(Number.MAX_SAFE_INTEGER);
    return passed;
  }

  #step(piece: string, isEnd: boolean): string {
    const { automaton, all } = this.#detectors;
    const from = this.#text.length;
    this.#text += piece;
    this.#state = automaton.scan(this.#text, from, this.#state, (keyword, end) => {
      const detector = all[keyword];
      if (detector !== undefined) this.#hits.push({ detector, end });
    });
    this.#detection.look(this.#text, isEnd);
    this.#grow();
    let decided = 0;
    for (const { detector, end } of this.#hits) {
      const found = this.#detection.detect(detector, end);
      // Those after it wait too: what a rule has checked depends on the order.
      if (found === "undecided") break;
      decided++;
      if (found !== null) this.#found.push(found);
    }
    this.#hits.splice(0, decided);
    const open = isEnd ? this.#text.length : this.#openFrom();
    const settled = this.#found.filter(({ start }) => start < open || isEnd);
    this.#found = this.#found.filter(({ start }) => start >= open && !isEnd);
    const passed = this.#pass(settled, open);
    this.#growing.push(...settled.filter((found) => found.grows !== undefined && this.#isNew(found)));
    this.#forget(open);
    return passed;
  }

  /** Extends the marked secrets whose end has not come. */
  #grow(): void {
    this.#growing = this.#growing.flatMap((found) => {
      const { end, grows } = this.#detection.grow(found);
      this.#markTo(end);
      return grows === undefined ? [] : [{ ...found, end, grows }];
    });
  }

  /** Several tokens in one run of characters grow together. */
  #isNew({ end, grows }: Found): boolean {
    return !this.#growing.some(
      (other) =>
        other.end === end &&
        other.grows?.kind === "run" &&
        grows?.kind === "run" &&
        other.grows.set === grows.set,
    );
  }

  /** Returns the place from which on the text may be part of a secret that is not decided. */
  #openFrom(): number {
    let open = this.#text.length - this.#detectors.automaton.depthOf(this.#state);
    for (const { detector, end } of this.#hits) open = Math.min(open, end - detector.keyword.length);
    // What may be a block's end line belongs to the block or not.
    for (const { end, grows } of [...this.#growing, ...this.#found])
      if (grows !== undefined) open = Math.min(open, Math.max(end, this.#sent));
    return open;
  }

  /** Returns the text up to `end` with marks in it. */
  #pass(found: Found[], end: number): string {
    let passed = "";
    for (const each of found.toSorted(inOrder)) {
      // It continues with what was marked last, unless text was passed on since because it had waited too long.
      const isPart = each.start < this.#markedEnd && this.#sent === this.#markedEnd;
      if (each.start > this.#sent) passed += this.#text.slice(this.#sent, each.start);
      if (!isPart && each.end > this.#sent) passed += this.#mark(each.rule);
      this.#markTo(each.end);
    }
    if (end > this.#sent) {
      passed += this.#text.slice(this.#sent, end);
      this.#sent = end;
    }
    return passed;
  }

  #markTo(end: number): void {
    this.#markedEnd = Math.max(this.#markedEnd, end);
    this.#sent = Math.max(this.#sent, end);
  }

  /** Drops the text that nobody needs any more. */
  #forget(open: number): void {
    const needed = Math.min(open, this.#sent, ...this.#growing.map(({ end }) => end));
    const dropped = Math.max(0, needed - lookBehind);
    if (dropped === 0) return;
    this.#text = this.#text.slice(dropped);
    this.#sent -= dropped;
    this.#markedEnd -= dropped;
    for (const hit of this.#hits) hit.end -= dropped;
    const moved = (found: Found): Found => ({
      ...found,
      start: found.start - dropped,
      end: found.end - dropped,
      ...(found.grows?.kind === "block"
        ? { grows: { ...found.grows, limit: found.grows.limit - dropped } }
        : {}),
    });
    this.#found = this.#found.map(moved);
    this.#growing = this.#growing.map(moved);
    this.#detection.shift(dropped);
    this.#detection.look(this.#text, false);
  }
}
