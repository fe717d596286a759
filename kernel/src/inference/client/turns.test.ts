import { expect, test } from "vitest";
import { neverAborted } from "../../base/abort.ts";
import { nextTurn } from "../../base/next-turn.ts";
import { TooManyWait, Turns } from "./turns.ts";

/** Takes a turn and notes when it has it. */
function asked(turns: Turns, log: string[], model: string, signal = neverAborted) {
  const turn = turns.take(model, signal).then((held) => {
    log.push(model);
    return held;
  });
  turn.catch(() => undefined);
  return turn;
}

test("a model has one run at a time, in order, and few models run at once", async () => {
  const turns = new Turns(2, 10);
  const log: string[] = [];
  const all = ["a", "a", "b", "c"].map((model) => asked(turns, log, model));
  await nextTurn();
  expect(log).toEqual(["a", "b"]);
  (await all[0])?.[Symbol.dispose]();
  await nextTurn();
  // The second question for "a" came before the one for "c".
  expect(log).toEqual(["a", "b", "a"]);
  (await all[2])?.[Symbol.dispose]();
  (await all[2])?.[Symbol.dispose]();
  await nextTurn();
  expect(log).toEqual(["a", "b", "a", "c"]);
});

test("one more than may wait is refused, and a place that is given up is free again", async () => {
  const turns = new Turns(1, 1);
  const first = await turns.take("a", neverAborted);
  const abort = new AbortController();
  const waiting = turns.take("a", abort.signal);
  await expect(turns.take("a", neverAborted)).rejects.toThrow(TooManyWait);
  abort.abort(new Error("given up"));
  await expect(waiting).rejects.toThrow("given up");
  const next = turns.take("b", neverAborted);
  first[Symbol.dispose]();
  (await next)[Symbol.dispose]();
});
