import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agent, bench, said, textOf, textsOf } from "./testing/bench.ts";

test("deleting an origin keeps what its fork has, until the fork is deleted too", async () => {
  const { open, stateFolder } = await bench();
  await using all = open();
  using origin = await all.create(agent);
  await origin.log.append([said("m1", "shared")]);
  const { id } = origin.log;
  using fork = await all.fork(id);
  expect(await all.delete(id)).toEqual({ isKeptForForks: true });
  await expect(all.get(id)).rejects.toMatchObject({ code: "NotFound" });
  await expect(all.open(id)).rejects.toMatchObject({ code: "NotFound" });
  expect((await all.list({ limit: 10 })).map((row) => row.id)).toEqual([fork.log.id]);
  expect(textsOf(await all.entries(fork.log.id, { limit: 10 }))).toEqual(["shared"]);
  // The fork's reading has opened its log again.
  await expect(all.open(id)).rejects.toMatchObject({ code: "NotFound" });
  expect(await all.delete(fork.log.id)).toEqual({ isKeptForForks: false });
  expect(await readdir(join(stateFolder, "conversations"))).toEqual([]);
});

test("a deleted conversation that a removal has opened again, for its fork, is still NotFound", async () => {
  const { open } = await bench();
  await using all = open();
  const origin = await all.create(agent);
  await origin.log.append([said("m1", "a secret")]);
  const { id } = origin.log;
  origin[Symbol.dispose]();
  using fork = await all.fork(id);
  await all.delete(id);
  const removed = await all.redactions.redact([id, fork.log.id], {
    entry: (entry) =>
      entry.kind === "message" && textOf(entry) === "a secret"
        ? { ...entry, parts: [{ type: "text", text: "removed" }] }
        : null,
    context: () => null,
  });
  expect(removed.length).toBeGreaterThan(0);
  await expect(all.get(id)).rejects.toMatchObject({ code: "NotFound" });
  await expect(all.open(id)).rejects.toMatchObject({ code: "NotFound" });
  expect(textsOf(await all.entries(fork.log.id, { limit: 10 }))).toEqual(["removed"]);
});

test("races of a deletion with forks and openings: each fork is whole or NotFound, and the origin is gone", async () => {
  const { open, stateFolder } = await bench();
  await using all = open();
  for (let round = 0; round < 8; round++) {
    using origin = await all.create(agent);
    await origin.log.append([said("m1", "shared")]);
    const { id } = origin.log;
    const ends = await Promise.allSettled([
      ...(round % 2 === 0 ? [all.fork(id)] : []),
      all.delete(id).then(() => null),
      all.fork(id),
      all.open(id),
      all.fork(id),
    ]);
    await expect(all.get(id)).rejects.toMatchObject({ code: "NotFound" });
    for (const end of ends) {
      if (end.status === "rejected") expect(end.reason).toMatchObject({ code: "NotFound" });
      else if (end.value !== null && end.value.log.id !== id) {
        const fork = end.value.log.id;
        expect(textsOf(await all.entries(fork, { limit: 10 }))).toEqual(["shared"]);
        await all.delete(fork);
      }
    }
  }
  expect(await readdir(join(stateFolder, "conversations"))).toEqual([]);
});
