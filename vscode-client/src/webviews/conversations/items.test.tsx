import { renderToString } from "preact-render-to-string";
import { expect, it } from "vitest";
import { HOSTILE, HOSTILE_PIECES } from "../../../../test/support/hostile-text.ts";
import { Asked } from "./decisions.tsx";
import type { ShownProcess } from "./entries.ts";
import { Answer, Call, End, Task, You } from "./items.tsx";
import { ConversationHead } from "./head.tsx";
import { RowButton } from "./list.tsx";
import type { Head, Question, Row } from "./messages.ts";
import { StatusLine } from "./status-line.tsx";
import { Entries } from "./testing.ts";
import { Transcript } from "./transcript.ts";
import { turnsOf, type Item, type ItemOf } from "./turns.ts";

const nothing = (): void => undefined;
const acts = {
  openLink: nothing,
  copy: nothing,
  fork: nothing,
  pin: nothing,
  why: () => undefined,
  redact: () => undefined,
  showWhole: nothing,
  openPath: nothing,
  showProcess: nothing,
};
const host = { ask: () => Promise.reject(new Error("Nobody is there.")), on: () => nothing };
const digest = `sha256:${"0".repeat(64)}`;

const process = (text: string): ShownProcess => ({
  id: "w1",
  kind: "worker",
  name: text.slice(0, 100),
  state: "Failed",
  task: text,
  status: text.slice(0, 300),
  started: "2026-01-01T12:00:00.000Z",
  error: { code: text.slice(0, 60), message: text },
});

function drawn(text: string): string {
  const entries = new Entries();
  entries.add("message", {
    role: "user",
    origin: text.slice(0, 200),
    parts: [
      { type: "text", text },
      { type: "file", path: text.slice(0, 500) },
    ],
    sources: [text.slice(0, 200)],
  });
  entries.answer("m1", { type: "reasoning", text }, text);
  entries.add("tool_call", {
    call: "c1",
    tool: text.slice(0, 200),
    main: text.slice(0, 300),
    arguments: text,
  });
  const transcript = new Transcript();
  transcript.take(entries.all);
  const items: Item[] = turnsOf(transcript, "channel", "channel").flatMap((turn) => [...turn.items]);
  const of = <Kind extends Item["kind"]>(kind: Kind): ItemOf<Kind> =>
    items.find((item): item is ItemOf<Kind> => item.kind === kind)!;
  const row: Row = {
    id: "1",
    agent: text.slice(0, 200),
    title: text.slice(0, 250),
    isArchived: false,
    updated: text.slice(0, 40),
    unread: 1,
    activity: "waiting",
    waiting: 1,
  };
  const head: Head = {
    ...row,
    seq: 1,
    model: text.slice(0, 300),
    tainted: [text.slice(0, 300)],
    processes: [{ ...process(text), id: "channel", kind: "channel" }, process(text)],
    context: { tokens: 1, limit: 2 },
    usage: { inputTokens: 1, outputTokens: 1 },
  };
  const question: Question = {
    id: "q",
    digest,
    title: text,
    reason: text,
    arguments: { text, left: 12 },
    sources: [text.slice(0, 300)],
    scopes: ["once"],
  };
  const headActs = new Proxy({}, { get: () => nothing }) as never;
  return renderToString(
    <>
      <You item={of("you")} isPinned={false} acts={acts} />
      <Answer item={of("answer")} isPinned acts={acts} agent="Steward" />
      <Call item={of("call")} acts={acts} />
      <Task process={process(text)} onShow={nothing} />
      <End item={{ process: process(text) } as ItemOf<"end">} />
      <Asked host={host} question={question} announce={nothing} />
      <RowButton row={row} nowMs={0} onOpen={nothing} />
      <ConversationHead head={head} waiting={0} shown="channel" acts={headActs} />
      <StatusLine head={head} onContext={nothing} />
    </>,
  );
}

it.each([["all of it", HOSTILE], ...Object.entries(HOSTILE_PIECES)])(
  "foreign words make no button, element or hidden character: %s",
  (_name, text) => {
    const html = drawn(text);
    const buttons = (of: string): number => of.match(/<button/g)?.length ?? 0;
    expect(buttons(html)).toBe(buttons(drawn("harmless")));
    expect(html).not.toMatch(/<(img|script|a)\b/);
    expect(html).not.toMatch(/\shref=/);
    // oxlint-disable-next-line no-control-regex -- these must not be in the page
    expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066\u2067]/);
  },
);

it("a message that extensions changed names them, and is not shown as the person's alone", () => {
  const entries = new Entries();
  const message = { id: "m", role: "user" as const };
  const text = (said: string) => [{ type: "text" as const, text: said }];
  entries.add("message", { ...message, origin: "person", parts: text("my key is 123") });
  entries.add("message", { ...message, origin: "web", by: "local.guard", parts: text("my key is ***") });
  entries.add("message", { ...message, origin: "agent:local.b", by: "local.b", parts: text("no key") });
  const transcript = new Transcript();
  transcript.take(entries.all);
  const [item] = turnsOf(transcript, "channel", "channel").flatMap((turn) => [...turn.items]);
  if (item?.kind !== "you") throw new Error("There is no message.");
  const html = renderToString(<You item={item} isPinned={false} acts={acts} />);
  expect(html).toContain('<p class="meta">You, changed by local.guard, local.b</p>');
  expect(html).toContain("no key");
  expect(html).not.toContain("123");
});
