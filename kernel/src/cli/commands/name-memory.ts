import { isLaresError } from "../../base/errors.ts";
import type { KernelClient, MemoryOwner } from "../kernel-client.ts";
import { isWholeId, oneNamed } from "../one-named.ts";
import type { Events, Items } from "../render/memory.ts";

/** The id of a memory's record, and the text that a person sees. Either can name the record. */
export interface NamedMemory {
  readonly id: string;
  /** Null for a whole id, which is not looked up. */
  readonly text: string | null;
}

/** As many as a kernel answers at once. */
const mostAtOnce = 1000;
/** How many of the newest events of a history are searched for a short id; older events need the whole id. */
const mostEvents = 10_000;

/**
 * Returns the record that a person named by a part of its id or the beginning of its text: an item of the knowledge, or with
 * `events` also an event of the history. UsageError if none or more than one fits. A whole id is taken as it is, since it also
 * names what no list shows any more.
 */
export async function memoryNamed(
  kernel: KernelClient,
  whose: MemoryOwner,
  given: string,
  { events }: { readonly events: boolean },
): Promise<NamedMemory> {
  if (isWholeId(given)) return { id: given, text: null };
  const [items, history] = await Promise.all([
    itemsOf(kernel, whose),
    events ? eventsOf(kernel, whose) : Promise.resolve([]),
  ]);
  const known = [...items, ...history];
  return oneNamed(known, given, {
    noun: "memory",
    nouns: "memories",
    // Narrower lists show no ids.
    listing: "lares memory query --kind knowledge --json",
    titled: "text",
    id: ({ id }) => id,
    title: ({ text }) => text ?? "",
  });
}

async function itemsOf(kernel: KernelClient, whose: MemoryOwner): Promise<NamedMemory[]> {
  const { items } = await asManyAsFit(
    (top_k) =>
      kernel.askMemory(whose, {
        method: "lares/memory/query",
        params: { kind: "associative", top_k },
      }) as Promise<Items>,
  );
  return items.map(({ id, text, data }) => ({ id, text: text ?? textOf(data) }));
}

async function eventsOf(kernel: KernelClient, whose: MemoryOwner): Promise<NamedMemory[]> {
  const found: NamedMemory[] = [];
  for (let all = 1; found.length < Math.min(all, mostEvents);) {
    const page = await asManyAsFit(
      (limit) =>
        kernel.askMemory(whose, {
          method: "lares/memory/query",
          params: { kind: "temporal", limit, offset: found.length },
        }) as Promise<Events>,
    );
    if (page.items.length === 0) break;
    found.push(...page.items.map(({ id, data }) => ({ id, text: textOf(data) })));
    all = page.total;
  }
  return found;
}

/** Asks for fewer at once as long as the answer would be too large. */
async function asManyAsFit<Answer>(ask: (limit: number) => Promise<Answer>): Promise<Answer> {
  for (let limit = mostAtOnce; ; limit = Math.ceil(limit / 4))
    try {
      return await ask(limit);
    } catch (error) {
      if (!isLaresError(error, "LimitExceeded") || limit === 1) throw error;
    }
}

function textOf(data: unknown): string {
  return typeof data === "string" ? data : (JSON.stringify(data) ?? "");
}
