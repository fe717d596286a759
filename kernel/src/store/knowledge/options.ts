import type { Clock } from "../../base/clock.ts";
import type { TemporalItem } from "../../memory-contract/queries.ts";
import type { StoreNotice } from "../../memory-contract/store-port.ts";
import type { EmbedderSpec } from "../../memory-contract/store-settings.ts";
import type { Embedder } from "../embedding/port.ts";
import type { TextIndex } from "../projection/port.ts";
import type { VectorEngines } from "./embedding/vector-space.ts";
import type { Database } from "./rows/schema.ts";

/** What one memory's knowledge is opened with. */
export interface KnowledgeOptions {
  /** The memory's key, for notices. */
  readonly memory: string;
  /** Absolute path of the folder for index files. */
  readonly folder: string;
  /** Contains `knowledgeTables`. */
  readonly database: Database;
  readonly text: TextIndex;
  readonly engines: VectorEngines;
  readonly clock: Clock;
  openEmbedder(spec: EmbedderSpec): Promise<Embedder>;
  /** Returns the events of these rows that still exist. */
  events(rows: readonly number[]): Promise<ReadonlyMap<number, TemporalItem>>;
  tell(notice: StoreNotice): void;
}
