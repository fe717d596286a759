import { sha256 } from "../../platform/files/hash.ts";
import type { Located, ProgramFolder } from "../../platform/files/program-files.ts";

/** The number of inputs that are read concurrently. */
const batch = 64;

/** A question to a folder, with the text of its answer. */
export interface Answer {
  readonly question: Question;
  readonly answer: string;
}

interface Question {
  readonly path: string;
  /** The read limit of a question about a file's content; null for a question about where a path leads. */
  readonly maxBytes: number | null;
}

/**
 * Records every question to a folder, with its answer. A bundle that was built only from these answers stays valid as
 * long as they are the same.
 */
export class BuildInputs implements ProgramFolder {
  readonly root: string;
  readonly #folder: ProgramFolder;
  readonly #answers = new Map<string, Answer>();
  /** True while every repeated question had the same answer and none failed. */
  #isSound = true;

  /** `answers`: those of an earlier process, for `holdsFor`. */
  constructor(folder: ProgramFolder, answers: readonly Answer[] = []) {
    this.#folder = folder;
    this.root = folder.root;
    this.add(answers);
  }

  /** The questions so far; null if one failed, or had two answers. */
  get answers(): readonly Answer[] | null {
    return this.#isSound ? [...this.#answers.values()] : null;
  }

  add(answers: readonly Answer[]): void {
    for (const answer of answers) this.#answers.set(JSON.stringify(answer.question), answer);
  }

  locate(path: string): Promise<Located> {
    return this.#note({ path, maxBytes: null }, () => this.#folder.locate(path), textOf);
  }

  read(path: string, maxBytes: number): Promise<Uint8Array> {
    return this.#note({ path, maxBytes }, () => this.#folder.read(path, maxBytes), sha256);
  }

  /** Returns true if `folder` would give the same answers now. Repeats all questions, in no particular order. */
  async holdsFor(folder: ProgramFolder): Promise<boolean> {
    if (!this.#isSound || folder.root !== this.root) return false;
    const answers = [...this.#answers.values()];
    for (let from = 0; from < answers.length; from += batch) {
      const same = await Promise.all(
        answers.slice(from, from + batch).map(async ({ question, answer: before }) => {
          try {
            return (await ask(folder, question)) === before;
          } catch {
            return false;
          }
        }),
      );
      if (same.includes(false)) return false;
    }
    return true;
  }

  /** The wrapped folder is closed by its owner. */
  [Symbol.dispose](): void {}

  async #note<T>(question: Question, answer: () => Promise<T>, toText: (answer: T) => string): Promise<T> {
    try {
      const given = await answer();
      const key = JSON.stringify(question);
      const now = toText(given);
      this.#isSound &&= (this.#answers.get(key)?.answer ?? now) === now;
      this.#answers.set(key, { question, answer: now });
      return given;
    } catch (error) {
      this.#isSound = false;
      throw error;
    }
  }
}

const textOf = (located: Located): string => JSON.stringify(located);

async function ask(folder: ProgramFolder, { path, maxBytes }: Question): Promise<string> {
  return maxBytes === null ? textOf(await folder.locate(path)) : sha256(await folder.read(path, maxBytes));
}
