import { realpath } from "node:fs/promises";
import { messageOf } from "../../base/errors.ts";
import type { TraceEntry } from "../../base/vocabulary/trace.ts";
import { exitCodes, folderNamed, UsageError, withKernel, type CommandContext } from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import type { RunSummary, Status } from "../render/model.ts";
import { waitingNotifications } from "../render/notifications.ts";
import { durationMs } from "../durations.ts";
import { counted } from "../render/quantities.ts";
import { askQuestion, followAsks } from "../run/asks.ts";
import { Approvals, type ApprovalMode } from "../run/approvals.ts";
import { askAboutAction } from "../run/ask.ts";
import { copyExample, isExample } from "../run/copy.ts";
import { followDocuments } from "../run/documents.ts";
import { whenIdle } from "../run/idle.ts";
import { describeWork, timedOut } from "../run/timeout.ts";
import { jsonPresenter, textPresenter, type Presenter } from "../run/presenter.ts";
import { withEnvironment } from "../run/environment.ts";
import { warnOfFaults } from "../run/faults.ts";
import { ensureDocument } from "../run/starter.ts";
import { askForMore, ensureTrust } from "../run/trust.ts";
import { readSteps, Stepper } from "../run/stepper.ts";
import { Turns } from "../run/turns.ts";
import { whenGone } from "../run/process-end.ts";
import { wholeAction } from "../run/whole-action.ts";
import { WorkLine } from "../run/work-line.ts";

interface RunOptions {
  readonly trust?: boolean;
  /** The parts of the question to grant without asking a person; see `choiceOfGrants`. */
  readonly grant?: readonly string[];
  readonly approve?: string;
  readonly once?: boolean;
  /** With `once`: a duration such as "10m". */
  readonly timeout?: string;
  /** Accept changed programs as they are saved. */
  readonly watch?: boolean;
  /** Show each step of the agents, with values. */
  readonly inspect?: boolean;
  readonly inPlace?: boolean;
  readonly json?: boolean;
}

/** How long a run with --once may take. */
const defaultTimeout = "10m";

const modes: readonly ApprovalMode[] = ["policy", "none", "all", "ask"];

/** Opens a folder, shows what its agents do and propose, and lets the person decide about proposals. */
export async function run(context: CommandContext, name: string, options: RunOptions): Promise<number> {
  const { ports, terminal } = context;
  if (options.inspect === true && options.approve === "ask")
    throw new UsageError(
      "--inspect and --approve ask cannot be combined, because both need the keys. Use --approve policy or all.",
    );
  const mode = modeOf(options, terminal.isInteractive);
  if (options.trust === true && options.grant !== undefined)
    throw new UsageError(
      "--trust and --grant cannot be combined: --trust grants everything, --grant a part. Use one of them.",
    );
  if (options.watch === true && options.once === true)
    throw new UsageError(
      "--watch and --once cannot be combined: --watch runs until Ctrl-C, --once ends when nothing is left to do. Use one of them.",
    );
  if (options.timeout !== undefined && options.once !== true)
    throw new UsageError(
      "--timeout needs --once, whose duration it limits. Without --once, lares run continues until Ctrl-C.",
    );
  durationMs(options.timeout ?? defaultTimeout);
  const folder = await folderNamed(name);
  const examples = ports.examplesFolder === null ? null : await realpath(ports.examplesFolder);
  if (options.inPlace === true || examples === null || !isExample(folder, examples)) {
    return runFolder(context, folder, mode, options);
  }
  await using copy = await copyExample(folder, examples);
  // The copy's kernel keeps its state beside the copy and ends with its last client.
  const own = { LARES_HOME: copy.home, LARES_KERNEL_LINGER: "0s" };
  const { kernelPid, code } = await withEnvironment(own, () =>
    runFolderWithKernel(context, copy.folder, mode, options),
  );
  // The copy's state can only be removed after its kernel has ended.
  if (kernelPid !== null) await whenGone(kernelPid);
  return code;
}

async function runFolder(
  context: CommandContext,
  folder: string,
  mode: ApprovalMode,
  options: RunOptions,
): Promise<number> {
  return (await runFolderWithKernel(context, folder, mode, options)).code;
}

interface Outcome {
  readonly code: number;
  readonly kernelPid: number | null;
}

async function runFolderWithKernel(
  context: CommandContext,
  folder: string,
  mode: ApprovalMode,
  options: RunOptions,
): Promise<Outcome> {
  if (!(await ensureDocument(context, folder))) return { code: exitCodes.failed, kernelPid: null };
  const faults = await warnOfFaults(context, folder);
  const connect = { folder, ...(options.trust === true ? { trusted: true } : {}) };
  // A kernel that is started here is told not to approve by score; one that is already running follows its own rules.
  const settings = mode === "none" ? { LARES_APPROVALS_AUTO_APPROVE_BELOW: "0" } : {};
  const session = () =>
    withKernel(context, connect, async (kernel) => {
      const status = await kernel.status();
      const trusted = await ensureTrust(context, kernel, status, options.grant);
      const { terminal } = context;
      const code = trusted
        ? await watch(context, kernel, status, mode, options, faults)
        : terminal.interrupted.aborted
          ? terminal.interruptedCode
          : exitCodes.failed;
      return { code, kernelPid: status.pid };
    });
  return withEnvironment(settings, session);
}

async function watch(
  context: CommandContext,
  kernel: KernelClient,
  { workspace }: Status,
  mode: ApprovalMode,
  options: RunOptions,
  faults: number,
): Promise<number> {
  const { terminal } = context;
  const startedMs = Date.now();
  const turns = new Turns();
  const inspects = options.inspect === true;
  const presenter =
    options.json === true || (inspects && !terminal.isTerminal)
      ? jsonPresenter(terminal)
      : textPresenter(terminal, { asks: mode === "ask" });
  const approvals = new Approvals(mode, {
    kernel,
    ask: async (action, waiting) => {
      const whole = await wholeAction(kernel, action);
      return turns.take(() => askAboutAction(terminal, whole, waiting));
    },
    remark: (text) => presenter.remark(text),
    quit: () => terminal.interrupt(),
  });
  const asks = await followAsks({
    kernel,
    ask: mode === "ask" ? (ask, ended) => turns.take(() => askQuestion(terminal, ask, ended)) : null,
    denies: options.once === true,
    remark: (text) => presenter.remark(text),
    quit: () => terminal.interrupt(),
  });
  using _asking = asks;
  presenter.remark(`${workspace}${options.once === true ? "" : "  (Ctrl-C ends)"}`);
  const stepper =
    inspects && terminal.isInteractive && options.json !== true
      ? new Stepper({
          show: (entry) => presenter.trace(entry),
          remark: (text) => presenter.remark(text),
          quit: () => terminal.interrupt(),
        })
      : null;
  using _keys = stepper === null ? null : readSteps(process.stdin, stepper);
  using _following = await follow(kernel, presenter, approvals, {
    isWatched: terminal.isInteractive && options.json !== true,
    inspects,
    trace: stepper === null ? (entry) => presenter.trace(entry) : (entry) => stepper.add(entry),
  });

  const work = new WorkLine();
  using _working = kernel.on("$/progress", (news) => work.update(news));
  const idle = new AbortController();
  const over = AbortSignal.any([terminal.interrupted, idle.signal]);
  const waiting = whenIdle(
    {
      status: kernel.status,
      isBusy: () => approvals.isBusy || asks.isBusy || stepper?.isBusy === true,
      onStatus: (now) => {
        if (options.json !== true && !over.aborted)
          terminal.status(stepper?.status ?? progressOf(now, work.text));
      },
    },
    over,
  );
  const documents = followDocuments(
    {
      kernel,
      acceptsPrograms: options.watch === true,
      ask: terminal.isInteractive && !inspects ? () => turns.take(() => askForMore(context, kernel)) : null,
      remark: (text) => presenter.remark(text),
    },
    // Nobody would have time to answer a question in a run that ends by itself.
    options.once === true ? AbortSignal.abort() : over,
  ).catch((error: unknown) => {
    if (!over.aborted)
      presenter.remark(`The documents are no longer watched for changes: ${messageOf(error)}`);
  });
  const { timeout = defaultTimeout } = options;
  const ended = await Promise.race([
    kernel.closed,
    ...(options.once === true
      ? [waiting.then(() => null), timedOut(durationMs(timeout), over)]
      : [aborted(terminal.interrupted)]),
  ]);
  terminal.status(null);
  approvals.end();
  idle.abort();
  if (ended === "timeout") {
    await waiting;
    presenter.remark(`Not done after ${timeout}: ${await describeWork(kernel)}.`);
    presenter.summary(await summaryOf(kernel, startedMs));
    return exitCodes.failed;
  }
  if (ended !== null) {
    waiting.catch(() => undefined);
    presenter.remark(`The connection to the kernel was lost: ${ended.reason}`);
    return exitCodes.failed;
  }
  await waiting;
  await documents;
  const summary = await summaryOf(kernel, startedMs);
  const keptOut = faults + problemsIn(summary);
  if (options.once === true && keptOut > 0)
    presenter.remark(
      `Not all agents could run: ${counted(keptOut, "problem")} in the documents and programs.`,
    );
  presenter.summary(summary);
  return options.once === true && keptOut > 0 ? exitCodes.failed : exitCodes.ok;
}

/** Errors of programs only; those of documents were counted when the folder was opened. */
function problemsIn({ agents }: RunSummary): number {
  const programs = agents.filter(({ problems, version }) => problems !== undefined && version !== "");
  return programs.reduce((sum, { problems = 0 }) => sum + problems, 0);
}

/** Passes the kernel's notifications to the presenter and to the approvals, beginning with the current state. */
async function follow(
  kernel: KernelClient,
  presenter: Presenter,
  approvals: Approvals,
  {
    isWatched,
    inspects,
    trace,
  }: {
    readonly isWatched: boolean;
    readonly inspects: boolean;
    readonly trace: (entry: TraceEntry) => void;
  },
): Promise<Disposable> {
  const listening = new DisposableStack();
  listening.use(kernel.on("lares/traces/entry", ({ entry }) => trace(entry)));
  listening.use(kernel.on("lares/agents/changed", (agent) => presenter.agent(agent)));
  listening.use(
    kernel.on("lares/notify", (notice) => {
      presenter.notice(notice);
      // A person has it on the screen. If that cannot be stored, they see it once more elsewhere.
      if (isWatched && notice.id !== undefined && notice.channels?.includes("terminal") !== false)
        kernel.dismissNotifications([notice.id]).catch(() => undefined);
    }),
  );
  listening.use(
    kernel.on("lares/actions/changed", (action) => {
      presenter.action(action);
      approvals.offer(action);
    }),
  );
  await kernel.follow(inspects ? { inspect: true } : {});
  const { total } = await kernel.notifications({ state: "New", limit: 1 });
  if (total > 0) presenter.remark(waitingNotifications(total));
  for (const agent of await kernel.agents()) presenter.agent(agent);
  const pending = await kernel.actions({ state: "PendingApproval" });
  for (const action of pending.toReversed()) {
    presenter.action(action);
    approvals.offer(action);
  }
  return listening;
}

function progressOf(status: Status, work: string | null): string | null {
  if (!status.index.complete) return `indexing, ${counted(status.index.entries, "entry", "entries")} so far`;
  if (!status.ready) return "starting agents";
  if (work !== null) return work;
  if (!status.idle) return "agents are at work";
  return `watching ${counted(status.index.entries, "entry", "entries")} with ${counted(status.agents, "agent")}`;
}

/** The number of actions that are counted for the summary. */
const maxActionsCounted = 1000;

async function summaryOf(kernel: KernelClient, startedMs: number): Promise<RunSummary> {
  const [{ totals, pendingActions }, agents, actions] = await Promise.all([
    kernel.status(),
    kernel.agents(),
    kernel.actions({ limit: maxActionsCounted }),
  ]);
  const actionsBy = new Map<string, number>();
  for (const { agent, created } of actions) {
    if (Date.parse(created) >= startedMs) actionsBy.set(agent, (actionsBy.get(agent) ?? 0) + 1);
  }
  return { agents, totals, actionsBy, pendingActions };
}

function modeOf({ approve, inspect }: RunOptions, isInteractive: boolean): ApprovalMode {
  // The keys step through the traces, so no question can be asked.
  if (approve === undefined) return isInteractive && inspect !== true ? "ask" : "policy";
  const mode = modes.find((known) => known === approve);
  if (mode === undefined)
    throw new UsageError(`--approve cannot be "${approve}". Use one of ${modes.join(", ")}.`);
  if (mode === "ask" && !isInteractive)
    throw new UsageError("--approve ask needs a terminal. Use another mode in a script.");
  return mode;
}

function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    else signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}
