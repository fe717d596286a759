import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { failpointMarkVariable, failpointVariable } from "../../../kernel/src/platform/failpoint.ts";
import { agent, Bench } from "../../support/bench.ts";
import { RpcError, type Client } from "../../support/client.ts";
import { control, log, tryDispatch, worker, type Line, type Step } from "../../support/jobs.ts";
import { until } from "../../support/until.ts";

const WORKER = "test.worker";
/** Number of notes, each written after as many saves; each takes two steps. */
const stages = 4;
/** A task that is asked for after the last save, so that each run of the job asks for it. */
const part = "once";
const staged: readonly Step[] = [
  ...Array.from({ length: stages }, (_, at): Step[] => [["note", String(at)], ["save"]]).flat(),
  ["task", part],
];

interface Acknowledged {
  readonly kind: "staged" | "lost" | "failing";
  readonly id: string;
  /** How often a person let it run again after its death. */
  readonly retries: number;
}

/**
 * An agent whose jobs are done, lost and failed while its kernel dies; everything acknowledged is checked afterwards.
 */
export class JobLoad implements AsyncDisposable {
  readonly bench: Bench;
  client: Client;
  readonly #markFile: string;
  #acknowledged: Acknowledged[] = [];
  /** Unanswered dispatches: each may have been stored. */
  #unanswered = 0;
  #deathsChecked = 0;

  private constructor(bench: Bench, client: Client, markFile: string) {
    this.bench = bench;
    this.client = client;
    this.#markFile = markFile;
  }

  /** Kernels die at these points, one after the other. */
  static async open(points: readonly string[] = []): Promise<JobLoad> {
    const bench = await Bench.create({
      lares: { kernel: { linger: "0s" } },
      extensions: [worker({ id: WORKER, resources: { max_cpu_ms_per_event: 300 } })],
    });
    const markFile = join(bench.base, "deaths");
    const environment = { [failpointVariable]: points.join(","), [failpointMarkVariable]: markFile };
    return new JobLoad(bench, await bench.connect({ trusted: true, environment }), markFile);
  }

  /** Returns the names of the points at which kernels died so far. */
  async deaths(): Promise<string[]> {
    const lines = await readFile(this.#markFile, "utf8").catch(() => "");
    return lines
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(" ")[0] ?? "");
  }

  /**
   * Dispatches jobs of every kind, no two failing ones in a row; continues after the death of the process that should
   * answer.
   */
  async dispatch(): Promise<void> {
    for (const kind of ["staged", "lost", "staged", "failing", "staged"] as const) {
      try {
        const { id, error } = await {
          staged: () => tryDispatch(this.client, WORKER, "steps", staged),
          lost: () => tryDispatch(this.client, WORKER, "loseAndSave", 1),
          failing: () =>
            tryDispatch(this.client, WORKER, "steps", [
              ["note", "fails"],
              ["throw", "as it should"],
            ]),
        }[kind]();
        if (id === undefined) throw new Error(JSON.stringify(error));
        this.#acknowledged.push({ kind, id, retries: 0 });
      } catch (error) {
        if (!isDeath(error)) throw error;
        this.#unanswered += 1;
      }
    }
    await this.#retryDead();
  }

  /** Lets the latest dead job run again, which fails again. */
  async #retryDead(): Promise<void> {
    try {
      const { items } = await this.client.request<{ items: { id: string }[] }>("lares/jobs/list", {
        state: "dead",
        limit: 1,
      });
      const [dead] = items;
      if (dead === undefined) return;
      const known = this.#acknowledged.find(({ id }) => id === dead.id);
      // Counted before the answer, because a kernel may die when it has stored this.
      if (known !== undefined)
        this.#acknowledged[this.#acknowledged.indexOf(known)] = { ...known, retries: known.retries + 1 };
      else this.#unanswered += 1;
      await this.client.request("lares/jobs/retry", { id: dead.id });
      if (known !== undefined) return;
      this.#unanswered -= 1;
      this.#acknowledged.push({ kind: "failing", id: dead.id, retries: 0 });
    } catch (error) {
      if (!isDeath(error)) throw error;
    }
  }

  /** Resolves when nothing is left to do. */
  async rest(): Promise<void> {
    await until("all jobs to have ended", () => this.isAtRest());
  }

  /** Returns true if nothing is left to do. Resumes the worker if it is suspended. */
  async isAtRest(): Promise<boolean> {
    try {
      const { ready, idle } = await this.client.request<{ ready: boolean; idle: boolean }>("lares/status");
      // Losses and failures in a row, with repetitions after a death, may be three.
      if ((await agent(this.client, WORKER)).state === "Suspended") {
        await control(this.client, WORKER, "resume");
        return false;
      }
      return ready && idle;
    } catch (error) {
      if (isDeath(error)) return false;
      throw error;
    }
  }

  /**
   * Compares the log with what was acknowledged, and clears both: ended jobs are not begun again. `kills`: deaths
   * besides those at named points.
   */
  async check(kills = 0): Promise<void> {
    const atPoints = (await this.deaths()).length;
    const deaths = atPoints - this.#deathsChecked + kills;
    this.#deathsChecked = atPoints;
    const byJob = Map.groupBy(await log(this.client, WORKER), ({ job }) => job);
    for (const { id, ...job } of this.#acknowledged) {
      const lines = byJob.get(id) ?? [];
      byJob.delete(id);
      checkJob(job, lines, deaths);
    }
    expect(byJob.size, `jobs that nobody dispatched: ${JSON.stringify([...byJob])}`).toBeLessThanOrEqual(
      this.#unanswered,
    );
    this.#acknowledged = [];
    this.#unanswered = 0;
    await until("the log to be forgotten", async () => {
      try {
        await this.client.request("lares/tools/call", { agent: WORKER, name: "forget", arguments: {} });
        return true;
      } catch (error) {
        if (isDeath(error)) return false;
        throw error;
      }
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.bench[Symbol.asyncDispose]();
  }
}

/** The kernel, the front's connection or the guest ended, or the next kernel does not know its agents yet. */
function isDeath(error: unknown): boolean {
  if (error instanceof RpcError) return [-32803, -33001, -33013].includes(error.code);
  return error instanceof Error && /no agent|-33013/.test(error.message);
}

function checkJob({ kind, retries }: Omit<Acknowledged, "id">, lines: readonly Line[], deaths: number): void {
  const texts = lines.map(({ text }) => text);
  const said = `a ${kind} job: ${JSON.stringify(lines)}`;
  const begun = texts.filter((text) => text === "begin").length;
  expect(begun, said).toBeGreaterThan(0);
  // A failing job has three attempts, and as many after each retry.
  const again = { staged: 0, lost: 1, failing: 2 + 3 * retries }[kind];
  expect(begun, said).toBeLessThanOrEqual(1 + deaths + again);
  if (kind === "failing") {
    expect(texts, said).toContain("fails");
    expect(texts, said).not.toContain("end");
    return;
  }
  expect(texts, said).toContain("end");
  if (kind === "lost") return;
  // A task whose result was stored is not run again: each further run was cut short by a death.
  const parts = texts.filter((text) => text === "part").length;
  expect(parts, said).toBeGreaterThan(0);
  expect(parts, said).toBeLessThanOrEqual(1 + deaths);
  const results = lines.filter(({ text }) => text === "result");
  expect(results.length, said).toBeGreaterThan(0);
  for (const { result } of results) expect(result, said).toEqual({ of: part });
  const firstResult = texts.indexOf("result");
  expect(texts.indexOf("part", firstResult), `${said}: a task ran again after its result was seen`).toBe(-1);
  let reached = -1;
  for (const { text, checkpoint } of lines) {
    if (text === "part" || text === "result") continue;
    if (text === "begin") {
      // A note was written after the save before it: no checkpoint is older than that.
      const next = checkpoint === "undefined" ? 0 : (checkpoint as { next: number }).next;
      expect(next, said).toBeGreaterThanOrEqual(2 * Math.max(0, reached));
      expect(next, said).toBeLessThanOrEqual(2 * (reached + 1));
    } else if (text !== "end") {
      expect(Number(text), said).toBeGreaterThanOrEqual(reached);
      expect(Number(text), said).toBeLessThanOrEqual(reached + 1);
      reached = Number(text);
    }
  }
  expect(reached, said).toBe(stages - 1);
}
