import { type Bench, agent, tool, type ExtensionSpec, type Grants } from "./bench.ts";
import type { Client } from "./client.ts";
import type { TraceEntry } from "./types.ts";
import { until } from "./until.ts";

/**
 * A step of the worker's job. It takes its checkpoints explicitly: `save` stores the position of the next step, and a
 * resumed job continues from there.
 */
export type Step =
  /** Writes a line into working memory. */
  | readonly ["note", string]
  /** Waits until the workspace has this file. */
  | readonly ["gate", string]
  | readonly ["sleep", number]
  /** Computes for this many milliseconds. */
  | readonly ["spin", number]
  | readonly ["spin for ever"]
  | readonly ["eat all memory"]
  /** With `data`, that is saved instead of the position. */
  | readonly ["save", unknown?]
  | readonly ["progress", unknown, unknown?]
  /** Reports progress this many times, without a pause. */
  | readonly ["progress often", number]
  | readonly ["throw", string]
  /** Waits for the file, or ends in this way if the signal comes first. */
  | readonly ["gate or signal", string, "return" | "throw"]
  /** Dispatches a job and notes its id. */
  | readonly ["dispatch", string, unknown, DispatchOptions?]
  /** Runs the task `part` with this input, which notes that it runs, and notes its result. */
  | readonly ["task", unknown]
  /** Leaves its context to the tool `late`. */
  | readonly ["leak"];

interface DispatchOptions {
  readonly priority?: "low" | "normal" | "high";
  readonly whenIdle?: boolean;
  readonly key?: string;
}

/** A line of the worker's log. */
export interface Line {
  /** The job's id, or another name. */
  readonly job: string;
  readonly text: string;
  /** By the guest's clock, in milliseconds. */
  readonly at: number;
  readonly [more: string]: unknown;
}

export interface Refused {
  readonly code: string;
  readonly message: string;
  readonly facts: Record<string, unknown>;
}

/** `version` is in each begin line and names the program that ran it; `jobs` is the source text of further jobs. */
export function workerProgram(version = "first", jobs = ""): string {
  return `
import { defineAgent } from "@lares/sdk";

const note = (ctx, job, text, more = {}) =>
  ctx.memory.plan.update((plan) => { plan.log.push({ job, text, at: Date.now(), ...more }); return plan; });
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const spin = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
const refusal = (error) => ({ error: { code: error.code, message: String(error.message), facts: error.facts ?? {} } });
const VERSION = ${JSON.stringify(version)};
let leaked;

const does = {
  note: (ctx, text) => note(ctx, ctx.jobId, text),
  async gate(ctx, name) { while ((await ctx.vdfs.get(name)) === null) await sleep(20); },
  sleep: (ctx, ms) => sleep(ms),
  spin: (ctx, ms) => spin(ms),
  "spin for ever"() { for (;;); },
  "eat all memory"() { const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1)); },
  progress: (ctx, fraction, message) => ctx.progress(fraction, message),
  async "progress often"(ctx, times) {
    for (let at = 1; at <= times; at++) await ctx.progress(at / times, "step " + at);
  },
  throw(ctx, message) { throw new Error(message); },
  async "gate or signal"(ctx, name, way) {
    // At once, before the guest is gone.
    const told = new Promise((resolve) => ctx.signal.addEventListener("abort", () => resolve(true)));
    while ((await ctx.vdfs.get(name)) === null) {
      if (!(await Promise.race([sleep(20), told]))) continue;
      if (way === "throw") throw new Error("the signal said so");
      return true;
    }
  },
  async dispatch(ctx, name, input, options) { await note(ctx, ctx.jobId, "dispatched", { id: await ctx.jobs.dispatch(name, input, options) }); },
  async task(ctx, input) { await note(ctx, ctx.jobId, "result", { result: await ctx.task("part", input) }); },
  leak(ctx) { leaked = ctx; },
};

function begin(ctx) {
  const checkpoint = ctx.checkpoint === undefined ? "undefined" : ctx.checkpoint;
  return note(ctx, ctx.jobId, "begin", { checkpoint, version: VERSION });
}

async function steps(input, ctx) {
  await begin(ctx);
  for (let at = ctx.checkpoint?.next ?? 0; at < input.length; at++) {
    const [what, ...details] = input[at];
    if (what === "save") await ctx.save(details.length > 0 ? details[0] : { next: at + 1 });
    else if (await does[what](ctx, ...details) === true) return;
  }
  await note(ctx, ctx.jobId, "end");
}

export default defineAgent({
  memory: { plan: { log: [] } },
  /** Time for a job that obeys its signal to answer. */
  onShutdown: () => sleep(20),
  hooks: {
    async seen(event, ctx) { await note(ctx, "hook", event.entry.name); },
    async burn(event, ctx) { spin(100); await note(ctx, "hook", event.entry.name); },
    async fail() { throw new Error("a hook that fails"); },
    async die() { for (;;); },
    async start(event, ctx) { await ctx.jobs.dispatch("steps", await ctx.vdfs.readJson(event.entry.path)); },
    async startIdle(event, ctx) { await ctx.jobs.dispatch("steps", await ctx.vdfs.readJson(event.entry.path), { whenIdle: true }); },
  },
  tasks: {
    async part(input, ctx) { await note(ctx, ctx.jobId, "part", { input }); return { of: input }; },
  },
  jobs: {
    steps,
    nothing() {},
    /** Stores its input unchanged. */
    async keep(input, ctx) { await note(ctx, ctx.jobId, "kept", { input: JSON.stringify(input) }); },
    /** Saves its input, is lost, and stores the checkpoint unchanged. */
    async saveAndKeep(input, ctx) {
      if (ctx.checkpoint === undefined) { await ctx.save(input); for (;;); }
      await note(ctx, ctx.jobId, "kept", { input: JSON.stringify(ctx.checkpoint) });
    },
    async measure(input, ctx) { await note(ctx, ctx.jobId, "measured", { length: input.length }); },
    /** Is lost after each of this many checkpoints. */
    async loseAndSave(times, ctx) {
      await begin(ctx);
      const at = ctx.checkpoint ?? 0;
      if (at < times) { await ctx.save(at + 1); for (;;); }
      await note(ctx, ctx.jobId, "end");
    },
    async saveBytes(bytes, ctx) {
      try { await ctx.save("x".repeat(bytes - 2)); await note(ctx, ctx.jobId, "saved"); }
      catch (error) { await note(ctx, ctx.jobId, "refused", refusal(error)); }
    },
    /** Tries calls of its context, and stores their results. */
    async attempt(calls, ctx) {
      for (const [method, ...args] of calls)
        try { await ctx[method](...args); await note(ctx, ctx.jobId, "allowed"); }
        catch (error) { await note(ctx, ctx.jobId, "refused", refusal(error)); }
    },
    ${jobs}
  },
  tools: {
    async dispatch({ name, input, options }, ctx) {
      try { return { id: await ctx.jobs.dispatch(name, input, options) }; } catch (error) { return refusal(error); }
    },
    /** Many at once; if one is refused, returns how many were not. */
    async dispatchMany({ name, input, count, bytes }, ctx) {
      const value = bytes === undefined ? input : "x".repeat(bytes - 2);
      const all = await Promise.allSettled(Array.from({ length: count }, () => ctx.jobs.dispatch(name, value)));
      const refusals = all.filter(({ status }) => status === "rejected");
      return { accepted: count - refusals.length, ...(refusals[0] === undefined ? {} : refusal(refusals[0].reason)) };
    },
    async late({ method, args }, ctx) {
      try { await leaked[method](...args); return { done: true }; } catch (error) { return refusal(error); }
    },
    async forget(_, ctx) { await ctx.memory.plan.set({ log: [] }); },
    async log(_, ctx) { return (await ctx.memory.plan.read()).log; },
  },
});
`;
}

const handlers = ["seen", "burn", "fail", "die", "start", "startIdle"] as const;

const hook = (id: string, handler: string) => ({
  on: "EntryCreated",
  handler,
  filter: `entry.extension == "${handler.toLowerCase()}" && entry.name.startsWith("${id}-")`,
});

/** Writes a file that is an event for this hook of the worker; returns its name. */
export async function provoke(
  bench: Bench,
  id: string,
  handler: (typeof handlers)[number],
  name: string,
  content = "x",
): Promise<string> {
  const file = `${id}-${name}.${handler.toLowerCase()}`;
  await bench.write(file, content);
  return file;
}

interface WorkerSpec {
  readonly id: string;
  readonly permissions?: Record<string, unknown>;
  readonly resources?: Record<string, unknown>;
  readonly grants?: Grants;
  readonly version?: string;
  readonly jobs?: string;
}

/** An agent whose jobs follow a test's steps. */
export function worker({ id, permissions, resources, grants, version, jobs }: WorkerSpec): ExtensionSpec {
  return {
    id,
    program: workerProgram(version, jobs),
    ...(grants === undefined ? {} : { grants }),
    manifest: {
      permissions: permissions ?? { read_entries: true, dispatch_jobs: true },
      hooks: handlers.map((handler) => hook(id, handler)),
      tools: ["dispatch", "dispatchMany", "late", "forget", "log"].map((name) => ({
        name,
        description: name,
        handler: name,
        parameters: { type: "object" },
      })),
      ...(resources === undefined ? {} : { resources }),
    },
  };
}

/** Dispatches from the worker's tool; `error` is the kernel's refusal. */
export function tryDispatch(
  client: Client,
  id: string,
  name: string,
  input: unknown,
  options: Record<string, unknown> = {},
): Promise<{ id?: string; error?: Refused }> {
  return tool(client, id, "dispatch", { name, input, options });
}

/** Dispatches a job of steps and returns its id. */
export async function dispatch(
  client: Client,
  id: string,
  steps: readonly Step[],
  options: DispatchOptions = {},
): Promise<string> {
  const answer = await tryDispatch(client, id, "steps", steps, { ...options });
  if (answer.id === undefined) throw new Error(`${id}: ${JSON.stringify(answer)}`);
  return answer.id;
}

/** Returns the worker's log, read from its memory: no guest is woken. */
export async function log(client: Client, id: string): Promise<Line[]> {
  const { state } = await client.request<{ state: { log?: Line[] } | null }>("lares/memory/query", {
    agent: id,
    kind: "working",
  });
  return state?.log ?? [];
}

/** Returns what a job wrote, in order. */
export async function textsOf(client: Client, id: string, job: string): Promise<string[]> {
  return (await log(client, id)).filter((line) => line.job === job).map(({ text }) => text);
}

/** Waits until the job has written this text this many times. */
export function wrote(client: Client, id: string, job: string, text: string, times = 1): Promise<Line> {
  return until(`job ${job} of ${id} to write "${text}" (${times})`, async () => {
    const lines = (await log(client, id)).filter((line) => line.job === job && line.text === text);
    return lines[times - 1];
  });
}

/** Waits until this many of the worker's jobs have ended in this kernel's life. */
export async function ended(
  client: Client,
  id: string,
  counts: { readonly completed?: number; readonly failed?: number },
): Promise<void> {
  const { completed = 0, failed = 0 } = counts;
  await until(`${completed} jobs of ${id} completed and ${failed} failed`, async () => {
    const { jobs_completed, jobs_failed } = (await agent(client, id)).metrics;
    if (jobs_completed > completed || jobs_failed > failed)
      throw new Error(`${id}: ${jobs_completed} completed, ${jobs_failed} failed`);
    return jobs_completed === completed && jobs_failed === failed;
  });
}

/** Returns an agent's traces at a level, oldest first. */
export async function traces(client: Client, id: string, level: string): Promise<TraceEntry[]> {
  const found = await client.request<TraceEntry[]>("lares/traces/query", { agent: id, level, limit: 1000 });
  return found.toReversed();
}

export const openGate = (bench: Bench, name: string): Promise<void> => bench.write(name, "open");

export const control = (client: Client, id: string, command: string): Promise<unknown> =>
  client.request("lares/agents/control", { id, command });
