import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { Activation } from "./activation.ts";

test("whoever asks for agents waits until they are there: at the start, and after a pause", async () => {
  const done: string[] = [];
  const begun = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  const activation = new Activation({
    log: silentLog,
    begin: async (agentsKnown) => {
      await begun.promise;
      done.push("begun");
      agentsKnown();
    },
    pause: async () => void done.push("paused"),
    resume: async () => {
      await resumed.promise;
      done.push("resumed");
    },
  });
  await activation.agentsKnown(); // nobody is trusted: there is nothing to wait for
  expect(done).toEqual([]);

  activation.startOrPause(1, 0);
  begun.resolve();
  await activation.agentsKnown();
  expect(done).toEqual(["begun"]);

  activation.startOrPause(0, 1);
  await expect.poll(() => done).toEqual(["begun", "paused"]);
  activation.startOrPause(1, 0);
  resumed.resolve();
  await activation.agentsKnown();
  expect(done).toEqual(["begun", "paused", "resumed"]);
  expect(activation.isActive).toBe(true);
});

test("nobody waits for agents that could not be started", async () => {
  const refused = (): Promise<void> => Promise.reject(new Error("no"));
  const activation = new Activation({ log: silentLog, begin: refused, pause: refused, resume: refused });
  activation.startOrPause(1, 0);
  await activation.agentsKnown();
  expect(activation.isActive).toBe(false);
});
