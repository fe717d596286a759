import { ManualClock } from "../../base/testing/manual-clock.ts";
import { DayCounts } from "../day-counts.ts";
import type { AgentDefinition, JobProgress, JobRequest } from "../ports.ts";
import type { SupervisorOptions } from "../lifecycle/agent-parts.ts";
import { StoppedWork } from "../stopped-work.ts";
import { Supervisor } from "../lifecycle/supervisor.ts";
import { definitionOf, FakeGuest, FakeQueue, type Behaviour } from "./fake-guest.ts";
import { FakeJobs } from "./fake-jobs.ts";

type Params = Record<string, unknown>;
type RunJob = (params: Params, guest: FakeGuest) => unknown;

const granted: AgentDefinition["authority"]["effective"] = { read_entries: true, dispatch_jobs: true };
export const withJobs = (effective = granted): Partial<AgentDefinition> => ({
  authority: { ...definitionOf().authority, effective },
});

/** An agent with jobs, its queue, guests and clock, under the control of a test. */
export function setUpJobs(
  run: RunJob = () => ({}),
  hook: RunJob = () => ({}),
  names = ["work"],
  around: Pick<SupervisorOptions, "othersAreQuiet" | "rested" | "slots"> = {},
) {
  const clock = new ManualClock();
  const queue = new FakeQueue(() => clock.now());
  const jobs = new FakeJobs(() => clock.now());
  const guests: FakeGuest[] = [];
  const traces: string[] = [];
  const stopped = new StoppedWork();
  const reported: JobProgress[] = [];
  const slot = { next: Promise.resolve() };
  const turns = { next: Promise.resolve() };
  const behaviour: Behaviour = (method, params, guest) => {
    if (method === "initialize")
      return { handlers: ["seen"], tools: ["count"], jobs: names, tasks: ["part"] };
    if (method === "shutdown") queueMicrotask(() => guest.die("exited"));
    if (method === "job" || method === "task") return run(params, guest);
    return method === "hook" ? hook(params, guest) : {};
  };
  const supervisor: Supervisor = new Supervisor({
    ...around,
    definition: definitionOf(withJobs()),
    clock,
    idleUnloadMs: () => 300_000,
    ports: {
      queue,
      dayCounts: new DayCounts(clock),
      jobs,
      stopped,
      jobProgress: (progress) => void reported.push(progress),
      traces: { write: ({ message }) => void traces.push(message) },
      startGuest: async (_definition, handlers) => {
        const guest = new FakeGuest(handlers, behaviour);
        guests.push(guest);
        return guest;
      },
      authorityOf: () => null,
      // Its guests request nothing but checkpoints.
      readHostCall: (_method, params) => ({
        params,
        answer: ({ job }) => supervisor.jobs.checkpoint(job, (params as { data: string }).data),
      }),
      memoryFigures: () => ({ temporalEvents: 0, knowledgeItems: 0, sizeBytes: 0 }),
      openMemory: async () => undefined,
      isEntry: () => false,
      hides: () => false,
      acquireSlot: async () => {
        await slot.next;
        return { [Symbol.dispose]: () => undefined };
      },
      takeTurn: () => turns.next,
      ran: () => undefined,
      suspension: () => null,
    },
  });
  supervisor.start();
  return {
    supervisor,
    clock,
    queue,
    jobs,
    guests,
    traces,
    stopped,
    reported,
    turns,
    /** The guest gets its place once this has resolved. */
    slot,
    settle: (ms = 0) => clock.advanceAsync(ms),
    /** Adds a job without checking that the program has it. */
    enqueue: async (change: Partial<JobRequest> = {}) => {
      const { id } = await jobs.dispatch("dev.test.agent", {
        name: "work",
        input: null,
        priority: "normal",
        whenIdle: false,
        ...change,
      });
      supervisor.pump();
      return id;
    },
    asked: () => guests.flatMap((guest) => guest.asked.filter(({ method }) => method === "job")),
    metrics: () => {
      const { jobs_dispatched, jobs_completed, jobs_failed } = supervisor.describe().metrics;
      return [jobs_dispatched, jobs_completed, jobs_failed];
    },
  };
}

export const never = new Promise<never>(() => undefined);

/** A handler that watches its signal, which a cancellation request aborts. */
export function returnsWhenTold(answer: () => unknown, what = "shutdown"): RunJob {
  return async (_params, guest) => {
    while (!guest.asked.some(({ method }) => method === what)) await Promise.resolve();
    return answer();
  };
}
