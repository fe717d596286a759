import type { Clock } from "../base/clock.ts";
import { isLaresError } from "../base/errors.ts";
import { maxCountedFiles } from "../base/file-count.ts";
import type { TrustFolder, TrustQuestion } from "../base/vocabulary/trust.ts";

/** Folders that are counted for one question; the others come without a count. */
const maxFolders = 64;
/** A count is good for so long: the page and the terminal ask for the question again and again. */
const keepMs = 10_000;

/** What the index knows of the workspace. */
interface CountedIndex {
  status(): { readonly complete: boolean };
  /** Files in a folder, however deep; `atMost` stands for more, too. LimitExceeded where it takes too long. */
  filesIn(path: string, atMost: number): Promise<number>;
}

type Question = Omit<TrustQuestion, "trusted">;

/** Says in the question of consent how many files each folder holds, as far as the index knows. For people only. */
export class FolderCounts {
  readonly #index: CountedIndex;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #known = new Map<string, { readonly atMs: number; readonly files: Promise<number | null> }>();

  constructor(index: CountedIndex, clock: Pick<Clock, "monotonic">) {
    this.#index = index;
    this.#clock = clock;
  }

  async of(question: Question): Promise<Question> {
    if (!this.#index.status().complete) return question;
    const paths = new Set(question.extensions.flatMap(({ folders }) => folders.map(({ path }) => path)));
    const counts = new Map<string, number>();
    const nowMs = this.#clock.monotonic();
    for (const [path, { atMs }] of this.#known) if (nowMs - atMs > keepMs) this.#known.delete(path);
    // One after the other: what a stranger's document names must not crowd out queries.
    for (const path of [...paths].slice(0, maxFolders)) {
      const files = await this.#count(path, nowMs);
      if (files !== null) counts.set(path, files);
    }
    const counted = (folder: TrustFolder): TrustFolder => {
      const files = counts.get(folder.path);
      return files === undefined ? folder : { ...folder, files };
    };
    const extensions = question.extensions.map((card) => ({ ...card, folders: card.folders.map(counted) }));
    return { ...question, extensions };
  }

  #count(path: string, atMs: number): Promise<number | null> {
    const known = this.#known.get(path);
    if (known !== undefined) return known.files;
    const files = this.#index.filesIn(path, maxCountedFiles).catch((error: unknown) => {
      // It took too long: the question is asked without it.
      if (isLaresError(error, "LimitExceeded")) return null;
      throw error;
    });
    if (this.#known.size < maxFolders) this.#known.set(path, { atMs, files });
    return files;
  }
}
