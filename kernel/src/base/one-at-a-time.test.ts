import { expect, it } from "vitest";
import { OneAtATime } from "./one-at-a-time.ts";

it("tasks of one name run in order, one at a time, also after failures; other names do not wait; nothing is kept", async () => {
  const queue = new OneAtATime();
  const log: string[] = [];
  const held = Promise.withResolvers<void>();
  const work = (name: string, waits?: Promise<void>) =>
    queue.run(name.charAt(0), async () => {
      log.push(`begin ${name}`);
      await waits;
      log.push(`end ${name}`);
      if (name === "a2") throw new Error("no");
      return name;
    });
  const results = [work("a1", held.promise), work("a2"), work("a3")];
  expect(await work("b1")).toBe("b1");
  expect(log).toEqual(["begin a1", "begin b1", "end b1"]);
  held.resolve();
  expect((await Promise.allSettled(results)).map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "fulfilled",
  ]);
  expect(log.slice(3)).toEqual(["end a1", "begin a2", "end a2", "begin a3", "end a3"]);
  expect(queue.size).toBe(0);
});

it("more tasks of one name than the limit are refused until some are done", async () => {
  const queue = new OneAtATime({ limit: "testLimit", most: 2 });
  const held = Promise.withResolvers<void>();
  const running = [queue.run("a", () => held.promise), queue.run("a", async () => undefined)];
  const refused = { code: "LimitExceeded", facts: { limit: "testLimit", value: 2 } };
  await expect(queue.run("a", async () => "third")).rejects.toMatchObject(refused);
  expect(await queue.run("b", async () => "another name")).toBe("another name");
  held.resolve();
  await Promise.all(running);
  expect(await queue.run("a", async () => "again")).toBe("again");
});

it("a task that is no longer wanted does not count against the limit and leaves nothing behind", async () => {
  const queue = new OneAtATime({ limit: "testLimit", most: 2 });
  const held = Promise.withResolvers<void>();
  let isWanted = true;
  const wanted = (): boolean => isWanted;
  const old = [queue.run("a", () => held.promise, wanted), queue.run("a", async () => undefined, wanted)];
  await expect(queue.run("a", async () => "third")).rejects.toMatchObject({ code: "LimitExceeded" });
  isWanted = false;
  const next = queue.run("a", async () => "of the next guest");
  held.resolve();
  expect(await next).toBe("of the next guest");
  await Promise.all(old);
  expect(queue.size).toBe(0);
});

it("tasks that are no longer wanted are bounded too, until the first of them has ended", async () => {
  const queue = new OneAtATime({ limit: "testLimit", most: 2 });
  const held = Promise.withResolvers<void>();
  const unwanted = Array.from({ length: 8 }, () =>
    queue.run(
      "a",
      () => held.promise,
      () => false,
    ),
  );
  await expect(queue.run("a", async () => "ninth")).rejects.toMatchObject({ code: "LimitExceeded" });
  held.resolve();
  await Promise.all(unwanted);
  expect(await queue.run("a", async () => "later")).toBe("later");
});
