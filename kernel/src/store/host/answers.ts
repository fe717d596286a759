import { systemClock } from "../../platform/clock.ts";
import { createEmbedder, type EmbedderPorts } from "./create-embedder.ts";
import { KnowledgeStore } from "../knowledge/knowledge-store.ts";
import { knowledgeTables, RebuildNeeded } from "../knowledge/tables.ts";
import type {
  StoreMemory,
  StoreNotice,
  StoreRequestName,
  StoreRequests,
} from "../../memory-contract/store-port.ts";
import type { Duck } from "../projection/duck.ts";
import { sizeOfProjections } from "../projection/opened.ts";
import { Projector } from "../projection/projector.ts";
import { eventsByRow, temporalStats } from "../projection/temporal-facts.ts";
import { temporalCount, temporalQuery } from "../projection/temporal-query.ts";
import { temporalTables } from "../projection/temporal.ts";
import { openTextIndex } from "../projection/text-index.ts";
import type { Engines } from "../vectors/engines.ts";

/** One memory, open in the store host. */
export type OpenMemory = Projector<KnowledgeStore>;

/** Parts that all memories of a host share. */
interface HostParts {
  readonly duck: Duck;
  readonly engines: Engines;
  notice(notice: StoreNotice): void;
  readonly outside: EmbedderPorts;
}

/**
 * Opens a memory's projections. If `quarantineReason` is not null, it says why the files on the disk are
 * discarded.
 */
export function openMemory(
  { duck, engines, notice, outside }: HostParts,
  memory: StoreMemory,
  quarantineReason: string | null,
): Promise<OpenMemory> {
  return Projector.open(
    {
      duck,
      groups: { temporal: temporalTables, knowledge: knowledgeTables },
      openText: openTextIndex,
      openDerived: ({ file, text }, { key, folder, settings }) =>
        KnowledgeStore.open(
          {
            memory: key,
            folder,
            database: file,
            text,
            engines,
            clock: systemClock,
            openEmbedder: (spec) => createEmbedder(spec, outside),
            events: (rows) => eventsByRow(file, rows),
            tell: notice,
          },
          settings,
        ),
      asksForRebuild: (error) => error instanceof RebuildNeeded,
      notice,
    },
    memory,
    quarantineReason,
  );
}

type Answer<Name extends StoreRequestName> = (
  opened: OpenMemory,
  memory: StoreMemory,
  params: StoreRequests[Name]["params"],
) => Promise<StoreRequests[Name]["result"]>;

/** Answers each request by its name, except `close`, which the host answers itself. */
export const answers: { readonly [Name in Exclude<StoreRequestName, "close">]: Answer<Name> } = {
  "temporal.query": (opened, memory, { query, nowMs }) =>
    opened.steadyQuery(memory, ({ file, text }) => temporalQuery(file, text, query, nowMs)),
  "temporal.count": (opened, memory, { query, nowMs }) =>
    opened.steadyQuery(memory, ({ file, text }) => temporalCount(file, text, query, nowMs)),
  "knowledge.query": (opened, memory, { query, nowMs }) =>
    opened.query(memory, ({ derived }) => derived.query(query, nowMs)),
  "knowledge.item": (opened, memory, { id }) =>
    opened.query(memory, async ({ derived }) => ({ item: await derived.item(id) })),
  "knowledge.existing": (opened, memory, { ids }) =>
    opened.query(memory, async ({ derived }) => ({ ids: await derived.existing(ids) })),
  "knowledge.nearest": (opened, memory, { items, minSimilarity }) =>
    opened.query(memory, async ({ derived }) => ({ nearest: await derived.nearest(items, minSimilarity) })),
  "knowledge.updates": (opened, memory) => opened.query(memory, ({ derived }) => derived.updates()),
  search: (opened, memory, { query, nowMs }) =>
    opened.query(memory, ({ derived }) => derived.search(query, nowMs)),
  stats: (opened, memory) =>
    opened.steadyQuery(memory, async ({ file, derived }) => ({
      projected: opened.projected,
      temporal: await temporalStats(file),
      ...(await derived.stats()),
      bytes: await sizeOfProjections(memory.folder),
    })),
  maintain: (opened, memory, { nowMs, prune }) =>
    opened.query(memory, ({ derived }) => derived.maintain(nowMs, prune)),
  "vectors.page": (opened, memory, page) => opened.query(memory, ({ derived }) => derived.vectorsPage(page)),
  "vectors.give": (opened, memory, { embedder, items }) =>
    opened.query(memory, ({ derived }) => derived.takeVectors(embedder, items)),
  async project(opened, memory) {
    await opened.catchUp(memory);
    return {};
  },
  async rebuild(opened, memory) {
    await opened.rebuild(memory, null);
    return {};
  },
};
