import { expect, test } from "vitest";
import { lastText, MindBench } from "./testing/mind-bench.ts";

interface Recalled {
  readonly seq: number;
  readonly text: string;
  readonly offset?: number;
  readonly characters?: number;
  readonly note?: string;
}

type Args = Readonly<Record<string, unknown>>;
type Outcome = Partial<Recalled> & readonly Recalled[] & { readonly message?: string };

/** Has a branch of a conversation that holds a long result recall until `next` returns nothing. Returns the outcomes. */
async function recalled(
  long: string,
  next: (outcomes: readonly Outcome[]) => Args | null,
): Promise<readonly Outcome[]> {
  const bench = await MindBench.open();
  bench.tool = () => ({ status: "success", value: long });
  const outcomes = async (): Promise<Outcome[]> => {
    const entries = await bench.entries(id);
    const calls = new Set(
      entries.flatMap((entry) =>
        entry.kind === "tool_call" && entry.tool === "channel_recall" ? [entry.call] : [],
      ),
    );
    return entries.flatMap((entry) => {
      if (entry.kind !== "tool_result" || !calls.has(entry.call)) return [];
      const { result } = entry;
      return [(result.status === "success" ? result.value : result) as Outcome];
    });
  };
  bench.model = async (question, { process }) => {
    const text = lastText(question);
    if (process === "branch") {
      const args = next(await outcomes());
      return args === null ? { say: "found" } : { call: [{ tool: "channel_recall", arguments: args }] };
    }
    if (text === "read") return { call: [{ tool: "files/read", arguments: { path: "a" } }] };
    return text === "go" ? { call: [{ tool: "branch", arguments: { task: "recall" } }] } : { say: "ok" };
  };
  const { id } = await bench.open();
  await bench.send(id, "read");
  await bench.rested(id);
  await bench.send(id, "go");
  await bench.rested(id);
  return await outcomes();
}

const filler = (words: number): string => Array.from({ length: words }, (_, at) => `word${at} 🌊`).join(" ");

test("a fact deep in a long result is shown by the search, and the whole result can be read in pieces", async () => {
  const long = `${filler(3_000)} the lighthouse keeper is called Amundsen ${filler(3_000)} the end`;
  const read = (pieces: readonly Outcome[]): string => pieces.map(({ text = "" }) => text).join("");
  const [[found] = [], ...pieces] = await recalled(long, (outcomes) => {
    const last = outcomes.at(-1);
    if (last === undefined) return { query: "lighthouse keeper" };
    if (outcomes.length > 1 && last.note === undefined) return null;
    return { entry: outcomes[0]?.[0]?.seq, offset: read(outcomes.slice(1)).length };
  });
  expect(found?.text).toContain("the lighthouse keeper is called Amundsen");
  expect(found?.text.length).toBeLessThanOrEqual(2_000);
  expect(found).toMatchObject({ characters: long.length });
  expect(pieces.length).toBeGreaterThan(2);
  for (const { text = "" } of pieces) {
    expect(text.length).toBeLessThanOrEqual(16_000);
    expect(text.isWellFormed()).toBe(true);
  }
  expect(read(pieces)).toBe(long);
});

test("a search says nothing of parts where it shows the whole entry", async () => {
  const [[found] = []] = await recalled("the harbour is open", ({ length }) =>
    length === 0 ? { query: "harbour" } : null,
  );
  expect(found).toMatchObject({ kind: "tool_result", text: "the harbour is open" });
  expect(Object.keys(found ?? {})).not.toContain("note");
});

test("a recall that cannot be made says what is wrong", async () => {
  const wrong: readonly (readonly [Args, RegExp])[] = [
    [{ entry: 1 }, /no entry 1 that a search finds/],
    [{ entry: 1.5 }, /no entry 1\.5/],
    [{ offset: -1 }, /"offset" must be/],
    [{ offset: 19 }, /has 19 characters; "offset" is 19/],
    [{ query: " " }, /needs the argument "query"/],
  ];
  const [, ...outcomes] = await recalled("the harbour is open", (before) => {
    if (before.length === 0) return { query: "harbour" };
    const [args] = wrong[before.length - 1] ?? [null];
    return args !== null && "offset" in args ? { entry: before[0]?.[0]?.seq, ...args } : args;
  });
  expect(outcomes).toMatchObject(
    wrong.map(([, message]) => ({ status: "error", message: expect.stringMatching(message) as string })),
  );
});
