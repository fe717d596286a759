import type { JsonTexts } from "./knowledge-texts.ts";
import type { Relation } from "../memory-contract/queries.ts";
import type { NewItem } from "../memory-contract/store-port.ts";

/** The number of additions, and of their characters, that are processed together. */
const maxItems = 64;
const maxCharacters = 1024 * 1024;

export interface Added {
  readonly id: string;
  readonly updates?: string;
}

interface Given {
  readonly item: NewItem;
  readonly fields: JsonTexts;
  readonly relations: readonly Relation[];
}

/** An addition that waits for its turn, with the promise of its caller. */
export interface Addition extends Given {
  resolve(added: Added): void;
  reject(error: unknown): void;
}

/** A bounded batch of items that are added at once, in the order in which they were given. */
export class AddBatch {
  readonly all: Addition[] = [];
  #characters = 0;

  mayTake(characters: number): boolean {
    return this.all.length < maxItems && this.#characters + characters <= maxCharacters;
  }

  take(given: Given, characters: number): Promise<Added> {
    this.#characters += characters;
    return new Promise((resolve, reject) => {
      this.all.push({ ...given, resolve, reject });
    });
  }

  /** Rejects the additions that have no answer yet. */
  refuse(error: unknown): void {
    for (const { reject } of this.all) reject(error);
  }
}
