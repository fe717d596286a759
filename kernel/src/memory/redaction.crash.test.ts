import { join } from "node:path";
import { expect, test } from "vitest";
import { failpointNames } from "../platform/failpoints.ts";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { linesOf } from "./testing/fake-store.ts";
import { leftBehind, modules } from "./testing/left-behind.ts";

/**
 * Runs for ever: appends events concurrently, swaps, forgets the third of every ten events, and cleans up superseded
 * states. Prints what was acknowledged: "event <id>", "forgetting <id>", "forgot <id>".
 */
const forgetter = (folder: string): string => `
  const database = await openDatabase({ path: ${JSON.stringify(join(folder, "ledger.sqlite"))}, migrations: memoryMigrations, log: silentLog });
  const memory = await openMemory({ stateFolder: ${JSON.stringify(folder)}, database, clock: systemClock, log: silentLog,
    store: new FakeStore(), storeSettings: () => fakeSettings, retentionDays: () => 1, prunePolicy: () => null, storageLimitBytes: () => 1e9, segmentBytes: 8 * 1024 });
  const agent = await memory.open("extension/dev.lares.test");
  const append = async (n) => {
    const { id } = await agent.appendEvent({ variant: "note", data: { text: "secret " + n } });
    say("event " + id);
    return id;
  };
  for (let n = 0; ; n++) {
    const ids = await Promise.all(Array.from({ length: 10 }, (_, index) => append(n * 10 + index)));
    await agent.swap(agent.read().revision, { n: agent.read().revision + 1 });
    say("forgetting " + ids[3]);
    await Promise.all([agent.forget(ids[3], "told to"), append(n), append(n)]);
    say("forgot " + ids[3]);
    if (n % 5 === 4) await agent.cleanup(1);
  }`;

interface Said {
  readonly events: Set<string>;
  readonly forgetting: Set<string>;
  readonly forgot: Set<string>;
}
const nothingSaid = (): Said => ({ events: new Set(), forgetting: new Set(), forgot: new Set() });

function hear(lines: readonly string[], said: Said): void {
  for (const line of lines) {
    const [what, id = ""] = line.split(" ");
    if (what === "event") said.events.add(id);
    else if (what === "forgetting") said.forgetting.add(id);
    else said.forgot.add(id);
  }
}

/** Checks what a new process finds of the printed lines. */
async function check(folder: string, said: Said): Promise<void> {
  await using left = await leftBehind(folder);
  const { agent } = left;
  expect(await agent.verify()).toMatchObject({ ok: true });
  const { revision, state } = agent.read();
  if (revision > 0) expect(state).toEqual({ n: revision });
  const records = linesOf(agent.store.journalFolder).map(
    (line) =>
      JSON.parse(line) as {
        seq: number;
        kind: string;
        id: string;
        operation: string;
        redacted?: true;
        data?: { seqs: [number, number][] };
      },
  );
  const named = new Set(
    records.flatMap(({ operation, data }) =>
      operation === "redact"
        ? (data?.seqs ?? []).flatMap(([first, last]) =>
            Array.from({ length: last - first + 1 }, (_, n) => first + n),
          )
        : [],
    ),
  );
  // After reopening, everything that was named is redacted, and nothing else.
  expect(records.filter(({ redacted }) => redacted === true).map(({ seq }) => seq)).toEqual(
    [...named].toSorted((a, b) => a - b),
  );
  const events = new Map(
    records.flatMap(({ kind, operation, id, redacted }) =>
      kind === "temporal" && operation === "store" ? [[id, redacted === true]] : [],
    ),
  );
  for (const id of said.events) {
    const isGone = events.get(id);
    expect(isGone, `event ${id}`).toBeTypeOf("boolean");
    if (isGone === true) expect(said.forgetting, `event ${id} was not to be forgotten`).toContain(id);
  }
  for (const id of said.forgot) expect(events.get(id), `event ${id} was forgotten`).toBe(true);
  expect(agent.stats().temporalEvents).toBe([...events.values()].filter((isGone) => !isGone).length);
}

test("six times killed by SIGKILL between appends and redactions: no acknowledged event is lost, and nothing forgotten returns", async () => {
  const folder = await temporaryFolder();
  const said = nothingSaid();
  for (let round = 0; round < 6; round++) {
    const child = new TestChild(forgetter(folder), { modules });
    await child.waitForLines(20 + ((round * 97) % 70));
    await child.kill();
    hear(child.lines, said);
    await check(folder, said);
  }
  expect(said.forgot.size).toBeGreaterThan(0);
});

const points = failpointNames.filter((name) => name.startsWith("journal.redaction."));
test.each(points.flatMap((name) => [1, 3].map((pass) => [name, pass] as const)))(
  "dying at %s, pass %i: forgotten data stays gone, other data is intact, and a redaction in progress is completed",
  async (name, pass) => {
    const folder = await temporaryFolder();
    const said = nothingSaid();
    const child = new TestChild(forgetter(folder), { modules, failpoint: `${name}@${pass}` });
    expect(await child.ended()).toBe("SIGKILL");
    hear(child.lines, said);
    await check(folder, said);
    // The next process dies at the same point while it continues from there.
    const next = new TestChild(forgetter(folder), { modules, failpoint: `${name}@${pass}` });
    expect(await next.ended()).toBe("SIGKILL");
    hear(next.lines, said);
    await check(folder, said);
  },
);
