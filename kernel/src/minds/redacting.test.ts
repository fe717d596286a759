import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../platform/clock.ts";
import { entryOf } from "./entries.ts";
import { agent, type FakeAnswer, lastText, MindBench, person } from "./testing/mind-bench.ts";

const confided = "grapefruit-7-umbrella";
const mark = "[redacted by the person]";

/** The files in a folder that hold a text. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const file of names.filter((each) => each.isFile())) {
    const content = await readFile(join(file.parentPath, file.name));
    if (content.includes(text)) found.push(file.name);
  }
  return found;
}

async function told(
  bench: MindBench,
  text = `My password is ${confided}.`,
): Promise<{ id: string; entry: string }> {
  const { id } = await bench.open();
  const entry = await bench.send(id, text);
  await bench.rested(id);
  return { id, entry };
}

const said = (entries: readonly Entry[]): string => JSON.stringify(entries);
const asked = (bench: MindBench): string => JSON.stringify(bench.questions.at(-1)?.question.messages);

test("a redacted message is in no file, no page, no search and no request, also after a restart", async () => {
  const bench = await MindBench.open();
  bench.model = () => ({ say: "I will keep it." });
  const { id, entry } = await told(bench);
  expect(await filesWith(bench.folder, confided)).not.toEqual([]);
  const { service } = bench;
  const result = await service.redact(person, { id, entry });
  expect(result).toMatchObject({ conversations: [id], memories: [] });
  expect(result.entries).toContain(entry);
  expect(await filesWith(bench.folder, confided)).toEqual([]);
  // The words of the search too.
  expect(await filesWith(bench.folder, "grapefruit")).toEqual([]);
  expect((await service.search({ agent, query: "grapefruit" })).items).toEqual([]);
  expect(await service.verify({ id })).toMatchObject({ ok: true });

  await bench.restart();
  expect(said(await bench.entries(id))).not.toContain(confided);
  expect(await bench.said(id, "user")).toEqual([mark]);
  expect((await bench.service.get(id)).title).toBe(mark);
  await bench.send(id, "What did I say?");
  await bench.rested(id);
  expect(asked(bench)).not.toContain(confided);
  expect(asked(bench)).toContain(mark);
  expect(await bench.service.verify({ id })).toMatchObject({ ok: true });
  expect(await filesWith(bench.folder, confided)).toEqual([]);
});

test("a redaction reaches every fork, from whichever it comes", async () => {
  const bench = await MindBench.open();
  const { id, entry } = await told(bench);
  const fork = await bench.service.fork(person, id);
  const second = await bench.service.fork(person, fork.id);
  await bench.send(second.id, "Continue.");
  await bench.rested(second.id);
  await bench.service.redact(person, { id: second.id, entry });
  for (const each of [id, fork.id, second.id]) {
    expect(said(await bench.entries(each))).not.toContain(confided);
    expect((await bench.service.get(each)).title).toBe(mark);
  }
  expect(await filesWith(bench.folder, confided)).toEqual([]);
  await bench.restart();
  for (const each of [id, fork.id, second.id]) {
    expect(await bench.service.verify({ id: each })).toMatchObject({ ok: true });
    expect((await bench.said(each, "user"))[0]).toBe(mark);
  }
});

test("a redaction reaches what a deleted origin keeps for its forks", async () => {
  const bench = await MindBench.open();
  const { id, entry } = await told(bench);
  const fork = await bench.service.fork(person, id);
  await bench.service.delete(person, id);
  await bench.service.redact(person, { id: fork.id, entry });
  expect(await filesWith(bench.folder, confided)).toEqual([]);
  await expect(bench.service.get(id)).rejects.toMatchObject({ code: "NotFound" });
});

test("a text is removed wherever it stands, and the rest of the entries stays", async () => {
  const bench = await MindBench.open();
  bench.model = ({ messages }) =>
    JSON.stringify(messages).includes("files/read")
      ? { say: `You said ${confided}, and the file says so.`, think: `hm, ${confided}` }
      : { call: [{ tool: "files/read", arguments: { path: `${confided}.txt` } }] };
  bench.tool = () => ({ status: "success", value: { text: `it is ${confided}` } });
  const { id } = await told(bench, `Look up ${confided}, please.`);
  const kinds = (entries: readonly Entry[]): string[] =>
    entries.map(({ kind }) => kind).filter((kind) => kind !== "redaction" && kind !== "meta");
  const before = kinds(await bench.entries(id));
  const result = await bench.service.redact(person, { id, text: confided });
  expect(result.entries.length).toBeGreaterThanOrEqual(4);
  expect(await filesWith(bench.folder, confided)).toEqual([]);
  await bench.restart();
  const entries = await bench.entries(id);
  expect(kinds(entries)).toEqual(before);
  expect(said(entries)).toContain(`Look up ${mark}, please.`);
  // The call still has its result.
  await bench.send(id, "And now?");
  await bench.rested(id);
  const question = asked(bench);
  expect(question).not.toContain(confided);
  expect(question.match(/"tool_call"/g)).toHaveLength(1);
  expect(question.match(/"tool_result"/g)).toHaveLength(1);
});

test("a redacted result leaves its call answered, and nothing is asked again after a restart", async () => {
  const bench = await MindBench.open();
  bench.model = ({ messages }) =>
    JSON.stringify(messages).includes("tool_result")
      ? { say: "Done." }
      : { call: [{ tool: "files/read", arguments: { path: "a.txt" } }] };
  bench.tool = () => ({ status: "success", value: confided });
  const { id } = await told(bench, "Read it.");
  const result = (await bench.entries(id)).find(({ kind }) => kind === "tool_result");
  const answer = (await bench.entries(id)).findLast(({ kind }) => kind === "message");
  await bench.service.redact(person, { id, entry: result?.id ?? "" });
  await bench.service.redact(person, { id, entry: answer?.id ?? "" });
  const questions = bench.questions.length;
  await bench.restart();
  const { processes } = await bench.service.get(id);
  expect(processes.map(({ state }) => state)).toEqual(["WaitingForInput"]);
  await bench.minds.use(id, (conversation) => conversation.resume());
  await bench.rested(id);
  expect([bench.questions.length, bench.calls.length]).toEqual([questions, 1]);
  expect(await filesWith(bench.folder, confided)).toEqual([]);
});

test("what a conversation has read taints it after it was redacted", async () => {
  const bench = await MindBench.open();
  bench.isScripted = true;
  bench.model = () => ({ say: `It is ${confided}.` });
  const { id } = await told(bench, "Tell me.");
  const { tainted } = await bench.service.get(id);
  expect(tainted).not.toEqual([]);
  const answer = (await bench.entries(id)).findLast(
    (entry) => entry.kind === "message" && entry.role === "assistant",
  );
  await bench.service.redact(person, { id, entry: answer?.id ?? "" });
  await bench.restart();
  await bench.minds.use(id, async () => {});
  expect((await bench.service.get(id)).tainted).toEqual(tainted);
  expect(said(await bench.entries(id))).not.toContain(confided);
});

test("a summary of what was redacted is redacted, and models no longer read it", async () => {
  const bench = await MindBench.open();
  bench.contextTokens = 8_000;
  const summary = `Goal: they use ${confided}, with a path to the pond, because it lasts. Open: nothing at all.`;
  bench.model = (_question, { process }) => (process === "compaction" ? { say: summary } : { say: "ok" });
  const { id, entry } = await told(bench);
  for (let at = 0; at < 6; at++) {
    await bench.send(id, `${"word ".repeat(300)}${at}`);
    await bench.rested(id);
  }
  await bench.service.compact(person, id);
  await bench.rested(id);
  expect((await bench.entries(id)).some(({ kind }) => kind === "summary")).toBe(true);
  await bench.service.redact(person, { id, entry });
  expect(await filesWith(bench.folder, confided)).toEqual([]);
  await bench.send(id, "What do I use?");
  await bench.rested(id);
  expect(asked(bench)).not.toContain(confided);
  expect(asked(bench)).toContain(mark);
});

test("what a person can have redacted is checked", async () => {
  const bench = await MindBench.open();
  const { id, entry } = await told(bench);
  const { service } = bench;
  await expect(service.redact(person, { id })).rejects.toMatchObject({ code: "InvalidParams" });
  await expect(service.redact(person, { id, entry, text: confided })).rejects.toMatchObject({
    code: "InvalidParams",
  });
  await expect(service.redact(person, { id, entry: "none" })).rejects.toMatchObject({ code: "NotFound" });
  const request = (await bench.entries(id)).find(({ kind }) => kind === "request");
  await expect(service.redact(person, { id, entry: request?.id ?? "" })).rejects.toMatchObject({
    code: "InvalidParams",
  });
  bench.model = () => ({ hangs: true });
  await bench.send(id, "Wait.");
  await expect(service.redact(person, { id, entry })).rejects.toMatchObject({ code: "IllegalTransition" });
});

test("memories of the conversation are named with a redaction", async () => {
  const bench = await MindBench.open();
  const { id, entry } = await told(bench);
  bench.memories.push({
    type: "Fact",
    text: `It is ${confided}`,
    conversation: id,
    call: "c1",
    sources: [],
    isTainted: false,
  });
  const { memories } = await bench.service.redact(person, { id, entry });
  expect(memories).toEqual([{ id: "c1", type: "Fact", text: `It is ${confided}` }]);
});

test("a kernel that died before the data was removed has it removed by the next one", async () => {
  const bench = await MindBench.open();
  const { id, entry } = await told(bench);
  const message = (await bench.entries(id)).find((each) => each.id === entry);
  if (message?.kind !== "message") throw new Error("There is no message.");
  {
    using opened = await bench.minds.conversations.open(id);
    const common = { process: message.process, turn: "r", created: message.created, origin: "person" };
    const parts = [{ type: "text" as const, text: mark }];
    await opened.log.append([
      { ...common, kind: "redaction", id: "r", entries: [{ ...message, parts }] },
      { ...common, kind: "meta", id: "t", title: mark },
    ]);
    await opened.log.sync();
  }
  await bench.restart();
  await bench.minds.use(id, async () => {});
  const titles = await filesWith(bench.folder, confided);
  // The record of the title was not named.
  expect(titles.filter((name) => name.endsWith("ndjson"))).toHaveLength(1);
  expect(await bench.said(id, "user")).toEqual([mark]);
  expect(await bench.service.verify({ id })).toMatchObject({ ok: true });
  await bench.service.redact(person, { id, text: confided });
  expect(await filesWith(bench.folder, confided)).toEqual([]);
});

test("an index that is made again from the logs has the marks, also of large contents", async () => {
  const bench = await MindBench.open();
  const long = `${"word ".repeat(20_000)}${confided}`;
  const { id } = await told(bench, long);
  const fork = await bench.service.fork(person, id);
  await bench.service.redact(person, { id, text: confided });
  await bench.stop();
  await bench.database.batch([
    { sql: "DELETE FROM conversation_entries", params: [] },
    { sql: "DELETE FROM conversation_texts", params: [] },
    { sql: "UPDATE conversation_heads SET checkpoint = NULL", params: [] },
  ]);
  await bench.start();
  for (const each of [id, fork.id]) await bench.minds.use(each, async () => {});
  for (const each of [id, fork.id]) {
    const [text = ""] = await bench.said(each, "user");
    expect(text.endsWith(mark)).toBe(true);
    expect(text).toHaveLength(long.length - confided.length + mark.length);
  }
  expect(await filesWith(bench.folder, confided)).toEqual([]);
});

test("a client that follows gets what is there now", async () => {
  const bench = await MindBench.open();
  const { id, entry } = await told(bench);
  const followed: Entry[] = [];
  using _following = await bench.service.follow(id, 0, {
    entry: (one) => followed.push(one),
    delta: () => {},
  });
  await bench.service.redact(person, { id, entry });
  const redaction = await until("the redaction", () => followed.find(({ kind }) => kind === "redaction"));
  expect(JSON.stringify(redaction)).toContain(mark);
  expect(JSON.stringify(redaction)).not.toContain(confided);
});

test("what a cortex has read of it is removed from the log of the mind", async () => {
  const bench = await MindBench.open();
  bench.model = (_question, { process }) => ({ say: process === "cortex" ? `They use ${confided}.` : "ok" });
  const { id, entry } = await told(bench);
  await bench.minds.cortex.run(agent);
  expect(await filesWith(bench.folder, confided)).not.toEqual([]);
  await bench.service.redact(person, { id, entry });
  const { items } = await bench.service.entries({ agent });
  expect(said(items.filter(({ origin }) => origin === "kernel"))).not.toContain(confided);
  await bench.service.redact(person, { id, text: confided });
  expect(await filesWith(bench.folder, confided)).toEqual([]);
  expect(said((await bench.service.entries({ agent })).items)).toContain(`They use ${mark}.`);
  await bench.send(id, "Hello?");
  await bench.rested(id);
  expect(asked(bench)).not.toContain(confided);
});

test("what a bulletin has of it is removed from other conversations that were told, and the bulletin too if the person wants that", async () => {
  const bench = await MindBench.open();
  const bulletin = "They like citrus and umbrellas.";
  bench.model = (_question, { process }) => ({ say: process === "cortex" ? bulletin : "ok" });
  const { id, entry } = await told(bench);
  await bench.minds.cortex.run(agent);
  const begun = await told(bench, "What do I like?");
  expect(asked(bench)).toContain(bulletin);
  const copied = `They use ${confided}.`;
  bench.model = (_question, { process }) => ({ say: process === "cortex" ? copied : "ok" });
  await bench.minds.cortex.run(agent);
  await bench.send(begun.id, "And now?");
  await bench.rested(begun.id);
  expect(said(await bench.entries(begun.id))).toContain(confided);
  const first = await bench.service.redact(person, { id, text: confided });
  expect(first.conversations.toSorted()).toEqual([id, begun.id].toSorted());
  expect(await filesWith(bench.folder, confided)).toEqual([]);
  await bench.service.redact(person, { id, entry, with_derived: true });
  expect(await filesWith(bench.folder, bulletin)).toEqual([]);
  await bench.restart();
  await bench.send(begun.id, "And after a restart?");
  await bench.rested(begun.id);
  expect(asked(bench)).not.toContain("umbrella");
  for (const each of [id, begun.id])
    expect(await bench.service.verify({ id: each })).toMatchObject({ ok: true });
});

test("a result that has only the id of a process is not named as made from a redacted entry, the call and reports are", async () => {
  const bench = await MindBench.open();
  bench.model = (question, { process }) =>
    process === "channel" && lastText(question).includes(confided)
      ? { call: [{ tool: "spawn_worker", arguments: { task: "buy fruit" } }] }
      : { say: process === "worker" ? "fruit is bought" : "Good." };
  const { id } = await told(bench);
  await bench.rested(id);
  const { derived } = await bench.service.redact(person, { id, text: confided, preview: true });
  const kinds = derived.map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(["tool_call", "conclusion"]));
  expect(kinds).not.toContain("tool_result");
});

test("what models made from a redacted entry is named by where it was made, and removed if the person wants that", async () => {
  const bench = await MindBench.open();
  const paraphrase = "So it is a citrus fruit with rain gear.";
  bench.model = () => ({ say: paraphrase });
  const { id, entry } = await told(bench);
  bench.model = () => ({ say: "Noon." });
  await bench.send(id, "What time is it?");
  await bench.rested(id);
  const preview = await bench.service.redact(person, { id, text: confided, preview: true });
  expect(preview).toMatchObject({ entries: expect.arrayContaining([entry]), derived_total: 1, removed: [] });
  expect(said(await bench.entries(id))).toContain(confided);
  const first = await bench.service.redact(person, { id, text: confided });
  expect(first.derived).toEqual([
    { conversation: id, entry: expect.any(String), kind: "message", text: paraphrase },
  ]);
  expect(first.derived_total).toBe(1);
  expect(await bench.said(id)).toEqual([paraphrase, "Noon."]);
  const second = await bench.service.redact(person, { id, entry, with_derived: true });
  expect(second).toMatchObject({ derived: [], derived_total: 0 });
  expect(await bench.said(id)).toEqual([mark, "Noon."]);
  expect(await filesWith(bench.folder, paraphrase)).toEqual([]);
  expect(await bench.service.verify({ id })).toMatchObject({ ok: true });
  // Elsewhere too: the words, and the outcomes of calls by their ids.
  expect(bench.forgotten.map(({ texts }) => texts)).toEqual([
    [confided],
    expect.arrayContaining([paraphrase]),
  ]);
});

test("a memory that goes with a redacted entry leaves the conversations that recalled it, and what these handed on", async () => {
  const bench = await MindBench.open();
  const paraphrase = "Their password is a citrus fruit with rain gear.";
  /** A branch makes a call, and says this with its result. */
  const remembers = (call: object, text: string): void => {
    bench.model = ({ messages }, { process }) => {
      if (JSON.stringify(messages).includes("tool_result")) return { say: text };
      return {
        call: [process === "branch" ? call : { tool: "branch", arguments: { task: "Remember." } }],
      } as FakeAnswer;
    };
  };
  remembers({ tool: "memory_save", arguments: { type: "Fact", text: paraphrase } }, "Saved.");
  const { id, entry } = await told(bench);
  const [memory] = bench.memories;
  expect(memory?.text).toBe(paraphrase);
  const remembered = memory?.call ?? "";
  bench.recalled = [
    {
      id: remembered,
      type: "Fact",
      text: paraphrase,
      by: agent,
      created: "2026-01-01T00:00:00Z",
      isTainted: false,
    },
  ] as unknown as typeof bench.recalled;
  remembers({ tool: "memory_recall", arguments: { query: "password" } }, `I know: ${paraphrase}`);
  const other = await bench.open();
  await bench.send(other.id, "Which password do I have?");
  await bench.rested(other.id);
  expect(said(await bench.entries(other.id)).split(paraphrase).length).toBeGreaterThan(3);
  const { conversations } = await bench.service.redact(person, { id, entry, with_derived: true });
  expect(conversations.toSorted()).toEqual([id, other.id].toSorted());
  for (const each of [id, other.id]) {
    expect(said(await bench.entries(each))).not.toContain("citrus");
    expect(await bench.service.verify({ id: each })).toMatchObject({ ok: true });
  }
  expect(await filesWith(bench.folder, "citrus")).toEqual([]);
  expect(bench.forgotten.flatMap(({ memories }) => memories)).toEqual([{ agent, id: remembered }]);
});

test("the preview names each memory that goes, and words of it that a person wrote elsewhere stay", async () => {
  const bench = await MindBench.open();
  const { id, entry } = await told(bench);
  const other = await bench.open();
  const theirs = "Their name is Ada, says the file.";
  await bench.send(other.id, theirs);
  await bench.rested(other.id);
  // The cortex merged it, from whatever it had read.
  const merged = { type: "Fact", text: "Their name is Ada", conversation: agent, call: "merged" };
  bench.memories.push({ ...merged, sources: [], isTainted: false });
  const named = [{ id: "merged", type: "Fact", text: merged.text }];
  const request = { id, entry, with_derived: true };
  const preview = await bench.service.redact(person, { ...request, preview: true });
  expect(preview.memories).toEqual(named);
  const { entries } = await bench.service.redact(person, request);
  expect(preview.entries.toSorted()).toEqual(entries.toSorted());
  expect(bench.forgotten.at(-1)).toMatchObject({ memories: [{ agent, id: "merged" }] });
  expect(bench.forgotten.at(-1)?.texts).not.toContain(merged.text);
  expect(await bench.said(other.id, "user")).toEqual([theirs]);
});

test("derived entries go in all conversations, also short ones; a fork's summary of entries of its own stays", async () => {
  const bench = await MindBench.open();
  bench.contextTokens = 8_000;
  const summary = "Goal: the garden plan. Decisions: oak trees, because they last. Open: count the chairs.";
  const call = { tool: "files/read", arguments: { path: "ada-lovelace.txt" } };
  bench.tool = () => ({ status: "success", value: "x" });
  bench.model = ({ messages }, { process }) => {
    if (process === "compaction") return { say: summary };
    const said = JSON.stringify(messages.slice(-2));
    return said.includes("tool_result") ? { say: "Ada L." } : said.includes("Look") ? { call: [call] } : {};
  };
  const { id } = await bench.open();
  const other = await bench.open();
  for (const each of [id, other.id]) {
    await bench.send(each, "Hello, this is about nothing.");
    await bench.rested(each);
  }
  const fork = await bench.service.fork(person, id);
  for (let at = 0; at < 6; at++) {
    await bench.send(fork.id, `${"word ".repeat(300)}${at}`);
    await bench.rested(fork.id);
  }
  await bench.service.compact(person, fork.id);
  await bench.rested(fork.id);
  for (const each of [id, other.id]) {
    await bench.send(each, `Look up ${confided} in the files.`);
    await bench.rested(each);
  }
  // The mind's own log has the text, so all of its conversations are searched.
  await bench.minds.useMind(agent, async ({ log }) => {
    const block = { kind: "block", name: "notes", text: `They like ${confided}.` } as const;
    await log.append([entryOf({ process: "p", turn: "", clock: systemClock }, block, { origin: "model" })]);
  });
  const done = await bench.service.redact(person, { id, text: confided, with_derived: true });
  expect(done.derived_total).toBe(0);
  for (const each of [id, other.id]) expect(said(await bench.entries(each))).not.toMatch(/Ada L|ada-love/);
  expect(said(await bench.entries(fork.id))).toContain(summary);
});

test("exact strings of a removed text leave what the model reads, where a compaction carried them over", async () => {
  const bench = await MindBench.open();
  bench.contextTokens = 8_000;
  bench.model = (_question, { process }) =>
    process === "compaction" ? { say: "Goal: nothing much so far. Decisions: none. Open: nothing." } : {};
  const sentence = "My code is plum-4242, for the door.";
  const { id } = await told(bench, sentence);
  for (let at = 0; at < 6; at++) {
    await bench.send(id, `${"word ".repeat(300)}${at}`);
    await bench.rested(id);
  }
  await bench.service.compact(person, id);
  await bench.rested(id);
  await bench.send(id, "Now?");
  await bench.rested(id);
  expect(asked(bench)).toContain("plum-4242");
  await bench.service.redact(person, { id, text: sentence });
  await bench.send(id, "And now?");
  await bench.rested(id);
  expect(asked(bench)).not.toContain("plum-4242");
  expect(await filesWith(bench.folder, "plum-4242")).toEqual([]);
});

test("a text that stands only in what a compaction carried over is removed, and the answer says where", async () => {
  const bench = await MindBench.open();
  const { id } = await told(bench);
  await bench.minds.use(id, async (conversation) => {
    const tail = await conversation.tailOf(conversation.channel);
    const { prefix } = tail;
    const carried = { ...prefix.carried, strings: [{ by: "person" as const, text: "plum-4242" }] };
    await tail.compact({ ...prefix, carried });
  });
  const done = await bench.service.redact(person, { id, text: "plum-4242" });
  expect(done).toMatchObject({ entries: [], conversations: [id] });
  expect(await filesWith(bench.folder, "plum-4242")).toEqual([]);
});

test("what stands elsewhere of a redacted call is named by its words and by the call, and a path is left alone", async () => {
  const bench = await MindBench.open();
  bench.model = ({ messages }) =>
    JSON.stringify(messages).includes("tool_result")
      ? { say: "Done." }
      : {
          call: [
            { tool: "files/write", arguments: { path: "notes/fruit-list.md", content: `It is ${confided}` } },
          ],
        };
  const { id } = await told(bench, "Write it down.");
  const call = (await bench.entries(id)).find(({ kind }) => kind === "tool_call");
  await bench.service.redact(person, { id, entry: call?.id ?? "" });
  const [forgotten] = bench.forgotten;
  expect(forgotten?.texts).toContain(`It is ${confided}`);
  expect(forgotten?.texts).not.toContain("notes/fruit-list.md");
  expect(forgotten?.calls).toEqual([
    { agent, conversation: id, call: call?.kind === "tool_call" ? call.call : "" },
  ]);
});
