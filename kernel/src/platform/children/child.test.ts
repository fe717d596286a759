import { expect, test } from "vitest";
import { startTestChild } from "../testing/test-child.ts";

test("messages and bytes are sent to the child and returned, in order", async () => {
  const heard: [string, number[]][] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const child = await startTestChild((said, bytes) => {
    heard.push([said, [...bytes]]);
    if (said === "last") resolve();
  });
  await child.ready;
  child.send({ say: "ä" });
  child.send({ do: "echo bytes" }, new Uint8Array([1, 2]));
  child.send({ say: "last" });
  await promise;
  expect(heard).toEqual([
    ["ä", []],
    ["bytes", [1, 2]],
    ["last", []],
  ]);
});

test("everything sent before the end is received before it", async () => {
  const heard: string[] = [];
  const child = await startTestChild((said) => heard.push(said));
  child.send({ say: "before", do: "exit" });
  expect([await child.ended, heard, child.isAlive, child.isEnding]).toEqual([
    "ended with exit code 3",
    ["before"],
    false,
    false,
  ]);
});

test("a child that cannot start rejects `ready` with its output", async () => {
  const child = await startTestChild(undefined, "broken");
  await expect(child.ready).rejects.toThrow("its process ended with exit code 1 (It cannot start.)");
});

test("a fault of the child's own ends it", async () => {
  const child = await startTestChild();
  child.send({ do: "fail" });
  expect(child.lastWords(await child.ended)).toBe("ended with exit code 1 (It fails.)");
});

test.each(["garble", "flood"] as const)("a child told to %s is killed", async (fault) => {
  const heard: string[] = [];
  const child = await startTestChild((said) => heard.push(said));
  child.send({ do: fault });
  expect([await child.ended, heard]).toEqual(["ended by SIGKILL", []]);
});

test("a frame that is too long for the child ends it", async () => {
  const child = await startTestChild();
  child.send({ say: "x".repeat(2000) });
  expect(child.lastWords(await child.ended)).toMatch(/exit code 1 \(A frame of \d+ bytes/);
});

test("a handler that throws ends the child", async () => {
  const child = await startTestChild(() => {
    throw new Error("not understood");
  });
  child.send({ say: "x" });
  expect(await child.ended).toBe("ended by SIGKILL");
});

test("a child that does not end when told to is killed", async () => {
  const child = await startTestChild();
  await child.ready;
  await child.end({ do: "hang" }, 200);
  expect([await child.ended, child.isEnding]).toEqual(["ended by SIGKILL", true]);
});

test("a child that ends when told to is not killed", async () => {
  const child = await startTestChild();
  await child.end({ do: "exit" }, 60_000);
  expect(await child.ended).toBe("ended with exit code 3");
});
