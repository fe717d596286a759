import type { Clock } from "../base/clock.ts";
import { isLaresError } from "../base/errors.ts";
import { maxCountedFiles } from "../base/file-count.ts";
import type { TrustFolder, TrustQuestion } from "../base/vocabulary/trust.ts";

/** The number of folders that are counted for one question; further ones have no count. */
const maxFolders = 64;
/** How long a count is cached, because the page and the terminal ask repeatedly. */
const keepMs = 10_000;

/** The part of the workspace's index that counting needs. */
interface CountedIndex {
  status(): { readonly complete: boolean };
  /** Counts the files in a folder, at any depth, up to `atMost`. Throws LimitExceeded if it takes too long. */
  filesIn(path: string, atMost: number): Promise<number>;
}

type Question = Omit<TrustQuestion, "trusted">;

/** Adds to the question of consent how many files of the index each folder contains. For people only. */
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
    // One after the other, so that the folders in untrusted documents do not displace queries.
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
      // It took too long; the question is asked without the count.
      if (isLaresError(error, "LimitExceeded")) return null;
      throw error;
    });
    if (this.#known.size < maxFolders) this.#known.set(path, { atMs, files });
    return files;
  }
}
