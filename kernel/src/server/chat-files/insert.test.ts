import { expect, test } from "vitest";
import { LaresError } from "../../base/errors.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Session } from "../session/session.ts";
import { insertInto, type Outcome } from "./insert.ts";
import { OpenChat } from "./open-chat.ts";

type Answer = (chat: OpenChat, newText: string) => unknown;

/** An editor that answers each edit in turn; `turn` lets time pass until the kernel has given up or asks again. */
async function ask(
  ...answers: readonly Answer[]
): Promise<{ outcome: Outcome; asked: number; chat: OpenChat }> {
  const places = { answer: 1, floor: 1 };
  const chat = new OpenChat("file:///a", "a", "x\n", { conversation: null, places, foreign: null });
  const clock = new ManualClock();
  let asked = 0;
  const session = {
    trusted: true,
    positionEncoding: "utf-16",
    capabilities: {},
    documents: { text: () => chat.text, version: () => 1 },
    endpoint: {
      request: async (
        _method: string,
        { edit }: { edit: { changes: Record<string, { newText: string }[]> } },
      ) => {
        const answer = answers[Math.min(asked++, answers.length - 1)];
        return answer?.(chat, edit.changes["file:///a"]?.[0]?.newText ?? "");
      },
    },
  } as unknown as Session;
  const over = new AbortController();
  const wanted = () => ({ at: chat.places.answer, text: "\n\n## A\n\nb\n\n## You\n", through: 7 });
  const inserting = insertInto(chat, session, clock, wanted, "label").finally(() => over.abort());
  for (let step = 0; step < 200 && !over.signal.aborted; step++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100);
  }
  return { outcome: await inserting, asked, chat };
}

const insert = (chat: OpenChat, text: string): void =>
  void chat.take(chat.text.slice(0, chat.places.answer) + text + chat.text.slice(chat.places.answer));
const applied: Answer = (chat, text) => {
  insert(chat, text);
  return { applied: true };
};
const refused: Answer = () => ({ applied: false });
const failed: Answer = () => {
  throw new LaresError("InternalError", "The person does not want it.");
};
const typedMeanwhile: Answer = (chat) => {
  setImmediate(() => chat.take(`y${chat.text}`));
  throw new LaresError("InternalError", "for another version");
};

test("a text that the document has then is written, and the next message begins at the heading behind it", async () => {
  const { outcome, asked, chat } = await ask(applied);
  expect([outcome, asked, chat.text]).toEqual(["written", 1, "x\n\n## A\n\nb\n\n## You\n\n"]);
  expect(chat.places).toEqual({ answer: chat.text.indexOf("## You"), floor: chat.text.indexOf("## You") });
});

test("an editor that refuses is asked a bounded number of times", async () => {
  const { outcome, asked } = await ask(refused);
  expect(outcome).toBe("refused");
  expect(asked).toBeGreaterThan(2);
  expect(asked).toBeLessThan(20);
  expect(await ask(refused, refused, applied)).toMatchObject({ outcome: "written", asked: 3 });
});

test("an error is asked about again only if the text has changed: a person may have declined", async () => {
  expect(await ask(failed)).toMatchObject({ outcome: "refused", asked: 1 });
  expect(await ask(typedMeanwhile, applied)).toMatchObject({ outcome: "written", asked: 2 });
});

test("one that says it applied the edit and shows nothing is not asked twice, because the edit may still come", async () => {
  const late = await ask(() => ({ applied: true }));
  expect(late).toMatchObject({ outcome: "refused", asked: 1 });
  expect(late.chat.take("x\n\n## A\n\nb\n\n## You\n\n")).toMatchObject({ through: 7 });
});

test("a client without the request, or that has gone, is not asked again", async () => {
  const unknown: Answer = () => {
    throw new LaresError("MethodNotFound", "unknown");
  };
  const gone: Answer = () => {
    throw new LaresError("Busy", "closed");
  };
  expect(await ask(unknown)).toMatchObject({ outcome: "refused", asked: 1 });
  expect(await ask(gone)).toMatchObject({ outcome: "gone", asked: 1 });
});
