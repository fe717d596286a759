import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AskRows } from "../asks/ask-rows.ts";
import { silentLog } from "../base/log.ts";
import type { ChatBinding } from "../base/vocabulary/chat-binding.ts";
import type { Forgotten } from "../base/vocabulary/forgetting.ts";
import { ChatBindingRows } from "../conversations/chat-bindings.ts";
import { systemClock } from "../platform/clock.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { plantTexts } from "../platform/testing/planted-texts.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { KeyedCalls } from "../tools/keyed-calls.ts";
import { openTraceLog } from "../trace/trace-log.ts";
import { filesWith } from "../../../test/support/stored.ts";
import { ledgerMigrations, ledgerTexts } from "./ledger.ts";
import { openForgetting } from "./forgetting.ts";
import { keyOf } from "../agent-minds/mind-tools.ts";

const confided = 'greengage "11"\nbasket';
const conversation = "01a21e19-1097-7142-b8a6-c1d122daaf77";
const forgotten: Forgotten = {
  texts: [confided],
  calls: [{ agent: "test.mind", conversation, call: "c1" }],
  agent: "test.mind",
  conversations: [conversation],
  memories: [],
};

const binding = (path: string): ChatBinding => ({
  path,
  agent: "test.mind",
  conversation,
  sent: null,
  written: 0,
  answer: 5,
  floor: 5,
  beforeAnswer: "sha256:a",
  beforeFloor: "sha256:b",
  seen: "sha256:c",
});

test("the text is out of every table, trace and shown file, and a chat file that has it is named", async () => {
  const stateFolder = await temporaryFolder();
  await using database = await openNearDatabase({
    path: join(stateFolder, "ledger.sqlite"),
    migrations: ledgerMigrations,
    log: silentLog,
  });
  await using traces = await openTraceLog({
    folder: join(stateFolder, "traces"),
    clock: systemClock,
    log: silentLog,
    keepDays: 30,
    redact: (text) => text,
  });
  const planted = await plantTexts(database, ledgerTexts, confided);
  for (const table of [
    "asks",
    "inbox",
    "inbox_dead",
    "jobs",
    "jobs_failed",
    "job_tasks",
    "notifications",
    "tool_calls",
  ])
    expect(planted).toContain(table);
  // The whole outcome of a call goes, however short it is.
  const keyed = await KeyedCalls.open(database, systemClock);
  const call = { caller: "test.mind", key: keyOf({ conversation }, "c1"), identity: {}, depth: 0 };
  await keyed.run(call, async (begun, hear) => {
    await begun();
    hear({ web: "all" });
    return { status: "success", value: "fig" };
  });
  traces.write({ level: "info", agent: "a.b", message: `It says ${confided}`, trace_id: "t", span_id: "s" });
  await traces.flush();
  await mkdir(join(stateFolder, "shown"));
  await writeFile(join(stateFolder, "shown", "a-1.diff"), `+${confided}`);
  await writeFile(join(stateFolder, "shown", "b-1.diff"), "+other");
  const chats = new ChatBindingRows(database, systemClock);
  await chats.put(binding("talk.chat.md"));
  await chats.put(binding("clean.chat.md"));
  const forgetting = openForgetting(
    { stateFolder, clock: systemClock, log: silentLog },
    {
      database,
      asks: { redact: (texts) => new AskRows(database).redact(texts) },
      actions: { redact: async () => ({ removed: 0, remains: [] }) },
      schedules: { redact: async () => ({ removed: 0, accepted: [] }) },
      memories: {
        keyOf: (agent) => `extension/${agent}`,
        memory: {
          exists: async () => false,
          open: () => Promise.reject(new Error("There is no memory.")),
        },
      },
      traces,
      chats,
      files: {
        readRange: async (path) => ({
          bytes: Buffer.from(path === "talk.chat.md" ? `## You\n\n${confided}` : "## You\n\nhello"),
          eof: true,
        }),
      },
    },
  );
  const said = "greengage";
  expect(await filesWith(stateFolder, said)).not.toEqual([]);
  const { report } = await forgetting.run({ forgotten, logs: {} }, async () => {});
  expect(await filesWith(stateFolder, said)).toEqual([]);
  expect(report.remains).toEqual([
    {
      place: "a file of this folder",
      name: "talk.chat.md",
      why: "It is yours and was not changed. Remove the text there yourself.",
    },
  ]);
  for (const place of ["traces", "changes shown in editors", "events", "jobs", "questions", "shared values"])
    expect(report.removed.map((each) => each.place)).toContain(place);
  const heard: unknown[] = [];
  const again = await keyed.run(
    call,
    () => Promise.reject(new Error("It is not made again.")),
    (foreign) => heard.push(foreign),
  );
  expect(again).toEqual({ status: "success", value: "[redacted by the person]" });
  // The taint stays.
  expect(heard).toEqual([{ web: "all" }]);
  expect(await chats.get("talk.chat.md")).toMatchObject({ conversation, seen: "", beforeAnswer: "" });
  expect((await traces.query({})).map(({ message }) => message)).toEqual([
    "It says [redacted by the person]",
  ]);
  const second = await forgetting.run({ forgotten, logs: {} }, async () => {});
  expect(second.report.removed).toEqual([]);
});
