import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { seeded, seededBytes } from "../../../../test/support/seed.ts";
import { isPurgeDue } from "./purge.ts";
import { temporalQuery } from "./temporal-query.ts";
import { type Event, idOf, nowMs, redacting, storing, testMemory } from "./testing/test-memory.ts";

/** Long and random, so that DuckDB does not compress it and it can be found in the bytes. */
const long = seededBytes(6000, seeded()).toString("base64url");
const piece = long.slice(100, 140);
const secrets = [piece, "zwiebelturm", "jodelfest", "geheimvariante", "wurzelwerk", "quarzuhr"];
const secretSeqs = [3, 5000] as const;

/**
 * Some rows are new in the log, others were written into the file long ago; the names of their fields are secret too.
 */
const events = Array.from({ length: 6000 }, (_, n): Event => {
  const isSecret = secretSeqs.some((seq) => seq === n + 1);
  return isSecret
    ? {
        variant: "geheimvariante",
        timestampMs: nowMs,
        data: { quarzuhr: "zwiebelturm", long, x: { jodelfest: ["wurzelwerk"] } },
      }
    : { variant: "ordinary", timestampMs: nowMs + n, data: { note: `words that stay ${n}` } };
});

const bytesOf = (folder: string): Buffer =>
  Buffer.concat(
    readdirSync(folder)
      .filter((name) => name !== "duckdb.spill")
      .map((name) => readFileSync(join(folder, name))),
  );

it("after a purge, forgotten data is in no file of the folder, and all other data is", async () => {
  const memory = await testMemory();
  const { folder, duck, file, index } = memory;
  const path = file.path;
  const records = storing(events);
  await memory.apply(records.slice(0, 4000));
  await file.checkpoint();
  await memory.apply(records.slice(4000));
  expect(await isPurgeDue(file)).toBe(false);
  expect(bytesOf(folder).includes(piece)).toBe(true);

  await memory.apply([redacting(6001, ...secretSeqs.map((seq) => [seq, seq] as const))]);
  expect(await isPurgeDue(file)).toBe(true);
  await file[Symbol.asyncDispose]();
  await duck.rewrite(path);

  for (const secret of [...secrets, ...secretSeqs.map(idOf)]) {
    expect(bytesOf(folder).includes(secret), secret).toBe(false);
  }
  await using purged = await duck.attach(path);
  expect(await isPurgeDue(purged)).toBe(false);
  expect((await temporalQuery(purged, index, {}, nowMs)).total).toBe(5998);
  const query = { where: [{ field: "note", op: "eq", value: "words that stay 77" }] } as const;
  expect((await temporalQuery(purged, index, query, nowMs)).items.map(({ id }) => id)).toEqual([idOf(78)]);
  expect((await temporalQuery(purged, index, { text: { match: "stay" }, limit: 1 }, nowMs)).total).toBe(5998);
  const order = await purged.all<{ row: number }>("SELECT row FROM events ORDER BY rowid");
  expect(order.map(({ row }) => row)).toEqual(
    order.map(({ row }) => row).toSorted((left, right) => left - right),
  );
});

it("DuckDB alone leaves it in the file, which is why the purge exists", async () => {
  const memory = await testMemory();
  await memory.apply(storing(events));
  await memory.file.checkpoint();
  await memory.apply([redacting(6001, [3, 3], [5000, 5000])]);
  await memory.file.checkpoint();
  const { path } = memory.file;
  await memory.file[Symbol.asyncDispose]();
  expect(readFileSync(path).includes(piece)).toBe(true);
});

it("a purge that a process died in starts again, and stays due after the process's death", async () => {
  const memory = await testMemory();
  await memory.apply(storing(events));
  await memory.apply([redacting(6001, [3, 3])]);
  const { path } = memory.file;
  await memory.file[Symbol.asyncDispose]();
  writeFileSync(`${path}.new`, "half of a file");
  writeFileSync(`${path}.new.wal`, "half of a log");
  {
    await using again = await memory.duck.attach(path);
    expect(await isPurgeDue(again)).toBe(true);
  }
  await memory.duck.rewrite(path);
  expect(existsSync(`${path}.new`)).toBe(false);
  expect(existsSync(`${path}.wal`)).toBe(false);
  await using purged = await memory.duck.attach(path);
  expect(await isPurgeDue(purged)).toBe(false);
});

it("a file that cannot be rewritten is left as it was", async () => {
  const { duck, folder } = await testMemory();
  const path = join(folder, "bad.duckdb");
  writeFileSync(path, "no database ".repeat(1000));
  await expect(duck.rewrite(path)).rejects.toThrow(expect.objectContaining({ code: "StorageError" }));
  expect(readFileSync(path, "utf8")).toBe("no database ".repeat(1000));
});
