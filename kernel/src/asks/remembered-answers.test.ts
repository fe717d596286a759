import { describe, expect, onTestFinished, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { Ask, AskScope } from "../base/vocabulary/ask.ts";
import { personAt } from "../base/vocabulary/principal.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { AskRows } from "./ask-rows.ts";
import { Asks, type Question } from "./asks.ts";
import { asksMigrations } from "./migrations.ts";

const question: Question = {
  agent: "dev.a",
  conversation: "c",
  kind: "repeat",
  title: "May dev.a call it once more?",
  reason: "It was called twice.",
  sources: [],
  facts: {},
  scopes: ["once", "conversation"],
  about: "files/read",
  countsFor: "agent",
};

async function person() {
  const database = await openNearDatabase({ path: ":memory:", migrations: asksMigrations, log: silentLog });
  onTestFinished(() => database[Symbol.asyncDispose]());
  const always = new Map<string, boolean>();
  const asks = new Asks({
    clock: new ManualClock(),
    log: silentLog,
    rows: new AskRows(database),
    expireAfterMs: () => 3_600_000,
    remembered: {
      find: ({ about }) => always.get(about) ?? null,
      remember: async ({ about }, allow) => void always.set(about, allow),
    },
  });
  onTestFinished(() => asks[Symbol.dispose]());
  const asked: Ask[] = [];
  asks.changed.on((ask) => {
    if (ask.state === "Pending") asked.push(ask);
  });
  const answers = async (given: Question, allow: boolean, remember: AskScope): Promise<boolean> => {
    const result = asks.isAllowed(given, neverAborted);
    const { id, digest } = asked.at(-1) ?? { id: "", digest: "sha256:" as const };
    await asks.answer(personAt("test"), id, { digest, allow, remember });
    return result;
  };
  return { asks, asked, answers };
}

describe.each([
  ["conversation", "once"],
  ["always", "once"],
  ["always", "conversation"],
] as const)('what was answered with "%s"', (scope, only) => {
  const scopes: AskScope[] = ["once", scope];
  const wide: Question = { ...question, scopes };
  const narrow: Question = { ...question, scopes: [only], sources: ["downloads/evil.md"] };

  test(`is asked again by a question that may be answered with "${only}" alone, if it was allowed`, async () => {
    const { asks, asked, answers } = await person();
    expect(await answers(wide, true, scope)).toBe(true);
    expect(await asks.isAllowed(wide, neverAborted)).toBe(true);
    expect(asked).toHaveLength(1);
    expect(await answers(narrow, true, only)).toBe(true);
    expect(asked).toHaveLength(2);
  });

  test("is not asked again by such a question, if it was denied", async () => {
    const { asks, asked, answers } = await person();
    expect(await answers(wide, false, scope)).toBe(false);
    expect(await asks.isAllowed(narrow, neverAborted)).toBe(false);
    expect(asked).toHaveLength(1);
  });
});
