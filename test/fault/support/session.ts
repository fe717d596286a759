import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { failpointMarkVariable, failpointVariable } from "../../../kernel/src/platform/failpoint.ts";
import { Bench, type BenchSpec } from "../../support/bench.ts";
import { isAlive, until } from "../../support/until.ts";
import { Died, Load } from "./load.ts";
import { childrenOf, commandLineOf, environmentOf, SeenProcesses } from "./processes.ts";
import { workerExtension } from "./worker-agent.ts";

/** Rounds of the load within which a failpoint has to be passed. */
const ROUNDS_PER_DEATH = 2;

/** A workspace in which kernels die one after another at named points; each next one is checked. */
export class Session implements AsyncDisposable {
  readonly bench: Bench;
  readonly load: Load;
  readonly #markFile: string;
  readonly #processes = new SeenProcesses();
  /** Known after the first kernel's start. */
  stateFolder = "";

  private constructor(bench: Bench, load: Load, markFile: string) {
    this.bench = bench;
    this.load = load;
    this.#markFile = markFile;
  }

  static async create(spec: BenchSpec = {}): Promise<Session> {
    const bench = await Bench.create({
      ...spec,
      extensions: [workerExtension, ...(spec.extensions ?? [])],
      lares: { kernel: { linger: "0s" }, ...spec.lares },
    });
    const client = bench.spawn();
    await client[Symbol.asyncDispose]();
    return new Session(bench, new Load(bench, client), join(bench.base, "deaths"));
  }

  /** Starts a front whose kernels die at these points, one after the other. */
  async open(points: readonly string[] = [], more: NodeJS.ProcessEnv = {}): Promise<void> {
    await rm(this.#markFile, { force: true });
    const environment = {
      [failpointVariable]: points.join(","),
      [failpointMarkVariable]: this.#markFile,
      ...more,
    };
    this.load.client = await this.bench.connect({ trusted: true, environment });
  }

  /** Returns the names of the points at which kernels died so far. */
  async deaths(): Promise<string[]> {
    try {
      const lines = (await readFile(this.#markFile, "utf8")).split("\n").slice(0, -1);
      return lines.map((line) => line.split(" ")[0] ?? "");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }

  /** Works until this many kernels have died; if work alone is not enough, leaves as a client does. */
  async workUntilDeath(count: number, work: () => Promise<void> = () => this.load.round()): Promise<void> {
    const died = async (): Promise<boolean> => (await this.deaths()).length >= count;
    for (let round = 0; round < ROUNDS_PER_DEATH && !(await died()); round++) {
      try {
        await this.observe();
        await work();
      } catch (error) {
        if (!(error instanceof Died)) throw error;
        await until("the death that interrupted the work", died);
      }
    }
  }

  /** Leaves, and waits until the kernel is gone, whether it ended or died. */
  async leave(): Promise<void> {
    const { pid } = await this.load.status();
    await this.observe();
    await this.load.client.shutdown();
    await until("the kernel to end", () => !isAlive(pid));
    await this.deaths();
    await this.#processes.gone();
  }

  /** Remembers the current processes, and checks the permissions of the kernel's children. */
  async observe(): Promise<void> {
    const { pid, stateFolder } = await this.load.status();
    this.stateFolder = stateFolder;
    this.#processes.add(pid);
    for (const child of childrenOf(pid)) {
      this.#processes.add(child);
      // Between fork and exec it still looks like its parent.
      if (commandLineOf(child).includes("--permission"))
        expect(environmentOf(child), "the environment of a kernel's child").not.toContain("LARES");
    }
  }

  /** Checks that no process of a dead kernel is left. */
  async checkProcesses(): Promise<void> {
    const { pid, stateFolder } = await this.load.status();
    this.stateFolder = stateFolder;
    const living = new Set([pid, ...childrenOf(pid)]);
    await this.#processes.gone(living);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bench[Symbol.asyncDispose]();
    await this.#processes.gone();
  }
}
