import { OneAtATime } from "../base/one-at-a-time.ts";
import { redactedMark } from "../base/without-texts.ts";
import { endedStates, type EntryOf, type Process } from "../base/vocabulary/conversation.ts";
import { carriedOver, type Carried, type PinnedText } from "../context/carried.ts";
import type { CompactionPlan } from "../context/compaction-plan.ts";
import { textOf } from "../context/entry-text.ts";
import { type ContextPrefix, followsPrefix, nextPrefix, type Summary } from "../context/prefix.ts";
import { withoutReplaced } from "../context/replaced.ts";
import { movedUp } from "./blocks.ts";
import { tokensAfter } from "./compacted-size.ts";
import type { ContextTail } from "./context-tail.ts";
import { entryOf } from "./entries.ts";
import type { ConversationHost } from "./host.ts";

/** A context, and what is needed to begin it again with a summary. */
export interface Compacted {
  readonly conversation: ConversationHost;
  /** The process that reads it. */
  readonly process: Process;
  readonly tail: ContextTail;
  /** The model's window in tokens. */
  readonly limit: number;
  readonly turns: BeginningTurns;
}

/** Begins the contexts of a conversation again one at a time: a second summary may cover what the first one replaced. */
export class BeginningTurns {
  readonly #line = new OneAtATime();
  #isClosed = false;

  /** Resolves with `otherwise`, without the work, once they are closed. */
  run<Result>(work: () => Promise<Result>, otherwise: Result): Promise<Result> {
    return this.#line.run("", async () => (this.#isClosed ? otherwise : await work()));
  }

  /** Resolves when nothing is under way any more. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#line.run("", () => Promise.resolve());
  }
}

type Covered = Pick<CompactionPlan, "covered"> & { readonly covers: Summary["covers"] };

/**
 * Writes a summary into the log, and begins the context again with it. Nothing happens if another one has replaced the same
 * entries meanwhile, such as a person's, or the text for those that were left out of a full context.
 */
export async function summarised(
  compacted: Compacted,
  plan: CompactionPlan,
  summary: Summary,
  origin: string,
): Promise<void> {
  const { conversation, process, tail, turns } = compacted;
  await turns.run(async () => {
    if (!followsPrefix(tail.prefix, summary.covers)) return;
    const next = await beginningWith(compacted, plan, summary);
    const counted = process.kind === "channel" ? conversation.log.state.contextTokens : 0;
    const [from, to] = summary.covers;
    await conversation.log.append([
      entryOf(
        { process: process.id, turn: "", clock: conversation.ports.clock },
        {
          kind: "summary",
          text: summary.text,
          covers: [from, to],
          tokens: tokensAfter(process, tail, next, counted),
        },
        {
          origin,
          isTainted: summary.tainted === true,
          ...(summary.sources === undefined ? {} : { sources: summary.sources }),
        },
      ),
    ]);
    await tail.compact(next);
  }, undefined);
}

/** A summary in the log, with what it covers. */
type LoggedSummary = EntryOf<"summary"> & Required<Pick<EntryOf<"summary">, "covers">>;

/**
 * Returns a summary that the log has and the context lacks, because the kernel died or the disk was full before the context
 * was stored; null if there is none. Using it avoids a second request for the same entries. A summary that a person has
 * redacted is not used: most of its entries still exist and can be summarised again.
 */
function unusedSummary({ entries, prefix }: ContextTail): LoggedSummary | null {
  const written = entries.findLast((entry) => entry.kind === "summary");
  if (written === undefined || !isLogged(written) || written.text.includes(redactedMark)) return null;
  return followsPrefix(prefix, written.covers) ? written : null;
}

/** Rebuilds a context with a summary that is in the log but not in the context. Returns false if there is none. */
export async function finishCompaction(compacted: Compacted): Promise<boolean> {
  const { tail, turns } = compacted;
  return await turns.run(async () => {
    const written = unusedSummary(tail);
    if (written === null) return false;
    const { text, covers, sources, tainted } = written;
    const covered = tail.entries.filter(({ seq }) => seq <= covers[1]);
    const summary: Summary = {
      text,
      covers,
      ...(sources === undefined ? {} : { sources }),
      ...(tainted === undefined ? {} : { tainted }),
    };
    const plan = { covers, covered: withoutReplaced(covered) };
    await tail.compact(await beginningWith(compacted, plan, summary));
    return true;
  }, false);
}

const isLogged = (summary: EntryOf<"summary">): summary is LoggedSummary => summary.covers !== undefined;

async function beginningWith(compacted: Compacted, plan: Covered, summary: Summary): Promise<ContextPrefix> {
  const { conversation, process, tail } = compacted;
  const carried = await carriedIn(compacted, plan);
  const now = await conversation.prefixFor(process);
  return nextPrefix(tail.prefix, {
    summary,
    carried,
    identity: now.identity,
    role: now.role,
    tools: now.tools,
    skills: now.skills,
    bulletin: now.bulletin,
    remembered: now.remembered,
    blocks: now.blocks.map((block) => movedUp(tail, block)),
  });
}

async function carriedIn(
  { conversation: { log, ports }, process, tail, limit }: Compacted,
  { covers, covered }: Covered,
): Promise<Carried> {
  const { pins, processes, references } = log.state;
  const pinned: PinnedText[] = [];
  for (const id of pins) {
    const entry = await ports.reader.entry(log.id, id);
    if (entry === null || entry.seq > covers[1]) continue;
    pinned.push({
      entry: id,
      text: textOf(entry),
      ...(entry.origin === "person" ? { person: true as const } : {}),
    });
  }
  const openTasks = processes
    .filter(
      ({ id, kind, state, parent }) =>
        kind !== "channel" &&
        kind !== "compaction" &&
        !endedStates.has(state) &&
        (id === process.id || parent === process.id),
    )
    .map(({ id, task = "" }) => ({ id, text: task }));
  const approvals = await Promise.all(
    references.map(async ({ ref, kind }) => ({
      id: ref,
      title: (await (kind === "action" ? ports.actions : ports.asks).get(ref))?.title ?? "",
    })),
  );
  const { carried: earlier } = tail.prefix;
  return carriedOver({ earlier, covered, pins: pinned, openTasks, approvals, limit });
}
