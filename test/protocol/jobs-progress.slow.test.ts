import { afterAll, beforeAll, expect, test } from "vitest";
import { Bench, inState } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { control, dispatch, openGate, worker, wrote } from "../support/jobs.ts";
import { until } from "../support/until.ts";

interface Progress {
  readonly token: string;
  readonly value: {
    readonly kind: "begin" | "report" | "end";
    readonly title?: string;
    readonly message?: string;
    readonly percentage?: number;
  };
}

const ONE = "test.one";
const TWO = "test.two";
const PROGRESS = { window: { workDoneProgress: true } };

let bench: Bench;
let client: Client;
let plain: Client;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [ONE, TWO].map((id) => worker({ id, resources: { max_cpu_ms_per_event: 30_000 } })),
  });
  client = await bench.open({ capabilities: PROGRESS });
  plain = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

const all = (of: Client = client): Progress[] => of.notifications<Progress>("$/progress");

/** Returns the progress of one job: everything under its token. */
function shown(id: string, after = 0): Progress[] {
  const since = all().slice(after);
  const begun = since.find(({ value }) => value.kind === "begin" && value.title?.includes(id));
  return since.filter(({ token }) => token === begun?.token);
}
const kinds = (progress: readonly Progress[]): string[] => progress.map(({ value }) => value.kind);
const over = (id: string, after = 0): Promise<Progress[]> =>
  until(`the end of what is shown for ${id}`, () => {
    const progress = shown(id, after);
    return progress.at(-1)?.value.kind === "end" && progress;
  });

test("begins with job and agent, has percentage and message, and ends, under a requested token", async () => {
  const after = all().length;
  await dispatch(client, ONE, [
    ["progress", 0.25, "a quarter"],
    ["sleep", 300],
    ["progress", 0.5],
    ["sleep", 300],
  ]);
  const progress = await over(ONE, after);
  expect(kinds(progress)).toEqual([
    "begin",
    ...kinds(progress)
      .slice(1, -1)
      .map(() => "report"),
    "end",
  ]);
  expect(progress[0]?.value.title).toMatch(/steps/);
  expect(progress[0]?.value.title).toContain(ONE);
  const told = progress.map(({ value }) => [value.percentage, value.message]);
  expect(told).toContainEqual([25, "a quarter"]);
  expect(progress.some(({ value }) => value.percentage === 50)).toBe(true);
  expect(client.notifications<{ token: string }>("window/workDoneProgress/create")).toContainEqual({
    token: progress[0]?.token,
  });
});

test("two thousand reports in a row reach the client as about ten a second, including the last one", async () => {
  const after = all().length;
  const job = await dispatch(client, ONE, [["progress often", 2000]]);
  const progress = await over(ONE, after);
  const [from, to] = [await wrote(client, ONE, job, "begin"), await wrote(client, ONE, job, "end")];
  const reports = progress.filter(({ value }) => value.kind === "report");
  expect(reports.length).toBeLessThanOrEqual(((to.at - from.at) / 1000) * 12 + 3);
  const last = progress.findLast(({ value }) => value.percentage !== undefined);
  expect(last?.value).toMatchObject({ percentage: 100, message: "step 2000" });
});

test("many short jobs in a row do not flood the client either", async () => {
  const after = client.received.length;
  const jobs: string[] = [];
  for (let at = 0; at < 60; at++) jobs.push(await dispatch(client, TWO, [["progress", 1, "done"]]));
  const from = await wrote(client, TWO, jobs[0] ?? "", "begin");
  const to = await wrote(client, TWO, jobs.at(-1) ?? "", "end");
  await bench.status(client);
  const told = client.received.slice(after).filter(({ method }) => method === "$/progress");
  // One begin, report and end each.
  expect(told.length).toBeLessThanOrEqual(3 * (((to.at - from.at) / 1000) * 12 + 2));
  expect(told.length).toBeGreaterThan(0);
});

test("a job without reports is shown after a while, unless it has ended before", async () => {
  const after = all().length;
  const short = await dispatch(client, ONE, [["note", "short"]]);
  await wrote(client, ONE, short, "end");
  const long = await dispatch(client, ONE, [["gate", "silent"]]);
  await wrote(client, ONE, long, "begin");
  await until("its begin", () => shown(ONE, after).length > 0);
  await openGate(bench, "silent");
  expect(kinds(await over(ONE, after))).toEqual(["begin", "end"]);
});

test("it ends if the job fails, is interrupted or its guest dies; a continued job begins a new one", async () => {
  let after = all().length;
  await dispatch(client, ONE, [
    ["progress", 0.5],
    ["sleep", 300],
    ["throw", "no more"],
  ]);
  expect(kinds(await over(ONE, after)).at(-1)).toBe("end");

  after = all().length;
  const job = await dispatch(client, ONE, [
    ["progress", 0.5],
    ["gate", "interrupted"],
  ]);
  await until("its begin", () => shown(ONE, after).length > 0);
  await control(client, ONE, "suspend");
  await inState(client, ONE, "Suspended");
  await over(ONE, after);
  after = all().length;
  await control(client, ONE, "resume");
  await until("its begin", () => shown(ONE, after).length > 0);
  await openGate(bench, "interrupted");
  await wrote(client, ONE, job, "end");
  await over(ONE, after);
});

test("a client that joins later sees nothing of an earlier job, and everything of the next", async () => {
  const job = await dispatch(client, ONE, [
    ["progress", 0.5, "before"],
    ["gate", "joined"],
    ["progress", 1, "after"],
  ]);
  const after = all().length;
  await until("its begin", () => all().some(({ value }) => value.message === "before"));
  const late = await bench.open({ capabilities: PROGRESS });
  await openGate(bench, "joined");
  await wrote(client, ONE, job, "end");
  await until("its end", () =>
    all()
      .slice(after)
      .some(({ value }) => value.kind === "end"),
  );
  await dispatch(client, ONE, [["progress", 0.75, "the next"]]);
  await until("the end of the next", () => {
    const told = all(late);
    const token = told.find(({ value }) => value.message === "the next")?.token;
    return told.some((one) => one.token === token && one.value.kind === "end");
  });
  expect(all(late).filter(({ value }) => /before|after/.test(value.message ?? ""))).toEqual([]);
  const begun = new Set(
    all(late)
      .filter(({ value }) => value.kind === "begin")
      .map(({ token }) => token),
  );
  expect(all(late).filter(({ token }) => !begun.has(token))).toEqual([]);
  await late.shutdown();
});

test("progress is in order: one begin, reports, one end for each token, and no other client gets it", async () => {
  await until("everything to have ended", () => {
    const open = new Set<string>();
    for (const { token, value } of all()) {
      if (value.kind === "begin") open.add(token);
      if (value.kind === "end") open.delete(token);
    }
    return open.size === 0;
  });
  const byToken = Map.groupBy(all(), ({ token }) => token);
  for (const progress of byToken.values()) expect(kinds(progress).join(" ")).toMatch(/^begin( report)* end$/);
  expect(all(plain)).toEqual([]);
  expect(plain.notifications("window/workDoneProgress/create")).toEqual([]);
});
