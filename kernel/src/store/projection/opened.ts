import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { StoreMemory, StoreNotice } from "../../memory-contract/store-port.ts";
import type { DuckFile } from "./duck-file.ts";
import type { Duck } from "./duck.ts";
import type { DerivedData } from "./follower.ts";
import { discard, openKept, sizeOf } from "./kept-file.ts";
import type { TextIndex } from "./port.ts";
import { type TableGroups, Tables } from "./tables.ts";
import { Texts } from "./texts.ts";

/** The projections of one memory, as queries use them. */
export interface Projections<Attached extends DerivedData> {
  readonly file: DuckFile;
  readonly text: TextIndex;
  readonly derived: Attached;
}

export interface ProjectionOptions<Attached extends DerivedData> {
  readonly duck: Duck;
  readonly groups: TableGroups;
  openText(path: string): TextIndex;
  /**
   * Opens what depends on the tables; called again whenever the tables are reopened. The names of its files begin with
   * "knowledge.".
   */
  openDerived(projections: Omit<Projections<Attached>, "derived">, memory: StoreMemory): Promise<Attached>;
  /** Returns true if a table group's error means that the projections have to be rebuilt from the journal. */
  asksForRebuild(error: unknown): boolean;
  notice(notice: StoreNotice): void;
}

const fileNames = { tables: "temporal.duckdb", texts: "text.sqlite", derived: "knowledge" } as const;

/** The open files of one memory. */
export class OpenedProjections<Attached extends DerivedData>
  implements Projections<Attached>, AsyncDisposable
{
  readonly tables: Tables;
  readonly texts: Texts;
  readonly derived: Attached;

  private constructor(tables: Tables, texts: Texts, derived: Attached) {
    this.tables = tables;
    this.texts = texts;
    this.derived = derived;
  }

  /** Missing or invalid projections are rebuilt; an invalid one is reported. */
  static async open<Attached extends DerivedData>(
    options: ProjectionOptions<Attached>,
    memory: StoreMemory,
  ): Promise<OpenedProjections<Attached>> {
    const { duck, groups, openText, openDerived } = options;
    const { folder } = memory;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const has = { tables: existsSync(pathOf(folder, "tables")), texts: existsSync(pathOf(folder, "texts")) };
    const rebuilt = (what: keyof typeof fileNames, reason: string): void =>
      options.notice({ kind: "rebuilt", memory: memory.key, what: fileNames[what], reason });
    const kept = <Result>(
      what: keyof typeof fileNames,
      open: (path: string) => Promise<Result>,
    ): Promise<Result> => {
      const path = pathOf(folder, what);
      return openKept({ path, open: () => open(path), rebuilt: (reason) => rebuilt(what, reason) });
    };
    await using opening = new AsyncDisposableStack();
    const tables = opening.use(await kept("tables", (path) => Tables.open(duck, path, groups)));
    const texts = opening.use(await kept("texts", async (path) => new Texts(openText(path))));
    if (has.tables !== has.texts) rebuilt(has.tables ? "texts" : "tables", "it was missing");
    const projections = { file: tables.file, text: texts.index };
    // It uses markers of its own, because it opens many files.
    const derived = await openDerived(projections, memory);
    opening.move();
    return new OpenedProjections(tables, texts, derived);
  }

  get file(): DuckFile {
    return this.tables.file;
  }

  get text(): TextIndex {
    return this.texts.index;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await using closing = new AsyncDisposableStack();
    closing.use(this.tables);
    closing.use(this.texts);
    closing.use(this.derived);
  }
}

/** Removes the projections of a memory that is not open. */
export async function discardProjections(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const what of projectionFiles) await discard(pathOf(folder, what));
}

/** Returns the bytes on the disk. */
export async function sizeOfProjections(folder: string): Promise<number> {
  const sizes = await Promise.all(projectionFiles.map((what) => sizeOf(pathOf(folder, what))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

const projectionFiles = Object.keys(fileNames) as (keyof typeof fileNames)[];

export const pathOf = (folder: string, what: keyof typeof fileNames): string => join(folder, fileNames[what]);
