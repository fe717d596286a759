import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import type { NewEntry } from "../conversations/records.ts";
import { removeFrom } from "./redacting.ts";
import { agent, MindBench, person } from "./testing/mind-bench.ts";

const confided = "grapefruit-7-umbrella";
/** In this time a process that does not wait would ask its model. */
const wouldAskMs = 100;
const mark = "[redacted by the person]";

async function filesWith(folder: string, text: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const file of names.filter((each) => each.isFile()))
    if ((await readFile(join(file.parentPath, file.name))).includes(text)) found.push(file.name);
  return found;
}

/** Writes the pieces of an answer, as they come, and the whole of it. */
async function streamed(
  bench: MindBench,
  id: string,
  pieces: readonly string[],
  whole?: string,
  answer = "answer",
): Promise<void> {
  using opened = await bench.minds.conversations.open(id);
  const { log } = opened;
  const process = log.state.processes.find(({ kind }) => kind === "channel")?.id ?? "";
  const said = (text: string) => ({
    kind: "message" as const,
    id: answer,
    process,
    turn: "t",
    created: "2026-11-27T08:00:00.000Z",
    origin: "model",
    role: "assistant" as const,
    parts: [{ type: "text" as const, text }],
  });
  await log.append([
    ...pieces.map((text): NewEntry => ({ ...said(text), partial: true as const })),
    ...(whole === undefined ? [] : [said(whole)]),
  ]);
}

test.each<[string, readonly string[], string | undefined]>([
  ["stands across them", ["I keep it: gra", "pefru", "it-7-umbrella, for you."], undefined],
  [
    "stands across those of a whole answer",
    ["I keep it: gra", "pefruit-7-umbrella."],
    `I keep it: ${confided}.`,
  ],
  ["had only begun when the last one was written", ["I keep it: grapefruit-7"], `I keep it: ${confided}.`],
])("a text is removed from the pieces of an answer if it %s", async (_where, pieces, whole) => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  await bench.send(id, "Keep my password.");
  await bench.rested(id);
  await streamed(bench, id, pieces, whole);
  await bench.service.redact(person, { id, text: confided });
  for (const piece of [": gra", "pefru", "it-7-umbrella"])
    expect(await filesWith(bench.folder, piece)).toEqual([]);
  const entries = await bench.entries(id);
  const left = entries.flatMap((entry) =>
    entry.kind === "message" &&
    entry.role === "assistant" &&
    entry.partial === (whole === undefined || undefined)
      ? entry.parts.map((part) => ("text" in part ? part.text : ""))
      : [],
  );
  expect(left).toContainEqual(expect.stringContaining(`I keep it: ${mark}`));
  expect(await bench.service.verify({ id })).toMatchObject({ ok: true });
  // There is nothing left to remove.
  expect((await bench.service.redact(person, { id, text: confided })).entries).toEqual([]);
});

test("a piece of a redacted answer is not looked for elsewhere, where it may be anybody's phrase", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  await bench.send(id, "I said: approve the change, please.");
  await bench.rested(id);
  await streamed(
    bench,
    id,
    ["It is ", "approve the change", ", as you know."],
    "It is approve the change, as you know.",
  );
  await bench.service.redact(person, { id, entry: "answer" });
  expect(bench.forgotten.map(({ texts }) => texts)).toEqual([["It is approve the change, as you know."]]);
  expect(await bench.said(id, "user")).toEqual(["I said: approve the change, please."]);
  expect(await filesWith(bench.folder, "as you know")).toEqual([]);
  await streamed(bench, id, ["It is ", "approve the change", ", once more."], undefined, "second");
  await bench.service.redact(person, { id, entry: "second" });
  expect(bench.forgotten.at(-1)?.texts).toEqual(["It is approve the change, once more."]);
});

test("what is sent while a text is removed is answered from what is left", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  await bench.send(id, `My password is ${confided}.`);
  await bench.rested(id);
  const asked = bench.questions.length;
  bench.model = ({ messages }) => ({ say: JSON.stringify(messages) });
  const { redactions } = bench.minds.conversations;
  const redact = redactions.redact.bind(redactions);
  const sending: Promise<string>[] = [];
  redactions.redact = async (ids, removal) => {
    sending.push(bench.send(id, "What is it?"));
    await new Promise((resolve) => setTimeout(resolve, wouldAskMs));
    expect(bench.questions).toHaveLength(asked);
    return await redact(ids, removal);
  };
  await bench.service.redact(person, { id, text: confided });
  await Promise.all(sending);
  await until("the answer", () => bench.questions.length > asked);
  await bench.rested(id);
  expect(await filesWith(bench.folder, confided)).toEqual([]);
  expect(await bench.said(id)).toHaveLength(2);
});

test("a worker that was stopped stays so after an earlier status of it was redacted, in forks and the next kernel too", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  let [asked, spawned] = [0, 0];
  const status = (text: string) => ({ call: [{ tool: "set_status", arguments: { text } }] });
  bench.model = (_question, asker) => {
    if (asker.process !== "worker")
      return spawned++ > 0
        ? { say: "ok" }
        : { call: [{ tool: "spawn_worker", arguments: { task: "Look." } }] };
    asked++;
    return asked === 1 ? status(`I use ${confided}`) : asked === 2 ? status("Looking") : { hangs: true };
  };
  await bench.send(id, "Have it looked up.");
  await until("the worker to work", () => asked === 3);
  await bench.service.cancel(person, id);
  await bench.rested(id);
  const fork = await bench.service.fork(person, id);
  const states = async (of: string): Promise<string[]> =>
    (await bench.service.get(of)).processes.flatMap(({ kind, state }) => (kind === "worker" ? [state] : []));
  expect(await states(id)).toEqual(["Cancelled"]);
  await bench.service.redact(person, { id, text: confided });
  expect([await states(id), await states(fork.id)]).toEqual([["Cancelled"], []]);
  await bench.restart();
  for (const each of [id, fork.id]) await bench.minds.use(each, (conversation) => conversation.resume());
  await bench.rested(id);
  expect([await states(id), await states(fork.id)]).toEqual([["Cancelled"], []]);
  expect(asked).toBe(3);
  expect(await filesWith(bench.folder, confided)).toEqual([]);
});

test("a text is removed from a fork that began after its conversation was searched", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  await bench.send(id, `My password is ${confided}.`);
  await bench.rested(id);
  const fork = await bench.service.fork(person, id);
  await bench.send(fork.id, "What is it?");
  await bench.rested(fork.id);
  await removeFrom(bench.minds, { agent, logs: [id], text: confided });
  expect(await filesWith(bench.folder, confided)).toEqual([]);
  expect((await bench.service.get(fork.id)).title).toContain(mark);
});

test("a cortex that is about to read what is being removed reads what is left", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  await bench.send(id, `My password is ${confided}.`);
  await bench.rested(id);
  const { redactions } = bench.minds.conversations;
  const redact = redactions.redact.bind(redactions);
  const running: Promise<boolean>[] = [];
  redactions.redact = async (ids, removal) => {
    running.push(bench.minds.cortex.run(agent));
    await new Promise((resolve) => setTimeout(resolve, wouldAskMs));
    return await redact(ids, removal);
  };
  await bench.service.redact(person, { id, text: confided });
  expect(await Promise.all(running)).toEqual([true]);
  expect(await filesWith(bench.folder, confided)).toEqual([]);
  expect(JSON.stringify(bench.questions.at(-1)?.question.messages)).toContain(mark);
});

test("the title that was made of the beginning of a text goes with the text", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  const text = "My bank account has the number 4711 0815 and nobody but you may know that, please keep it.";
  await bench.send(id, `Note: ${text}`);
  await bench.rested(id);
  expect((await bench.service.get(id)).title).toContain("4711");
  await bench.service.redact(person, { id, text });
  expect((await bench.service.get(id)).title).toBe(`Note: ${mark}…`);
  expect(await filesWith(bench.folder, "4711")).toEqual([]);
});
