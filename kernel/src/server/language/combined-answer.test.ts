import { expect, test } from "vitest";
import type { Log } from "../../base/log.ts";
import type { Session } from "../session/session.ts";
import { combinedAnswer } from "./combined-answer.ts";

const session = {} as Session;
const { signal } = new AbortController();
const found =
  (...items: unknown[]) =>
  async () =>
    items;
const failing = (reason: string) => () => Promise.reject(new Error(reason));

function ask(
  ...features: Parameters<typeof combinedAnswer> extends [Log, ...infer Features] ? Features : never
) {
  const said: string[] = [];
  const log = { warn: (message: string) => said.push(message) } as unknown as Log;
  return { said, answer: combinedAnswer(log, ...features)?.({}, session, signal) };
}

test("the results of all features are returned in order", async () => {
  expect(await ask(found(1, 2), found(), found(3)).answer).toEqual([1, 2, 3]);
});

test("a failing feature is logged and does not affect the others", async () => {
  const { said, answer } = ask(found(1), failing("the disk"), found(3));
  expect(await answer).toEqual([1, 3]);
  expect(said).toEqual([expect.stringContaining("the disk")]);
});

test("if all fail, the first error is the answer", async () => {
  await expect(ask(failing("one"), failing("two")).answer).rejects.toThrow("one");
});
