import { commands, Disposable, window, type MessageItem } from "vscode";
import { jobProgressWords, jobWaitsFor } from "../../../kernel/src/base/vocabulary/job-words.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { count, label, message, when } from "../model/text.ts";
import type { Job } from "../protocol.ts";
import { jobArgument, type JobArgument } from "../deciding/arguments.ts";
import { refusalOf, reporting } from "../deciding/explain.ts";

/** The number of jobs that are offered if none is named. */
const maxOffered = 200;
/** The number of jobs that a question names. */
const maxNamed = 20;

/** Lets a person cancel jobs, and retry or remove dead ones. */
export const jobCommands: Feature = (context) =>
  Disposable.from(
    commands.registerCommand("lares.jobCancel", (given?: unknown) =>
      reporting("The job is not cancelled", async () => {
        const job = jobArgument(given) ?? (await pickJob(context, toCancel));
        if (job !== undefined) await cancel(context, job);
      }),
    ),
    commands.registerCommand("lares.jobRetry", (given?: unknown) =>
      reporting("The job is not retried", async () => {
        const job = jobArgument(given) ?? (await pickJob(context, toRetry));
        if (job !== undefined)
          await unlessGone(() => context.kernel.request("lares/jobs/retry", { id: job.id }));
      }),
    ),
    commands.registerCommand("lares.jobRemove", (given?: unknown) =>
      reporting("The job is not removed", async () => {
        const job = jobArgument(given) ?? (await pickJob(context, toRemove));
        if (job !== undefined && (await isCertain()))
          await unlessGone(() => context.kernel.request("lares/jobs/remove", { id: job.id }));
      }),
    ),
    commands.registerCommand("lares.jobCancelAll", () =>
      reporting("The jobs are not cancelled", () => cancelAll(context)),
    ),
  );

/** Cancels every queued or running job, after one question that names them. */
async function cancelAll({ kernel, models }: ClientContext): Promise<void> {
  const { items } = await kernel.request("lares/jobs/list", { limit: maxOffered });
  const jobs = items.filter(({ state }) => state !== "Cancelling");
  if (jobs.length === 0) {
    void window.showInformationMessage("No job is queued or running.");
    return;
  }
  const yes = `Cancel ${count(jobs.length, "Job")}`;
  // The editor's own button would be a “Cancel” beside “Cancel 2 Jobs”.
  const keep: MessageItem = { title: "Keep Them", isCloseAffordance: true };
  const more = jobs.length - maxNamed;
  const answer = await window.showWarningMessage<MessageItem>(
    `Cancel ${count(jobs.length, "job")}?`,
    {
      modal: true,
      detail: [
        ...jobs.slice(0, maxNamed).map((job) => {
          const name = `${label(job.name, 100)} of ${label(models.agents.nameOf(job.agent), 80)}`;
          return `• ${name}: ${message(detailOf(job), 200)}`;
        }),
        ...(more > 0 ? [`• and ${more.toLocaleString("en")} more`] : []),
      ].join("\n"),
    },
    { title: yes },
    keep,
  );
  if (answer?.title !== yes) return;
  for (const { id, agent } of jobs) {
    try {
      await kernel.request("lares/jobs/cancel", { id, agent });
    } catch (error) {
      // The job may have ended meanwhile.
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
    // The job ended before it disappeared from the list; nothing is left to do.
    if (refusalOf(error) !== "IllegalTransition" && refusalOf(error) !== "NotFound") throw error;
    void window.showInformationMessage("The job has ended already.");
  }
}

/** Removed or retried elsewhere, it is not dead any more, which is what the person wanted. */
async function unlessGone(request: () => Promise<unknown>): Promise<void> {
  try {
    await request();
  } catch (error) {
    if (refusalOf(error) !== "NotFound") throw error;
    void window.showInformationMessage("The job is not dead any more.");
  }
}

async function isCertain(): Promise<boolean> {
  const yes = "Remove";
  const answer = await window.showWarningMessage(
    "Remove this dead job?",
    { modal: true, detail: "Its input and its checkpoint are deleted, so it cannot be retried." },
    yes,
  );
  return answer === yes;
}

/** Which jobs a person chooses from. */
interface Choice {
  readonly title: string;
  readonly none: string;
  readonly isDead: boolean;
}

const toCancel: Choice = { title: "Cancel Job", none: "No job is queued or running.", isDead: false };
const toRetry: Choice = { title: "Retry Dead Job", none: "No job was given up.", isDead: true };
const toRemove: Choice = { ...toRetry, title: "Remove Dead Job" };

async function pickJob(
  { kernel, models }: ClientContext,
  { title, none, isDead }: Choice,
): Promise<JobArgument | undefined> {
  const { items } = await kernel.request("lares/jobs/list", {
    limit: maxOffered,
    ...(isDead ? { state: "dead" as const } : {}),
  });
  const offered = items
    .filter(({ state }) => state !== "Cancelling")
    .map((job) => ({
      label: label(job.name),
      description: label(models.agents.nameOf(job.agent)),
      detail: detailOf(job),
      job: { id: job.id, agent: job.agent },
    }));
  if (offered.length === 0) {
    void window.showInformationMessage(none);
    return undefined;
  }
  return (await window.showQuickPick(offered, { title, placeHolder: "Which job?" }))?.job;
}

function detailOf(job: Job): string {
  if (job.state === "Dead") return message(job.error ?? "failed for good", 200);
  return job.state === "Running"
    ? ["running", jobProgressWords(job, message)].filter((part) => part !== "").join(" · ")
    : jobWaitsFor(job, (time) => when(time, Date.now())) || "queued";
}
