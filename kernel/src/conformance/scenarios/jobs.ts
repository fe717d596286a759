import { isJsonObject } from "../../base/json.ts";
import { wireCodes } from "../../protocol/errors.ts";
import { entriesOf, jobEntry } from "../entries.ts";
import type { Peer } from "../peer.ts";
import { bounds } from "../ports.ts";
import { holds, notApplicable, Violation } from "../results.ts";
import type { Attempt, ReadyGuest, Scenario } from "../scenario.ts";

const noJobs = "It has no jobs.";

/** Jobs, one after the other. */
export const jobs: readonly Scenario[] = [
  {
    rule: "jobs",
    title: "Each `job` is answered.",
    needs: ["ping"],
    async try(attempt) {
      const { peer, abilities } = await attempt.open();
      if (abilities.jobs.length === 0) return notApplicable(noJobs);
      const errors: string[] = [];
      for (const name of abilities.jobs.slice(0, bounds.maxTried)) {
        const answer = await peer.answerTo(jobEntry(name).send(peer, attempt.id()));
        if (answer.kind === "error") errors.push(`${name} with the error "${answer.error.message}"`);
      }
      await peer.probe("its jobs");
      const { length } = abilities.jobs;
      return holds(errors.length === 0 ? `${length} answered.` : `${length} answered: ${errors.join(", ")}.`);
    },
  },
];

/** Checkpoints and cancels of jobs, which are given what the guest's own hooks and tools dispatch. */
export const heldJobs: readonly Scenario[] = [
  {
    rule: "job-checkpoint",
    title: "A job that is given back with its `checkpoint` continues and is answered.",
    needs: ["jobs", "hooks", "tools"],
    async try(attempt) {
      const { peer: first, abilities, inputs } = await dispatched(attempt);
      if (abilities.jobs.length === 0) return notApplicable(noJobs);
      const resumed: string[] = [];
      for (const name of abilities.jobs.slice(0, bounds.maxTried)) {
        const id = attempt.id();
        first.seen.length = 0;
        await first.answerTo(jobEntry(name, inputs.get(name)).send(first, id));
        const saved = first.seen.find(({ method }) => method === "jobs/checkpoint");
        if (saved === undefined || !isJsonObject(saved.params)) continue;
        // As after the death of the guest that saved it.
        const { peer: second } = await attempt.open();
        await second.answerTo(jobEntry(name, inputs.get(name), saved.params["data"]).send(second, id));
        await second.probe(`the job ${name} from its checkpoint`);
        resumed.push(name);
      }
      if (resumed.length === 0) return notApplicable("No job saved a checkpoint.");
      return holds(`Another guest ended these from their first checkpoints: ${resumed.join(", ")}.`);
    },
  },
  {
    rule: "tasks",
    title: "A `task` is answered while the job waits that asked for it.",
    needs: ["jobs", "hooks", "tools"],
    async try(attempt) {
      const { peer, abilities, inputs } = await dispatched(attempt);
      if (abilities.tasks.length === 0) return notApplicable("It has no tasks.");
      const done = new Set<string>();
      for (const name of abilities.jobs.slice(0, bounds.maxTried)) {
        const job = attempt.id();
        peer.mode = "hold";
        const answer = peer.answerTo(jobEntry(name, inputs.get(name)).send(peer, job));
        while (await peer.untilHeld(answer)) {
          const held = peer.heldTask();
          // A task may call the kernel itself.
          peer.mode = "answer";
          for (const task of held === null ? abilities.tasks : [held.name]) {
            if (done.has(task)) continue;
            done.add(task);
            await peer.ask("task", { name: task, input: held?.input ?? {}, job });
          }
          peer.mode = "hold";
          peer.releaseOne();
        }
        await answer;
      }
      if (done.size === 0) return notApplicable("No job waited for a host call.");
      return holds(`Answered: ${[...done].join(", ")}.`);
    },
  },
  {
    rule: "cancel-job",
    title: "`cancelJob` is answered at once, of a job that has ended too, and the job ends soon.",
    needs: ["jobs", "hooks", "tools"],
    async try(attempt) {
      const { peer, abilities, inputs } = await dispatched(attempt);
      if (abilities.jobs.length === 0) return notApplicable(noJobs);
      const { promptMs } = attempt.ports.patience;
      if (!(await knowsCancel(peer, attempt.id(), promptMs)))
        return notApplicable("It does not know cancelJob: the kernel ends it together with the job.");
      let waiting = 0;
      const names = abilities.jobs.slice(0, bounds.maxTried);
      for (const name of names) {
        const id = attempt.id();
        peer.mode = "hold";
        const sent = jobEntry(name, inputs.get(name)).send(peer, id);
        const answer = peer.answerTo(sent);
        if (await peer.untilHeld(answer)) waiting += 1;
        await knowsCancel(peer, id, promptMs);
        peer.cancelHeld();
        await peer.answerTo(sent, promptMs);
        await answer;
      }
      return holds(`${names.length} were cancelled, ${waiting} while they waited.`);
    },
  },
];

/** Returns false for a guest that does not know the method, which the contract allows. */
async function knowsCancel(peer: Peer, id: string, withinMs: number): Promise<boolean> {
  const answer = await peer.ask("cancelJob", { id }, withinMs);
  if (answer.kind === "result") return true;
  if (answer.error.code === wireCodes.MethodNotFound) return false;
  throw new Violation(`It answered cancelJob with an error: ${answer.error.message}`);
}

/** Returns what the guest's own hooks and tools dispatch its jobs with, where they do. */
async function dispatched(
  attempt: Attempt,
): Promise<ReadyGuest & { readonly inputs: ReadonlyMap<string, unknown> }> {
  const { peer, abilities } = await attempt.open();
  const inputs = new Map<string, unknown>();
  if (abilities.jobs.length === 0) return { peer, abilities, inputs };
  const callers = entriesOf(attempt.subject, abilities, attempt.ports).filter(({ kind }) => kind !== "job");
  for (const entry of callers) await peer.answerTo(entry.send(peer, attempt.id()));
  for (const { method, params } of peer.seen) {
    if (method !== "jobs/dispatch" || !isJsonObject(params)) continue;
    const { name, input } = params;
    if (typeof name === "string" && !inputs.has(name)) inputs.set(name, input);
  }
  return { peer, abilities, inputs };
}
