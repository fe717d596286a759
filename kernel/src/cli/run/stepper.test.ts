import { expect, test } from "vitest";
import type { TraceEntry } from "../../base/vocabulary/trace.ts";
import { maxWaiting, Stepper } from "./stepper.ts";

const anEntry: TraceEntry = {
  timestamp: "2026-11-27T06:00:00.000Z",
  level: "debug",
  agent: "a.b",
  message: "",
  trace_id: "t",
  span_id: "s",
};

function bed() {
  const shown: string[] = [];
  const remarks: string[] = [];
  let quits = 0;
  const stepper = new Stepper({
    show: ({ message }) => shown.push(message),
    remark: (text) => remarks.push(text),
    quit: () => void (quits += 1),
  });
  const add = (message: string, step?: TraceEntry["step"]): void =>
    stepper.add({
      ...anEntry,
      message,
      ...(step === undefined ? {} : { step }),
    } satisfies TraceEntry);
  const press = (name: string, isControl = false): string[] => {
    shown.length = 0;
    stepper.key({ name, isControl });
    return [...shown];
  };
  return { stepper, shown, remarks, add, press, quits: () => quits };
}

test("the first event is shown, then a step for each Enter, with the agent's own traces before it", () => {
  const { shown, add, press, stepper } = bed();
  add("one", "begin");
  add("a", "call");
  add("said");
  add("done", "end");
  expect(shown).toEqual(["one"]);
  expect(press("return")).toEqual(["a"]);
  expect(stepper.isBusy).toBe(true);
  expect(press("return")).toEqual(["said", "done"]);
  expect(stepper.isBusy).toBe(false);
});

test("a trace in which the agent itself writes of a step is not one", () => {
  const { shown, add, press, stepper } = bed();
  add("one", "begin");
  stepper.add({ ...anEntry, message: "forged", fields: { step: "begin" } });
  add("a", "call");
  expect(shown).toEqual(["one"]);
  expect(press("c")).toEqual(["forged", "a"]);
});

test("c shows everything up to the next event", () => {
  const { add, press } = bed();
  add("one", "begin");
  add("a", "call");
  add("b", "call");
  add("done", "end");
  add("two", "begin");
  add("c", "call");
  expect(press("c")).toEqual(["a", "b", "done", "two"]);
});

test("a step that is asked for before it happens is shown when it does", () => {
  const { shown, add, press } = bed();
  add("one", "begin");
  expect(press("return")).toEqual([]);
  add("a", "call");
  add("b", "call");
  expect(shown).toEqual(["a"]);
});

test("q, Ctrl-C and Ctrl-D quit, and other keys do nothing", () => {
  const { press, quits } = bed();
  press("x");
  expect(quits()).toBe(0);
  press("q");
  press("c", true);
  press("d", true);
  expect(quits()).toBe(3);
});

test("of too many waiting traces the oldest are dropped, and the person is told", () => {
  const { add, press, remarks } = bed();
  add("one", "begin");
  for (let n = 0; n < maxWaiting + 3; n++) add(`call ${n}`, "call");
  expect(press("return")).toEqual(["call 3"]);
  expect(remarks).toEqual(["3 earlier traces are not shown. lares traces has them."]);
});
