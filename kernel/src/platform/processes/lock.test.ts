import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { acquireLock, lockHolder, type FileLock, type LockHeld } from "./lock.ts";
import { TestChild } from "../testing/child.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

const modules = { "{ acquireLock }": new URL("./lock.ts", import.meta.url) };

function held(attempt: FileLock | LockHeld): FileLock {
  if ("heldBy" in attempt) throw new Error(`The lock is held by ${attempt.heldBy}.`);
  return attempt;
}

test("within one process the second caller learns the holder until the first releases the lock", async () => {
  const path = join(await temporaryFolder(), "kernel.lock");
  const first = held(await acquireLock(path));
  expect(await acquireLock(path)).toEqual({ heldBy: process.pid });
  await first.release();
  await first.release();
  const second = held(await acquireLock(path));
  expect(await acquireLock(path)).toEqual({ heldBy: process.pid });
  await second[Symbol.asyncDispose]();
});

test("a lock that its holder does not refer to any more is held all the same, garbage collected or not", async () => {
  const path = join(await temporaryFolder(), "kernel.lock");
  const child = new TestChild(
    `await acquireLock(${JSON.stringify(path)});
     const { setFlagsFromString } = await import("node:v8");
     const { runInNewContext } = await import("node:vm");
     setFlagsFromString("--expose-gc");
     // A connection is closed in a later turn than the one that collected it.
     for (let turn = 0; turn < 5; turn++) {
       runInNewContext("gc")();
       await new Promise((resolve) => setImmediate(resolve));
     }
     say("collected");
     setInterval(() => undefined, 1000);`,
    { modules },
  );
  await child.waitForLines(1);
  expect(await acquireLock(path)).toHaveProperty("heldBy");
  await child.kill();
});

test("a holder that is killed by SIGKILL gives the lock back at once, ten times over", async () => {
  const path = join(await temporaryFolder(), "kernel.lock");
  for (let round = 0; round < 10; round++) {
    const child = new TestChild(
      `const lock = await acquireLock(${JSON.stringify(path)});
       say("heldBy" in lock ? "refused" : process.pid);
       setInterval(() => undefined, 1000);`,
      { modules },
    );
    await child.waitForLines(1);
    expect(await acquireLock(path)).toEqual({ heldBy: Number(child.lines[0]) });
    await child.kill();
    await held(await acquireLock(path)).release();
  }
});

test("the holder is found without taking the lock: a stopped process holds it, a dead one does not", async () => {
  const path = join(await temporaryFolder(), "kernel.lock");
  expect(await lockHolder(path)).toBeNull();
  const child = new TestChild(
    `await acquireLock(${JSON.stringify(path)});
     say(process.pid);
     setInterval(() => undefined, 1000);`,
    { modules },
  );
  await child.waitForLines(1);
  const pid = Number(child.lines[0]);
  process.kill(pid, "SIGSTOP");
  expect(await lockHolder(path)).toBe(pid);
  await child.kill();
  expect(await lockHolder(path)).toBeNull();
  await held(await acquireLock(path)).release();
});

test("of many processes that start at once exactly one gets it", async () => {
  const path = join(await temporaryFolder(), "kernel.lock");
  const children = Array.from(
    { length: 4 },
    () =>
      new TestChild(
        `const lock = await acquireLock(${JSON.stringify(path)});
         say("heldBy" in lock ? "refused" : "got it");
         setInterval(() => undefined, 1000);`,
        { modules },
      ),
  );
  await Promise.all(children.map((child) => child.waitForLines(1)));
  expect(children.flatMap((child) => child.lines).toSorted()).toEqual([
    "got it",
    "refused",
    "refused",
    "refused",
  ]);
  await Promise.all(children.map((child) => child.kill()));
});

test("a lock in a folder that is missing is a StorageError", async () => {
  await expect(acquireLock(join(await temporaryFolder(), "missing", "lock"))).rejects.toMatchObject({
    code: "StorageError",
  });
});
