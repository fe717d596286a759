import { beforeEach, expect, it } from "vitest";
import { conversation } from "../testing/conversations.ts";
import { fakeContext } from "../testing/context.ts";
import { commands, seen, window } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { blockAddress, blockIn } from "./block-documents.ts";
import { rowOfMemory, rowsOfWhy } from "./known.ts";
import { remembered } from "./remembered.ts";

beforeEach(() => {
  seen.forget();
  window.input = undefined;
});

const memory = {
  id: "m1",
  type: "Preference",
  text: "I like short answers.",
  query: "answers",
  read: "now",
  state: "remembered",
  present: { id: "m1", text: "I like short answers." },
} as const;
const why = { entry: "e2", model: "p/m", asked: "", blocks: [], memories: [memory], summaries: 0 };

async function run(
  answers: Readonly<Record<string, (params: never) => unknown>>,
  ...args: readonly unknown[]
): Promise<{ method: string; params: unknown }[]> {
  const fake = fakeContext({
    "lares/conversations/get": () => conversation(),
    "lares/conversations/why": () => why,
    ...answers,
  });
  const feature = remembered(fake.context);
  void commands.executeCommand("lares.why", "c1", ...args);
  await settled();
  feature.dispose();
  return fake.asked;
}

it("a memory behind an answer is corrected in the person's words", async () => {
  window.input = "I like long answers.";
  const asked = await run({ "lares/memory/correct": () => ({ id: "m2", seq: 3, bulletin: true }) }, "e2");
  expect(asked.filter(({ method }) => !method.endsWith("/get"))).toEqual([
    { method: "lares/conversations/why", params: { id: "c1", entry: "e2" } },
    {
      method: "lares/memory/correct",
      params: { agent: "test.agent", id: "m1", text: "I like long answers." },
    },
  ]);
  expect(seen.messages.map(({ text }) => text)).toEqual([
    "Corrected: “I like long answers.”. The mind’s bulletin was emptied, too.",
  ]);
});

it("nothing is corrected if the person leaves, and an answer without reasons says so", async () => {
  const left = await run({});
  expect(left.map(({ method }) => method)).not.toContain("lares/memory/correct");
  await run({ "lares/conversations/why": () => ({ ...why, memories: [] }) });
  expect(seen.messages.at(-1)?.text).toContain("rests on this conversation alone");
});

it("memories for an answer come first, and those of the bulletin behind it", () => {
  const rows = rowsOfWhy({
    ...why,
    memories: [memory, { ...memory, id: "m3", read: "bulletin", state: "gone" }],
    blocks: [{ name: "project", text: "Photos", present: false }],
    bulletin: { text: "Likes it short", present: true },
  });
  expect(rows.map(({ known }) => known.kind)).toEqual(["memory", "block", "bulletin", "memory"]);
  expect(rows[1]?.description).toContain("changed since");
});

it("what others wrote makes neither a sign nor a second line in a list", () => {
  const row = rowOfMemory({ id: "m1", variant: "Fact", text: "one\n$(trash) two", data: { about: "$(x)" } });
  expect(row?.label).not.toContain("\n");
  expect(row?.label.slice(1)).not.toContain("$(trash)");
  expect(row?.detail).not.toContain("$(x)");
});

it("a block's address names it again, whatever is in its name", () => {
  const named = { agent: "a/b", name: "ü %2F.md/x" };
  expect(blockIn(blockAddress(named))).toEqual(named);
  expect(blockIn(blockAddress({ ...named, id: "c1" }))).toEqual({ ...named, id: "c1" });
  // An editor normalises the path.
  expect(blockAddress(named).path).not.toContain("//");
  expect(blockIn({ path: "/x" })).toBeUndefined();
});
