import { isNode, isSeq, LineCounter, parse, parseDocument, stringify } from "yaml";
import { messageOf } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { isSameText, type DecisionsText } from "../decisions/file-format.ts";
import { DecisionStore } from "../decisions/store.ts";
import { writeFileAtomically } from "../platform/files/atomic-file.ts";
import { maxDocumentBytes } from "../platform/files/document-files.ts";
import { watchFile } from "../platform/files/file-watch.ts";
import { join } from "../platform/files/paths.ts";
import { failpoint } from "../platform/failpoint.ts";
import { sha256Hex } from "../platform/files/hash.ts";
import { readPlainText, renameBeside, UnusableFile } from "../platform/files/plain-file.ts";
import { storageFailure } from "../platform/files/storage-failure.ts";

const maxDecisionsBytes = 16 * maxDocumentBytes;
/** An edit is applied once two reads this far apart agree. */
export const restMs = 50;
/**
 * The same for a file that is missing, empty or not YAML: on a busy machine an editor may have emptied it and not written
 * it yet. Until then the earlier decisions apply.
 */
const incompleteRestMs = 2000;

/** Opens the person's decisions in `decisions.yaml` of the state folder. An edit by hand is applied when it is saved. */
export async function openDecisions(
  stateFolder: string,
  clock: Clock,
  log: Log,
): Promise<{ store: DecisionStore; file: string; close(): void }> {
  const file = join(stateFolder, "decisions.yaml");
  const read = async (): Promise<DecisionsText> => {
    try {
      return await readPlainText(file, maxDecisionsBytes);
    } catch (error) {
      if (error instanceof UnusableFile) return { unusable: error.message };
      throw error;
    }
  };
  const store = new DecisionStore({
    clock,
    log,
    read,
    write: async (text) => {
      failpoint("decisions.write.begun");
      try {
        await writeFileAtomically(file, new TextEncoder().encode(text), { mode: 0o600 });
      } catch (error) {
        throw storageFailure(`What you decided could not be written to "${file}"`, error);
      }
      failpoint("decisions.write.done");
    },
    setAside: async () => {
      const name = `decisions.unreadable-${clock.now()}.yaml`;
      failpoint("decisions.set-aside.begun");
      try {
        await renameBeside(file, name);
      } catch (error) {
        throw storageFailure(`"${file}" cannot be read, and not be moved away either`, error);
      }
      failpoint("decisions.set-aside.renamed");
      return name;
    },
    parse: (text) => parse(text, { maxAliasCount: 0 }),
    ruleLines,
    // Long enough that rule ids do not collide among some thousand rules.
    digest: (text) => sha256Hex(text).slice(0, 16),
    stringify: (value) => stringify(value, { lineWidth: 110, aliasDuplicateObjects: false }),
  });
  await store.load();
  const edits = new Edits(clock, read, (text) => store.load(text));
  const watcher = watchFile(file, {
    changed: () =>
      void edits
        .noticed()
        .catch((error: unknown) => log.error(`decisions.yaml could not be read: ${messageOf(error)}`)),
    lost: (error) => log.warn(`decisions.yaml is not watched: ${messageOf(error)}`),
  });
  return {
    store,
    file,
    close: () => {
      watcher[Symbol.dispose]();
      edits[Symbol.dispose]();
    },
  };
}

/** Loads the file's text each time the file has settled after a change. */
export class Edits implements Disposable {
  readonly #clock: Clock;
  readonly #read: () => Promise<DecisionsText>;
  readonly #load: (text: DecisionsText) => Promise<void>;
  #following: Promise<void> | null = null;
  #isDue = false;
  #isClosed = false;

  constructor(
    clock: Clock,
    read: () => Promise<DecisionsText>,
    load: (text: DecisionsText) => Promise<void>,
  ) {
    this.#clock = clock;
    this.#read = read;
    this.#load = load;
  }

  /** Notes that the file has changed. Resolves once the settled text is loaded. */
  noticed(): Promise<void> {
    this.#isDue = true;
    this.#following ??= this.#follow().finally(() => (this.#following = null));
    return this.#following;
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
  }

  async #follow(): Promise<void> {
    while (this.#isDue && !this.#isClosed) {
      this.#isDue = false;
      const text = await this.#rested();
      if (!this.#isClosed) await this.#load(text);
    }
  }

  async #rested(): Promise<DecisionsText> {
    let before = await this.#read();
    let restedMs = 0;
    let neededMs = restMs;
    for (;;) {
      const { promise, resolve } = Promise.withResolvers<void>();
      using _timer = this.#clock.timer(restMs, resolve);
      await promise;
      const text = await this.#read();
      restedMs = isSameText(text, before) ? restedMs + restMs : 0;
      // Parsed once, when it first settles.
      if (restedMs === restMs) neededMs = looksIncomplete(text) ? incompleteRestMs : restMs;
      if (this.#isClosed || (restedMs > 0 && restedMs >= neededMs)) return text;
      before = text;
    }
  }
}

function looksIncomplete(text: DecisionsText): boolean {
  if (typeof text !== "string" || text.trim() === "") return true;
  return parseDocument(text).errors.length > 0;
}

function ruleLines(text: string): number[] {
  const counter = new LineCounter();
  const rules = parseDocument(text, { lineCounter: counter }).get("rules", true);
  if (!isSeq(rules)) return [];
  return rules.items.map((item) => (isNode(item) ? counter.linePos(item.range?.[0] ?? 0).line : 1));
}
