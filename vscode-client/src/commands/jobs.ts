import { commands, Disposable, window } from "vscode";
import { jobProgressWords, jobWaitsFor } from "../../../kernel/src/base/vocabulary/job-words.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { count, label, message, when } from "../model/text.ts";
import type { Job } from "../protocol.ts";
import { jobArgument, type JobArgument } from "./arguments.ts";
import { refusalOf, reporting } from "./explain.ts";

/** Where none is named, so many are offered. */
const maxOffered = 200;
/** Jobs that a question names. */
const maxNamed = 20;

/** A person's word that a job is not to be done. */
export const jobCommands: Feature = (context) =>
  Disposable.from(
    commands.registerCommand("lares.jobCancel", (given?: unknown) =>
      reporting("The job is not cancelled", async () => {
        const job = jobArgument(given) ?? (await pickJob(context));
        if (job !== undefined) await cancel(context, job);
      }),
    ),
    commands.registerCommand("lares.jobCancelAll", () =>
      reporting("The jobs are not cancelled", () => cancelAll(context)),
    ),
  );

/** Every job that waits or runs, after one question that names them. */
async function cancelAll({ kernel, models }: ClientContext): Promise<void> {
  const { items } = await kernel.request("lares/jobs/list", { limit: maxOffered });
  const jobs = items.filter(({ state }) => state !== "Cancelling");
  if (jobs.length === 0) {
    void window.showInformationMessage("No job waits or runs.");
    return;
  }
  const yes = `Cancel ${count(jobs.length, "Job")}`;
  const answer = await window.showWarningMessage(
    `Cancel ${count(jobs.length, "job")}?`,
    {
      modal: true,
      detail: jobs
        .slice(0, maxNamed)
        .map(({ name, agent }) => `• ${message(name, 100)} of ${message(models.agents.nameOf(agent), 80)}`)
        .join("\n"),
    },
    yes,
  );
  if (answer !== yes) return;
  for (const { id, agent } of jobs) {
    try {
      await kernel.request("lares/jobs/cancel", { id, agent });
    } catch (error) {
      // One that has ended meanwhile needs nothing.
      if (refusalOf(error) !== "IllegalTransition" && refusalOf(error) !== "NotFound") throw error;
    }
  }
}

async function cancel({ kernel }: ClientContext, job: JobArgument): Promise<void> {
  try {
    await window.withProgress({ location: { viewId: "lares.agents" } }, () =>
      kernel.request("lares/jobs/cancel", { ...job }),
    );
  } catch (error) {
    // It was shown a moment longer than it was there: nothing is left to be done.
    if (refusalOf(error) !== "IllegalTransition" && refusalOf(error) !== "NotFound") throw error;
    void window.showInformationMessage("The job has ended already.");
  }
}

async function pickJob({ kernel, models }: ClientContext): Promise<JobArgument | undefined> {
  const { items } = await kernel.request("lares/jobs/list", { limit: maxOffered });
  const offered = items
    .filter(({ state }) => state !== "Cancelling")
    .map((job) => ({
      label: label(job.name),
      description: label(models.agents.get(job.agent)?.name ?? job.agent),
      detail: detailOf(job),
      job: { id: job.id, agent: job.agent },
    }));
  if (offered.length === 0) {
    void window.showInformationMessage("No job waits or runs.");
    return undefined;
  }
  return (await window.showQuickPick(offered, { title: "Cancel Job", placeHolder: "Which job?" }))?.job;
}

function detailOf(job: Job): string {
  return job.state === "Running"
    ? ["running", jobProgressWords(job, label)].filter((part) => part !== "").join(" · ")
    : jobWaitsFor(job, (time) => when(time, Date.now())) || "waiting";
}
