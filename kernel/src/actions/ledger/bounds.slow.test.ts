import { describe, expect, test, vi } from "vitest";
import { codeOf } from "../../base/testing/code-of.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import { sha256 } from "../../platform/files/hash.ts";
import { type Bench, everything, program, person } from "../testing/bench.ts";
import { write, tag, field, sidecar } from "../testing/effects.ts";
import { useWorkspace } from "../testing/workspace.ts";

let bench: Bench;
const { put, contentOf, restart } = useWorkspace((opened) => {
  ({ bench } = opened);
});

describe("the storage of actions is bounded", () => {
  const MiB = 1_048_576;
  const large = (at: number): string => String(at).padEnd(MiB - 2, "x");
  const ledgerBytes = async (): Promise<number> => {
    const [row] = await bench.database.query<{ bytes: number }>(
      "SELECT sum(octet_length(body) + octet_length(diffs) + coalesce(octet_length(inverse), 0)) AS bytes FROM actions",
    );
    return row?.bytes ?? 0;
  };

  test("a large field or sidecar is stored as an object, shown by its hash, committed and undone", async () => {
    put("a.txt", "a");
    const first = await bench.perform(field("a.txt", "f".repeat(5000)), sidecar(large(1)));
    const second = await bench.perform(sidecar(large(2)));
    expect(await ledgerBytes()).toBeLessThan(5000);
    expect(first.effects[0]).not.toHaveProperty("value");
    expect(first.effects[0]).toMatchObject({ after: sha256(JSON.stringify("f".repeat(5000))) });
    const { bytes, eof } = await bench.actions.content(second.id, 0, "after", 0, MiB);
    expect([new TextDecoder().decode(bytes), eof]).toEqual([JSON.stringify(large(2)), true]);
    await restart();
    await bench.actions.undo(person, second.id);
    expect(Object.values(bench.metadata.all())).toEqual(["f".repeat(5000), large(1)]);
    await bench.actions.undo(person, first.id);
    expect(bench.metadata.all()).toEqual({});
  });

  test("after 30 days an ended action loses its contents, even if a person decided it", async () => {
    put("a.txt", "0");
    await bench.actions.recover();
    const old = await bench.perform(write("a.txt", "1"));
    bench.clock.advance(15 * 86_400_000);
    const young = await bench.perform(write("a.txt", "2"));
    bench.clock.advance(15 * 86_400_000 + 3_600_001);
    await vi.waitFor(async () => expect(await bench.objects.has(sha256("0"))).toBe(false));
    await bench.actions.undo(person, young.id);
    expect(contentOf("a.txt")).toBe("1");
    await expect(bench.actions.undo(person, old.id)).rejects.toMatchObject({ code: "NotFound" });
  });

  test("records without contents: a bounded number per agent is kept, the newest", async () => {
    put("a.txt", "a");
    const { id } = await bench.propose(tag("a.txt", "t"));
    await bench.database.batch([
      {
        sql: `WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 10100)
              INSERT INTO actions (id, agent, state, created, decided, body, diffs, ended, contents_kept)
              SELECT 'old-' || n.at, agent, state, created, decided, body, diffs, n.at, 1 FROM n, actions WHERE id = ?`,
        params: [id],
      },
    ]);
    await restart();
    const rows = await bench.database.query<{ id: string }>("SELECT id FROM actions ORDER BY ended");
    expect([rows.length, rows[0]?.id, rows.at(-1)?.id]).toEqual([10_001, "old-101", id]);
  });

  test("waiting proposals: their total per agent is bounded, through a restart, until some are decided", async () => {
    put("a.txt", "a");
    const text = (at: number): string => String(at).padEnd(8 * MiB, "x");
    const waiting: Action[] = [];
    for (let at = 0; at < 7; at++) waiting.push(await bench.propose(write(`f${at}`, text(at))));
    await expect(bench.propose(write("f8", text(8)))).rejects.toMatchObject({
      code: "LimitExceeded",
      facts: { limit: "pendingBytesPerAgent" },
    });
    expect(await bench.objects.has(sha256(text(8)))).toBe(false);
    await restart();
    expect(await codeOf(bench.propose(write("f8", text(8))))).toBe("LimitExceeded");
    await bench.actions.reject(person, waiting[0]?.id ?? "");
    expect((await bench.propose(write("f8", text(8)))).state).toBe("PendingApproval");
  });

  test("race: a sweep removes nothing that a proposal is just storing", async () => {
    put("a.txt", "a");
    const text = "the same".padEnd(MiB, "x");
    for (let round = 0; round < 5; round++) {
      const gone = await bench.propose(write("b.txt", text));
      await bench.actions.reject(person, gone.id);
      const [, action] = await Promise.all([bench.actions.recover(), bench.propose(write("b.txt", text))]);
      expect((await bench.actions.approve(person, action.id, { digest: action.digest })).state).toBe(
        "Committed",
      );
      await bench.actions.undo(person, action.id);
    }
  });

  test("the diffs of an action in total", async () => {
    const lines = (mark: string): string => `${mark}\n`.repeat(60_000);
    const effects = Array.from({ length: 30 }, (_, at) => write(`f${at}`, lines(String(at))));
    const { effects: seen } = await bench.preview(...effects);
    const diffs = seen.flatMap(({ diff }) => diff ?? []);
    expect(diffs.length).toBeGreaterThan(10);
    expect(diffs.join("").length).toBeLessThan(5 * MiB);
  });
});

test("an agent has at most 1,000 actions waiting", async () => {
  const folderOf = (path: string) => ({
    title: "t",
    reason: "",
    effects: [{ kind: "folder.create" as const, path }],
  });
  for (let times = 0; times < 20; times++)
    await Promise.all(
      Array.from({ length: 50 }, (_none, index) =>
        bench.actions.propose(everything, program, folderOf(`f${times}-${index}`)),
      ),
    );
  await expect(bench.propose(write("a", "a"))).rejects.toMatchObject({
    code: "LimitExceeded",
    facts: { limit: "pendingPerAgent", value: 1000 },
  });
  // A proposal that supersedes another one needs no room of its own.
  const again = await bench.actions.propose(everything, program, folderOf("f0-0"));
  expect(again.action.state).toBe("PendingApproval");
  const other = { ...everything, extension: "dev.test.other" };
  expect((await bench.actions.propose(other, program, folderOf("f"))).action.state).toBe("PendingApproval");
  expect(bench.actions.pendingCount()).toBe(1001);
});

test("a proposal whose answer would be too long is refused, and nothing is stored", async () => {
  const effects = Array.from({ length: 1000 }, (_none, index) => ({
    kind: "folder.create" as const,
    path: `${"a".repeat(200)}/${"b".repeat(200)}/${index}`,
  }));
  expect(await codeOf(bench.propose(...effects))).toBe("LimitExceeded");
  expect(await bench.actions.list({})).toEqual([]);
});
