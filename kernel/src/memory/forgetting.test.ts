import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import { LaresError, storageError } from "../base/errors.ts";
import { memoryFixture, type MemoryFixture } from "./testing/memory-fixture.ts";

/** Makes the disk under the store full or not, and counts how often the store was asked to follow the journal. */
function withDisk({ store }: MemoryFixture): { isFull: boolean; asked(): number } {
  const disk = { isFull: false, asked: () => store.asked.filter((name) => name === "project").length };
  store.answers.project = () => {
    if (disk.isFull) throw storageError("No space left on device.");
    return {};
  };
  return disk;
}

const full = /removed from the journal and from all answers.* No space left .* retried every minute/;

test("if the files cannot be written, an error is reported, and NotFound comes only after they are", async () => {
  const fixture = await memoryFixture();
  const disk = withDisk(fixture);
  await fixture.within(async (agent) => {
    const { id } = await agent.appendEvent({ variant: "noted", data: {} });
    disk.isFull = true;
    for (let tried = 0; tried < 2; tried++) {
      const outcome = await agent.forget(id, "told to").catch((error: unknown) => error);
      expect(outcome).toBeInstanceOf(LaresError);
      expect(outcome).toMatchObject({ code: "StorageError", message: expect.stringMatching(full) });
    }
    expect(fixture.lines()[0]).toMatchObject({ redacted: true });
    disk.isFull = false;
    await expect(agent.forget(id, "told to")).rejects.toMatchObject({ code: "NotFound" });
    expect(disk.asked()).toBe(3);
    // Then it is completed.
    await expect(agent.forget(id, "told to")).rejects.toMatchObject({ code: "NotFound" });
    expect(disk.asked()).toBe(3);
  });
});

test("it is retried automatically, a minute after each failure, until it succeeds", async () => {
  const fixture = await memoryFixture();
  const disk = withDisk(fixture);
  await fixture.within(async (agent) => {
    const { id } = await agent.appendEvent({ variant: "noted", data: {} });
    disk.isFull = true;
    await expect(agent.forget(id, "told to")).rejects.toThrow(full);
    for (let minute = 1; minute <= 3; minute++) {
      if (minute === 3) disk.isFull = false;
      fixture.clock.advance(60_000);
      await until("it was tried", () => disk.asked() === minute + 1);
      if (minute < 3) await until("it was told", () => fixture.warnings.length === minute);
    }
    fixture.clock.advance(60_000);
    expect(disk.asked()).toBe(4);
  });
  expect(fixture.warnings).toHaveLength(2);
});

test("a kernel that ends before it succeeded leaves it to the next; one that succeeded does not", async () => {
  const fixture = await memoryFixture();
  const disk = withDisk(fixture);
  await fixture.within(async (agent) => {
    const { id } = await agent.appendEvent({ variant: "noted", data: {} });
    disk.isFull = true;
    await expect(agent.forget(id, "told to")).rejects.toThrow(full);
    disk.isFull = false;
  });
  expect(disk.asked()).toBe(1);
  await fixture.within(async () => {
    await until("it was tried", () => disk.asked() === 2);
  });
  await fixture.within(async (agent) => {
    await agent.sync();
    expect(disk.asked()).toBe(2);
    // Events that are too old are removed in the same way.
    await agent.appendEvent({ variant: "noted", data: {} });
    fixture.clock.advance(2 * 24 * 60 * 60 * 1000);
    expect(await agent.cleanup(1)).toMatchObject({ events: 1 });
    await until("it was tried", () => disk.asked() === 3);
  });
});
