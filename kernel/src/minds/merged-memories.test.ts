import { expect, test } from "vitest";
import { agent, MindBench } from "./testing/mind-bench.ts";
import type { RecalledMemory } from "./ports.ts";

const memory = (id: string, type: string, text: string, sources: readonly string[] = []): RecalledMemory => ({
  id,
  type,
  text,
  created: "2026-01-01T00:00:00.000Z",
  sources,
  isTainted: sources.length > 0,
});

/** Has a process of a kind recall these, and then save what is given. Returns the result of the saving. */
async function saved(
  recalled: readonly RecalledMemory[],
  given: Readonly<Record<string, unknown>>,
  { isRecalling = true }: { readonly isRecalling?: boolean } = {},
): Promise<{ readonly bench: MindBench; readonly result: string }> {
  const bench = await MindBench.open();
  bench.recalled = recalled;
  const calls = [
    ...(isRecalling ? [{ tool: "memory_recall", arguments: { query: "tea" } }] : []),
    { tool: "memory_save", arguments: given },
  ];
  bench.model = (_question, { process }) => {
    const call = process === "cortex" ? calls.shift() : undefined;
    return call === undefined ? { say: "ok" } : { call: [call] };
  };
  const { id } = await bench.open();
  await bench.send(id, "hello");
  await bench.rested(id);
  await bench.minds.cortex.run(agent);
  const { items } = await bench.service.entries({ agent });
  const last = items.findLast((entry) => entry.kind === "tool_result");
  return { bench, result: JSON.stringify(last?.kind === "tool_result" ? last.result : null) };
}

const both = [memory("k1", "Fact", "Tea at five"), memory("k2", "Fact", "There is tea at five")];

test("a cortex saves one memory in the place of others", async () => {
  const { bench, result } = await saved(both, {
    type: "Fact",
    text: "Tea is at five.",
    replaces: ["k1", "k2"],
  });
  expect(result).toContain("success");
  expect(bench.memories).toMatchObject([
    { text: "Tea is at five.", replaces: ["k1", "k2"], isTainted: false },
  ]);
});

test.each<[string, readonly RecalledMemory[], object, RegExp, boolean]>([
  ["one that is not there", both, { replaces: ["k1", "k9"] }, /no memory .*k9/, true],
  ["too many", both, { replaces: Array.from({ length: 21 }, () => "k1") }, /at most 20/, true],
  [
    "a tainted one and another",
    [...both, memory("k3", "Fact", "Tea at six", ["web"])],
    { replaces: ["k1", "k3"] },
    /cannot be replaced by one that comes from foreign sources.*web/,
    true,
  ],
  [
    "a tainted one by what is not",
    [memory("k3", "Fact", "Tea at six", ["web"])],
    { replaces: ["k3"] },
    /comes from foreign sources \("web"\)/,
    false,
  ],
  [
    "the person's own words by a fact",
    [memory("k1", "Preference", "I like tea.")],
    { replaces: ["k1"] },
    /person's own words/,
    true,
  ],
  [
    "preferences by words that the person did not write",
    [memory("k1", "Preference", "I like tea.")],
    { type: "Preference", text: "I like tea and coffee.", replaces: ["k1"] },
    /repeats the person's own words/,
    true,
  ],
])("a merge of %s is refused with the reason", async (_name, recalled, given, why, isRecalling) => {
  const { bench, result } = await saved(
    recalled,
    { type: "Fact", text: "Tea is at five.", ...given },
    { isRecalling },
  );
  expect(JSON.parse(result)).toMatchObject({
    status: "error",
    message: expect.stringMatching(why) as string,
  });
  expect(bench.memories).toEqual([]);
});

test("of preferences that say the same one stays, word by word", async () => {
  const { bench } = await saved(
    [memory("k1", "Preference", "I like tea."), memory("k2", "Preference", "I like tea!")],
    { type: "Preference", text: "I like tea.", replaces: ["k1", "k2"] },
  );
  expect(bench.memories).toMatchObject([{ type: "Preference", text: "I like tea.", replaces: ["k1", "k2"] }]);
});
