import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../../base/log.ts";
import { bytesOfVector } from "../../platform/database/similarity.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { clusteredVectors } from "../../store/vectors/testing/vectors.ts";
import { vectorMigrations, VectorRows } from "./vector-rows.ts";

const dimensions = 384;
const best = { least: -1, limit: 10 };

test("a search by codes finds the vectors that a comparison of all finds", async () => {
  await using database = await openNearDatabase({
    path: join(await temporaryFolder(), "vectors.sqlite"),
    migrations: vectorMigrations,
    log: silentLog,
  });
  const rows = new VectorRows(database);
  const count = 1_200;
  const next = clusteredVectors(dimensions, 7, count);
  const vectors = Array.from({ length: count }, next);
  for (let at = 0; at < count; at += 30)
    await rows.store(
      { conversation: `c${at % 4}`, space: "s", seq: at + 30 },
      vectors
        .slice(at, at + 30)
        .map((vector, of) => ({ seq: at + of, entry: `e${at + of}`, vectors: [vector] })),
      count,
    );
  const dot = (one: Float32Array, other: Float32Array): number =>
    one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
  const stretches = ["c0", "c2"].map((conversation) => ({ conversation, through: 1_000 }));
  let right = 0;
  const queries = 12;
  for (let query = 0; query < queries; query++) {
    const wanted = next();
    const truth = vectors
      .map((vector, seq) => ({ seq, similarity: dot(vector, wanted) }))
      .filter(
        ({ seq }) =>
          seq <= 1_000 && stretches.some(({ conversation }) => conversation === `c${(seq - (seq % 30)) % 4}`),
      )
      .toSorted((one, other) => other.similarity - one.similarity)
      .slice(0, best.limit);
    const found = await rows.near(stretches, "s", wanted, best);
    expect(found).toHaveLength(best.limit);
    const seqs = new Set(found.map(({ seq }) => seq));
    right += truth.filter(({ seq }) => seqs.has(seq)).length;
    expect(found[0]?.similarity).toBeCloseTo(truth[0]?.similarity ?? NaN, 1);
  }
  expect(right / (queries * best.limit)).toBeGreaterThan(0.95);
});

test("vectors that an earlier version of Lares stored are found, and none is made again", async () => {
  const path = join(await temporaryFolder(), "vectors.sqlite");
  const vectors = Array.from({ length: 3 }, clusteredVectors(dimensions, 7, 3));
  {
    await using before = await openNearDatabase({
      path,
      migrations: vectorMigrations.slice(0, 1),
      log: silentLog,
    });
    await before.batch([
      { sql: "INSERT INTO progress (conversation, space, seq) VALUES ('c', 's', 9)" },
      {
        sql: `INSERT INTO blocks (talk, count, first, last_seq, entries, seqs, bytes)
                SELECT talk, 3, 'a', 9, '["a","b","c"]', ?, ? FROM progress`,
        params: [
          new Uint8Array(Float64Array.from([3, 5, 9]).buffer),
          Buffer.concat(vectors.map(bytesOfVector)),
        ],
      },
    ]);
  }
  await using database = await openNearDatabase({ path, migrations: vectorMigrations, log: silentLog });
  const rows = new VectorRows(database);
  expect((await rows.progress(["c"])).get("c")).toMatchObject({ space: "s", seq: 9 });
  const [found] = await rows.near([{ conversation: "c", through: 9 }], "s", vectors[1]!, {
    least: 0.9,
    limit: 1,
  });
  expect(found).toMatchObject({ conversation: "c", seq: 5 });
});
