import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approve, pick, propose, snapshot, tryToPropose, undo } from "../support/actions.ts";
import { ALL_PERMISSIONS, call, event, events, host, probe, type Outcome } from "../support/agents.ts";
import { Bench } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import type { Action, Status, TraceEntry } from "../support/types.ts";
import { until } from "../support/until.ts";
import { type DiskError, type DiskRule, FailingDisk, whyNoFailingDisk } from "./support/failing-disk.ts";

/*
 * One real kernel, whose disk fails in every way that a disk does, for everything that the kernel writes. Whatever
 * fails: the caller gets an error that says what to do, acknowledged data is kept, nothing is half done, and the same
 * kernel continues when the disk works again.
 */

const WRITER = "test.writer";
const OTHER = "test.other";
const STORAGE_ERROR = -33011;
/** What a person can do about it. */
const ADVICE = /space|quota|writable|Close other programs|system's log|try again/i;

/** One of this many calls is the first to fail; LARES_ROUNDS=4 visits each. */
const stride = Math.max(1, 5 - Number(process.env["LARES_ROUNDS"] ?? 1));

const why = await whyNoFailingDisk();

test("the disk can be made to fail on this machine", ({ skip }) => {
  skip(why !== null, why ?? "");
  expect(why).toBeNull();
});

describe.skipIf(why !== null)("while the disk fails", () => {
  let bench: Bench;
  let disk: FailingDisk;
  let client: Client;
  let status: Status;
  let count = 0;

  beforeAll(async () => {
    bench = await Bench.create({
      files: { "seen/first.txt": "first\n" },
      extensions: [
        probe({
          id: WRITER,
          permissions: { ...ALL_PERMISSIONS, emit_events: ["told"] },
          hooks: [{ handler: "record", on: "EntryCreated", filter: 'entry.path.startsWith("new/")' }],
        }),
        probe({
          id: OTHER,
          permissions: { ...ALL_PERMISSIONS, hear_events: [`${WRITER}/told`] },
          hooks: [{ handler: "record", on: `${WRITER}/told` }],
        }),
      ],
    });
    disk = await FailingDisk.in(bench.base);
    client = await bench.open({ environment: disk.environment });
    status = await bench.status(client);
    await call(client, OTHER, "memory.plan.set", { events: [] });
    await call(client, WRITER, "memory.plan.set", { events: [], count });
  });
  afterAll(() => bench[Symbol.asyncDispose]());

  /** The disk fails while `attempt` runs; then it works again, and the kernel is the same. */
  async function during<Result>(rules: readonly DiskRule[], attempt: () => Promise<Result>): Promise<Result> {
    await disk.fail(...rules);
    try {
      const result = await attempt();
      // The kernel and the other agents keep running meanwhile.
      expect((await bench.status(client)).pid).toBe(status.pid);
      expect(await call(client, OTHER, "vdfs.count", {})).toBeGreaterThan(0);
      expect(await disk.struck(), "nothing failed").not.toEqual([]);
      return result;
    } finally {
      await disk.mend();
    }
  }

  function checkRefusal({ error }: Outcome): void {
    expect(error).toMatchObject({ code: "StorageError", message: expect.stringMatching(ADVICE) });
  }

  async function checkRefused(answer: Promise<unknown>): Promise<void> {
    await expect(answer).rejects.toMatchObject({
      code: STORAGE_ERROR,
      message: expect.stringMatching(ADVICE),
    });
  }

  const errors: DiskError[] = ["ENOSPC", "EDQUOT", "EIO", "EROFS", "EMFILE"];
  /** Errors that writes to an open file do not give. */
  const whileWriting = errors.filter((error) => error !== "EMFILE" && error !== "EROFS");

  describe("memory", () => {
    const read = () => call<{ count: number }>(client, WRITER, "memory.plan.read");
    const swap = (value: number) => host(client, WRITER, "memory.plan.set", { events: [], count: value });

    test.each(whileWriting)(
      "%s under an append: it is refused and not stored, and the next one is stored",
      async (error) => {
        const before = await read();
        checkRefusal(await during([{ error, path: "journal/" }], () => swap(++count)));
        expect(await read()).toEqual(before);
        expect(await swap(++count)).toEqual({ value: null });
        expect(await read()).toMatchObject({ count });
        expect(await client.request("lares/memory/verify", { agent: WRITER })).toMatchObject({ ok: true });
      },
    );

    test("an append that is written only in part is cut off", async () => {
      const before = await read();
      const rules: DiskRule[] = [
        { error: "ENOSPC", path: "journal/", operations: "write", from: 2 },
        { error: "SHORT", path: "journal/", operations: "write" },
      ];
      checkRefusal(await during(rules, () => swap(++count)));
      expect(await read()).toEqual(before);
      expect(await swap(++count)).toEqual({ value: null });
      expect(await client.request("lares/memory/verify", { agent: WRITER })).toMatchObject({ ok: true });
    });

    test("partial writes lose nothing", async () => {
      await during([{ error: "SHORT", path: "/", operations: "write" }], async () => {
        expect(await swap(++count)).toEqual({ value: null });
      });
      expect(await read()).toMatchObject({ count });
      expect(await client.request("lares/memory/verify", { agent: WRITER })).toMatchObject({ ok: true });
    });

    test.each(whileWriting)(
      "%s under the sync: sync is refused, acknowledged data stays, and the memory keeps working",
      async (error) => {
        await during([{ error, path: "journal/", operations: "sync" }], async () => {
          expect(await swap(++count)).toEqual({ value: null });
          checkRefusal(await host(client, WRITER, "memory.sync"));
        });
        expect(await read()).toMatchObject({ count });
        expect(await swap(++count)).toEqual({ value: null });
        expect(await host(client, WRITER, "memory.sync")).toEqual({ value: null });
        expect(await client.request("lares/memory/verify", { agent: WRITER })).toMatchObject({ ok: true });
      },
    );

    test.each(whileWriting)(
      "%s under a redaction, at the first call that changes something, the second, …: an error or success, completed by the next, gone from every file",
      async (error) => {
        const journal = join(status.stateFolder, "extensions", WRITER, "memory", "journal");
        const append = (word: string) =>
          call<string>(client, WRITER, "memory.history.append", "secret", { word });
        let from = 1;
        const words: string[] = [];
        for (let struck = true; struck; from += stride) {
          const word = `quastenflosser${++count}`;
          words.push(word);
          const id = await append(word);
          await disk.fail({ error, path: "journal/", from });
          const answer = await client.raw("lares/memory/forget", { agent: WRITER, id });
          struck = (await disk.struck()).length > 0;
          await disk.mend();
          const what = `from call ${from}: ${JSON.stringify(answer["error"] ?? null)}`;
          if (answer["error"] !== undefined) {
            expect(answer["error"], what).toMatchObject({
              code: STORAGE_ERROR,
              message: expect.stringMatching(ADVICE),
            });
            // The redaction may have been recorded already: then readers no longer find the data.
            const again = await client.raw("lares/memory/forget", { agent: WRITER, id });
            if (again["error"] !== undefined) expect(again["error"], what).toMatchObject({ code: -33001 });
          }
          const verification = await client.request("lares/memory/verify", { agent: WRITER });
          expect(verification, what).toMatchObject({ ok: true });
        }
        expect(from).toBeGreaterThan(1 + stride);
        // The next redaction completes what was not finished.
        await client.request("lares/memory/forget", { agent: WRITER, id: await append("the last") });
        for (const name of await readdir(journal)) {
          const text = await readFile(join(journal, name), "utf8");
          expect(
            words.filter((word) => text.includes(word)),
            name,
          ).toEqual([]);
        }
      },
    );

    test("the disk failed under the append and under its removal: the memory is reopened, without a restart", async () => {
      const before = await read();
      const rules: DiskRule[] = [
        { error: "EIO", path: "journal/", operations: "truncate,sync" },
        { error: "EIO", path: "journal/", operations: "write", from: 2 },
        { error: "SHORT", path: "journal/", operations: "write" },
      ];
      checkRefusal(await during(rules, () => swap(++count)));
      expect(await read()).toEqual(before);
      expect(await swap(++count)).toEqual({ value: null });
      expect(await client.request("lares/memory/verify", { agent: WRITER })).toMatchObject({ ok: true });
    });
  });

  test.each(whileWriting)(
    "traces, %s: queries are answered from memory, and entries are in the file once when there is space",
    async (error) => {
      const message = `said during ${error}`;
      const said = async () =>
        (await client.request<TraceEntry[]>("lares/traces/query", { text: message })).map(
          (entry) => entry.message,
        );
      await during([{ error, path: "/traces/" }], async () => {
        await host(client, WRITER, "trace.info", message);
        await until("the trace", async () => (await said()).length > 0);
      });
      expect(await said()).toEqual([message]);
      const lines = (await readFile(join(status.stateFolder, "traces", "current.log"), "utf8")).split("\n");
      expect(lines.filter((line) => line.includes(message))).toHaveLength(1);
      for (const line of lines.slice(0, -1)) expect(() => JSON.parse(line) as unknown).not.toThrow();
    },
  );

  test.each(whileWriting)(
    "inbox and index, %s: changes are indexed and delivered, once, when there is space",
    async (error) => {
      const path = `new/${error}.txt`;
      await during([{ error, path: "ledger.sqlite" }], async () => {
        await bench.write(path, "content\n");
        await until("the index to fail", async () => (await disk.struck()).length > 0);
      });
      await event(client, WRITER, path, ({ entry }) => (entry as { path: string }).path === path);
      const heard = (await events(client, WRITER)).filter(
        ({ entry }) => (entry as { path: string }).path === path,
      );
      expect(heard).toHaveLength(1);
      expect(await call(client, WRITER, "vdfs.get", path)).toMatchObject({ path });
    },
  );

  test.each(whileWriting)("an agent's own event, %s: the agent gets an error", async (error) => {
    checkRefusal(
      await during([{ error, path: "ledger.sqlite" }], () => host(client, WRITER, "events.emit", "told", {})),
    );
  });

  describe("decisions.yaml", () => {
    const file = () => readFile(join(status.stateFolder, "decisions.yaml"), "utf8");

    test.each(errors)("%s under an acceptance: it is refused, and the file is as before", async (error) => {
      const before = await file();
      const { digest } = (await bench.status(client)).trust;
      const accepting = () => checkRefused(client.request("lares/trust", { trusted: true, digest }));
      await during([{ error, path: "decisions.yaml" }], accepting);
      expect(await file()).toBe(before);
      expect(await readdir(status.stateFolder)).not.toContainEqual(expect.stringMatching(/\.tmp$/));
      expect(await client.request("lares/trust", { trusted: true, digest })).toMatchObject({ trusted: true });
    });

    test("ENOSPC under “always”: nothing is approved, and the rule has no effect", async () => {
      const [path, other] = [`always-${++count}.txt`, `always-${++count}.txt`];
      const action = await propose(client, WRITER, { kind: "file.write", path, content: "x" });
      await during([{ error: "ENOSPC", path: "decisions.yaml" }], () =>
        checkRefused(approve(client, action, { remember: "always" })),
      );
      expect(await pick(client, action)).toMatchObject({ state: "PendingApproval" });
      const next = await propose(client, WRITER, { kind: "file.write", path: other, content: "x" });
      expect(next.state).toBe("PendingApproval");
      expect(await approve(client, action)).toMatchObject({ state: "Committed" });
    });
  });

  describe("actions", () => {
    const write = (path: string, content: string) => ({ kind: "file.write", path, content });

    test.each(errors)(
      "%s under a proposal's content: it is refused, and nothing is pending",
      async (error) => {
        const before = (await bench.status(client)).pendingActions;
        const effect = write("proposed.txt", `for ${error}`);
        checkRefusal(
          await during([{ error, path: "/objects/" }], () => tryToPropose(client, WRITER, effect)),
        );
        expect((await bench.status(client)).pendingActions).toBe(before);
        const action = await propose(client, WRITER, effect);
        expect(await client.request("lares/actions/reject", { id: action.id })).toMatchObject({
          state: "Rejected",
        });
      },
    );

    test("ENOSPC under a proposal's record: it is refused, and nothing is pending", async () => {
      const before = (await bench.status(client)).pendingActions;
      checkRefusal(
        await during([{ error: "ENOSPC", path: "ledger.sqlite" }], () =>
          tryToPropose(client, WRITER, write("proposed.txt", "x")),
        ),
      );
      expect((await bench.status(client)).pendingActions).toBe(before);
    });

    /** Before and after an action that overwrites, creates and removes. */
    async function proposal(): Promise<{ folder: string; action: Action; before: object }> {
      const folder = `act-${++count}`;
      await bench.write(`${folder}/old.txt`, "old\n");
      await bench.write(`${folder}/gone.txt`, "gone\n");
      const action = await propose(
        client,
        WRITER,
        write(`${folder}/old.txt`, "new\n"),
        write(`${folder}/made.txt`, "made\n"),
        { kind: "file.delete", path: `${folder}/gone.txt` },
      );
      return { folder, action, before: await snapshot(bench.path(folder)) };
    }
    const names = async (folder: string) => (await readdir(bench.path(folder))).toSorted();
    const settled = (action: Action) =>
      until("the action to be at an end, or asked again", async () => {
        const now = await pick(client, action);
        return !["Approved", "Committing"].includes(now.state) && now;
      });

    const places = {
      "the workspace": () => bench.root,
      "the state folder": () => status.stateFolder,
      both: () => bench.base,
    };
    // EMFILE and EROFS do not affect files that are open already, such as those of the state folder.
    const cases: { place: keyof typeof places; error: DiskError }[] = [
      { place: "the workspace", error: "ENOSPC" },
      { place: "the workspace", error: "EIO" },
      { place: "the workspace", error: "EROFS" },
      { place: "the workspace", error: "EMFILE" },
      { place: "the state folder", error: "ENOSPC" },
      { place: "the state folder", error: "EIO" },
      { place: "both", error: "EIO" },
    ];

    test.each(cases)(
      "commit, $error in $place, from the first call that changes something, the second, …: completely before or completely after",
      async ({ place, error }) => {
        let from = 1;
        for (let struck = true; struck; from += stride) {
          const { folder, action, before } = await proposal();
          await disk.fail({ error, path: places[place](), from });
          const answer = await client.raw("lares/actions/approve", { id: action.id, digest: action.digest });
          expect((await bench.status(client)).pid).toBe(status.pid);
          struck = (await disk.struck()).some(
            (line) => !line.includes("/traces/") && !line.includes("/journal/"),
          );
          await disk.mend();
          let now = await settled(action);
          const what = `from call ${from}: ${now.state} ${now.error ?? ""} ${JSON.stringify(answer["error"] ?? null)}`;
          if (now.state === "Committed") {
            // The kept old contents may be removed a moment later.
            await until(what, async () => (await names(folder)).join() === "made.txt,old.txt");
          } else {
            expect(await snapshot(bench.path(folder)), what).toEqual(before);
            // Reported at once, or by the action's end.
            const told = (answer["error"] as { message: string } | undefined)?.message ?? now.error ?? "";
            expect(told, what).toMatch(ADVICE);
            if (now.state === "PendingApproval") now = await approve(client, action);
          }
          // And undone again, whatever the outcome.
          if (now.state === "Committed") {
            await undo(client, action);
            expect(await snapshot(bench.path(folder)), what).toEqual(before);
          }
        }
        expect(from).toBeGreaterThan(1 + stride);
      },
    );

    test.each(cases)(
      "undo, $error in $place, from the first call that changes something, the second, …: completely undone or not at all",
      async ({ place, error }) => {
        let from = 1;
        for (let struck = true; struck; from += stride) {
          const { folder, action, before } = await proposal();
          await approve(client, action);
          await disk.fail({ error, path: places[place](), from });
          const answer = await client.raw("lares/actions/undo", { id: action.id });
          struck = (await disk.struck()).some(
            (line) => !line.includes("/traces/") && !line.includes("/journal/"),
          );
          await disk.mend();
          const what = `from call ${from}: ${JSON.stringify(answer["error"] ?? null)}`;
          if ((await pick(client, action)).state === "Committed") {
            expect(answer["error"], what).toMatchObject({
              code: STORAGE_ERROR,
              message: expect.stringMatching(ADVICE),
            });
            await until(
              "the workspace to be whole",
              async () => (await names(folder)).join() === "made.txt,old.txt",
            );
            await undo(client, action);
          }
          // The kept contents may be removed a moment later.
          await until(what, async () => (await names(folder)).join() === "gone.txt,old.txt");
          expect(await snapshot(bench.path(folder)), what).toEqual(before);
        }
        expect(from).toBeGreaterThan(1 + stride);
      },
    );
  });

  test("killed and restarted afterwards, everything is there", async () => {
    // An event whose acknowledgement was not on the disk yet is delivered once more.
    const read = async () => {
      const plan = await call<{ count: number; events: readonly { id: string }[] }>(
        client,
        WRITER,
        "memory.plan.read",
      );
      return { ...plan, events: new Map(plan.events.map((kept) => [kept.id, kept])) };
    };
    const before = await read();
    await bench.kill(status.pid);
    await bench.ready(client);
    expect(await read()).toEqual(before);
    expect(await client.request("lares/memory/verify", { agent: WRITER })).toMatchObject({ ok: true });
  });
});
