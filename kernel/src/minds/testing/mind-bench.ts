import type { AnswerCut } from "../../base/cut-answer.ts";
import { join } from "node:path";
import type { Asks } from "../../asks/asks.ts";
import { asksMigrations } from "../../asks/migrations.ts";
import { onTestFinished } from "vitest";
import { invalidParams } from "../../base/errors.ts";
import { FairTurns } from "../../base/fair-turns.ts";
import { type Clock, isoTime } from "../../base/clock.ts";
import { silentLog } from "../../base/log.ts";
import { nextTurn } from "../../base/next-turn.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import type { Ask } from "../../base/vocabulary/ask.ts";
import type { Conversation, Entry } from "../../base/vocabulary/conversation.ts";
import type { Delta } from "../../base/vocabulary/conversation-requests.ts";
import type { Forgotten } from "../../base/vocabulary/forgetting.ts";
import { type MindInterception, noInterception } from "../../base/vocabulary/interception.ts";
import type { MindDefinition } from "../../base/vocabulary/mind.ts";
import type { ModelFailure, ModelTool } from "../../base/vocabulary/model.ts";
import { type MadeSchedule, madeHandler } from "../../base/vocabulary/made-schedule.ts";
import { type ProcessPrincipal, lineageUnder, personAt } from "../../base/vocabulary/principal.ts";
import type { ToolResult } from "../../base/vocabulary/tool-result.ts";
import { Conversations } from "../../conversations/conversations.ts";
import { conversationMigrations } from "../../conversations/migrations.ts";
import { DiskTimer } from "../../journal/disk-timer.ts";
import type { AnswerEvent } from "../../models/answer.ts";
import type { Asker, ModelQuestion } from "../../models/runtime.ts";
import { systemClock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { until } from "../../../../test/support/until.ts";
import type { ConversationService } from "../../services/conversations.ts";
import { createConversationService } from "../conversation-service.ts";
import { isOfLineage } from "../decided-changes.ts";
import { MadeSchedules } from "../made-schedules.ts";
import { Minds } from "../minds.ts";
import type { CallOutcome, FilePicture, NewMemory, RecalledMemory } from "../ports.ts";
import { askAboutSchedules, askPorts, mayFrom, openAsks } from "./test-asks.ts";
import { mind } from "./test-mind.ts";

export { mind } from "./test-mind.ts";

export const agent = "test.mind";
export const person = personAt("test");

/** A model's answer: a text, calls, a failure, or nothing until it is stopped. */
export interface FakeAnswer {
  readonly say?: string;
  readonly think?: string;
  readonly call?: readonly { readonly tool: string; readonly arguments?: unknown }[];
  readonly cut?: AnswerCut;
  readonly fail?: ModelFailure;
  readonly hangs?: boolean;
}

export type FakeModel = (question: ModelQuestion, asker: Asker) => FakeAnswer | Promise<FakeAnswer>;

const tool = (name: string): ModelTool => ({ name, description: name, parameters: { type: "object" } });

/** Conversations over real logs, with a model and tools that a test makes. Kernels can be stopped and started again. */
export class MindBench {
  readonly folder: string;
  readonly database: Database;
  #minds: Minds | null = null;
  model: FakeModel = () => ({ say: "ok" });
  /** The result of a call, or what takes until the signal is aborted. */
  tool: (name: string, args: unknown, key: string, signal: AbortSignal) => ToolResult | Promise<ToolResult> =
    () => ({
      status: "success",
      value: "done",
    });
  /** The work that was stopped. */
  readonly stops: { readonly conversation: string; readonly processes: readonly string[] | null }[] = [];
  /** Files that are pictures, by their paths. */
  readonly pictures = new Map<string, FilePicture>();
  mind: MindDefinition = mind;
  contextTokens = 100_000;
  /** The model counts what it reads, so that contexts fill up. */
  counts = false;
  /** Milliseconds by which the mind's clock is ahead. */
  passedMs = 0;
  limits = { atOnce: 256, processes: 8 };
  /** What each agent may do with shared memories. */
  grants: Record<string, Record<string, "read" | "read_write">> = {};
  /** Minds besides the first one, by their agents. */
  readonly otherMinds = new Map<string, MindDefinition>();
  unattendedMs = 1_800_000;
  /** The clock of the processes; read when a kernel starts. */
  clock: Clock = systemClock;
  isScripted = false;
  isOfOtherRun = false;
  /** "asks": the person is asked. */
  mayRepeat: boolean | "asks" = true;
  /** The person is asked before each request to the model. */
  asksAboutModels = false;
  /** The person is asked before each call of these tools. */
  asksAboutTools: readonly string[] = [];
  /** Schedules are questions like others; otherwise a test answers by `acceptance`. */
  asksAboutSchedules = false;
  asks!: Asks;
  /** Read when a kernel starts. */
  intercept: MindInterception = noInterception;
  readonly questions: { readonly question: ModelQuestion; readonly asker: Asker }[] = [];
  /** Keys of the calls that ran. */
  readonly #turns = new FairTurns(systemClock, (run) => void setImmediate(run));
  readonly calls: string[] = [];
  readonly actions = new Map<string, Action>();
  readonly notices: string[] = [];
  /** States of questions as clients got them. */
  readonly asked: string[] = [];
  readonly deltas: Delta[] = [];
  readonly memories: NewMemory[] = [];
  /** Who saved each of them. */
  readonly savedBy: ProcessPrincipal[] = [];
  /** What should be removed elsewhere. */
  readonly forgotten: Forgotten[] = [];
  recalled: readonly RecalledMemory[] = [];
  /** The stored schedules that the mind made, by id. */
  readonly storedSchedules = new Map<string, MadeSchedule>();
  /** The person's answers about schedules, by their ids. */
  readonly acceptance = new Map<string, (isAccepted: boolean) => void>();
  /** The ids of the schedules that a person was asked about, each time. */
  readonly askedSchedules: string[] = [];
  schedules: MadeSchedules | null = null;

  private constructor(folder: string, database: Database) {
    this.folder = folder;
    this.database = database;
  }

  static async open(): Promise<MindBench> {
    const folder = await temporaryFolder();
    const database = await openNearDatabase({
      path: join(folder, "ledger.sqlite"),
      migrations: [...conversationMigrations, ...asksMigrations],
      log: silentLog,
    });
    const bench = new MindBench(folder, database);
    onTestFinished(async () => {
      await bench.stop();
      await database[Symbol.asyncDispose]();
    });
    await bench.start();
    return bench;
  }

  get minds(): Minds {
    if (this.#minds === null) throw new Error("The bench is stopped.");
    return this.#minds;
  }

  get service(): ConversationService {
    return createConversationService(this.minds);
  }

  async start({ isContinuing = true }: { readonly isContinuing?: boolean } = {}): Promise<void> {
    const { clock } = this;
    const schedules = await MadeSchedules.open(this.schedulePorts());
    this.schedules = schedules;
    this.asks = await openAsks(this.database);
    this.asks.changed.on(({ state }) => this.asked.push(state));
    const { asks } = this;
    const isAllowed = mayFrom(asks);
    this.#minds = new Minds({
      conversations: new Conversations({
        stateFolder: this.folder,
        database: this.database,
        clock: systemClock,
        log: silentLog,
        disk: new DiskTimer(systemClock),
        maxBytes: () => 64 * 1024 * 1024,
      }),
      limits: () => this.limits,
      unattendedMs: () => this.unattendedMs,
      ports: {
        clock: {
          now: () => clock.now() + this.passedMs,
          monotonic: () => clock.monotonic(),
          timer: (delayMs, run) => clock.timer(delayMs, run),
        },
        log: silentLog,
        takeTurn: (conversation) => this.#turns.take(conversation),
        mindOf: (id) => {
          const definition = id === agent ? this.mind : this.otherMinds.get(id);
          return definition === undefined ? null : { agent: { id, name: "A mind" }, definition };
        },
        mayShare: (id, namespace, wanted) => {
          const granted = this.grants[id]?.[namespace];
          return granted === wanted || granted === "read_write"
            ? null
            : `${id} may not ${wanted} ${namespace}.`;
        },
        whyNot: () => "It is gone.",
        models: {
          answer: (_need, question, asker, signal) =>
            this.#answer(question, asker, signal, () =>
              this.asksAboutModels
                ? isAllowed("budget", "use the model", asker, signal, asker.asking)
                : Promise.resolve(true),
            ),
          choose: async () => {
            // Real ones ask providers for their lists.
            await nextTurn();
            return { model: "lab/m", contextTokens: this.contextTokens };
          },
          isTainting: () => this.isScripted,
          isOfOtherRun: () => this.isOfOtherRun,
        },
        stopWork: async (_by, conversation, processes) => {
          this.stops.push({ conversation, processes: processes === null ? null : [...processes] });
        },
        tools: {
          picture: async (_caller, path) => this.pictures.get(path) ?? null,
          list: (_agent, patterns) =>
            patterns.includes("files/*") ? ["files/list", "files/read", "files/write"].map(tool) : [],
          call: async (caller, name, args, { key, signal, asking }): Promise<CallOutcome> => {
            if (
              this.asksAboutTools.includes(name) &&
              !(await isAllowed("egress", `${name} ${JSON.stringify(args)}`, caller, signal, asking))
            )
              return {
                result: { status: "error", message: "A person did not allow it.", recoverable: false },
                origin: "workspace",
                isTainted: false,
              };
            this.calls.push(key);
            const result = await this.tool(name, args, key, signal);
            if (result.status === "needs_approval")
              this.changeAction(result.action.id, { on_behalf_of: [...lineageUnder(caller).onBehalfOf] });
            return {
              result,
              origin: "workspace",
              isTainted: false,
            };
          },
        },
        memory: {
          save: async (caller, memory) => {
            this.savedBy.push(caller);
            this.memories.push(memory);
            return { status: "success", value: { memory: "k1" } };
          },
          recall: async () => this.recalled,
          get: async (_caller, ids) => this.recalled.filter(({ id }) => ids.includes(id)),
          madeFrom: async (_agent, conversations) =>
            this.memories
              .filter(({ conversation }) => conversations.includes(conversation))
              .map(({ type, text, call }) => ({ id: call, type, text })),
          since: async (_agent, time) =>
            this.recalled.filter((each) => !each.isTainted && each.created >= time),
          present: async (_agent, ids) =>
            new Map(
              this.recalled.filter(({ id }) => ids.includes(id)).map(({ id, text }) => [id, { id, text }]),
            ),
          find: async (_agent, query) =>
            this.memories
              .filter(({ text }) => text.includes(query))
              .map((memory) => ({ memory, text: memory.text })),
        },
        actions: {
          get: async (id) => this.actions.get(id) ?? null,
          waitingOf: async () =>
            [...this.actions.values()].filter(({ state }) => state === "PendingApproval").map(({ id }) => id),
          decidedOf: async (lineage) =>
            [...this.actions.values()].filter((action) => isOfLineage(action, lineage)),
          reject: async (by, id) => {
            if (this.actions.get(id)?.state === "PendingApproval")
              this.decide(id, "Rejected", by.kind === "person");
          },
        },
        schedules,
        forgetting: {
          run: async ({ forgotten }, removeFromLogs) => {
            this.forgotten.push(forgotten);
            return { result: await removeFromLogs(), report: { removed: [], remains: [] } };
          },
        },
        intercept: this.intercept,
        asks: askPorts(asks),
        mayRepeat: async (caller, name, _args, signal, asking) =>
          this.mayRepeat === "asks"
            ? isAllowed("repeat", `repeat ${name}`, caller, signal, asking)
            : this.mayRepeat,
        notify: ({ message }) => this.notices.push(message),
      },
    });
    const minds = this.#minds;
    asks.changed.on((ask) => minds.askChanged(ask));
    if (!isContinuing) return;
    await minds.start();
    schedules.start();
  }

  schedulePorts(): Parameters<typeof MadeSchedules.open>[0] {
    return {
      clock: systemClock,
      log: silentLog,
      rows: {
        all: async () => [...this.storedSchedules.values()],
        store: async (schedule) => void this.storedSchedules.set(schedule.id, schedule),
        forget: async (id) => void this.storedSchedules.delete(id),
      },
      hookOf: (schedule) => {
        if ("cron" in schedule.when && schedule.when.cron === "never")
          throw invalidParams("There is no such time.");
        const next = "at" in schedule.when ? schedule.when.at : "2030-01-01T00:00:00.000Z";
        return { handler: madeHandler(schedule), accepts: () => ({ passed: false }), nextRun: () => next };
      },
      ask: (schedule, signal) => {
        if (this.asksAboutSchedules) return askAboutSchedules(this.asks)(schedule, signal);
        this.askedSchedules.push(schedule.id);
        return new Promise((resolve, reject) => {
          this.acceptance.set(schedule.id, resolve);
          signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        });
      },
    };
  }

  /** Ends the kernel without an end of what runs. */
  async stop(): Promise<void> {
    await this.#minds?.[Symbol.asyncDispose]();
    this.#minds = null;
    this.asks[Symbol.dispose]();
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** An action that waits for a person, as a tool's result. */
  proposal(id: string): ToolResult {
    // A call that is made again with its key proposes nothing else.
    const known = this.actions.get(id);
    if (known !== undefined) return { status: "needs_approval", action: known, reason: "" };
    const created = isoTime(systemClock.now());
    const action = {
      id,
      agent,
      title: `Write ${id}`,
      reason: "",
      state: "PendingApproval",
      effects: [],
      created,
    };
    this.actions.set(id, action as unknown as Action);
    return { status: "needs_approval", action: action as unknown as Action, reason: "" };
  }

  changeAction(id: string, change: Partial<Action>): void {
    this.actions.set(id, { ...(this.actions.get(id) as Action), ...change });
  }

  decide(id: string, state: Action["state"], isPersons?: boolean): void {
    this.minds.actionChanged(this.decideLater(id, state, isPersons));
  }

  /** Waits for a question, and answers it. Returns its id. */
  async answer(allow: boolean): Promise<string> {
    const ask = await this.question();
    await this.asks.answer(person, ask.id, { digest: ask.digest, allow });
    return ask.id;
  }

  /** Waits until a question is in the log of its conversation, and returns it. */
  async question(): Promise<Ask> {
    return await until("a question", async () => {
      const [ask] = await this.asks.list("Pending");
      if (ask === undefined) return null;
      const logged = await this.entries(ask.conversation ?? "");
      return logged.some((entry) => entry.kind === "ask" && entry.ref === ask.id) ? ask : null;
    });
  }

  /** The actions and questions of a conversation, as its log has them. */
  async decisions(id: string): Promise<string[]> {
    return (await this.entries(id)).flatMap((entry) =>
      entry.kind === "action" || entry.kind === "ask" ? [`${entry.kind} ${entry.state} ${entry.origin}`] : [],
    );
  }

  /** Decides without telling the conversations. */
  decideLater(
    id: string,
    state: Action["state"],
    isPersons = state === "Committed" || state === "Rejected",
  ): Action {
    const action = {
      ...(this.actions.get(id) as Action),
      state,
      ended: isoTime(systemClock.now()),
      ...(isPersons ? { decided_by: "user" as const } : {}),
    };
    this.actions.set(id, action);
    return action;
  }

  isUnattended(id: string): Promise<boolean> {
    return this.minds.use(id, async (conversation) => conversation.isUnattended);
  }

  open(of = agent): Promise<Conversation> {
    return this.service.open(person, { agent: of });
  }

  send(id: string, text: string): Promise<string> {
    return this.service.send(person, { id, text });
  }

  async entries(id: string): Promise<Entry[]> {
    return await this.minds.conversations.entries(id, { limit: 100_000 });
  }

  /** The messages of processes of this kind, or of all. */
  async said(id: string, role = "assistant"): Promise<string[]> {
    return (await this.entries(id)).flatMap((entry) =>
      entry.kind === "message" && entry.role === role && entry.partial !== true
        ? [entry.parts.map((part) => (part.type === "text" ? part.text : "")).join("")]
        : [],
    );
  }

  /** Waits until nothing works in a conversation. */
  async rested(id: string): Promise<Entry[]> {
    await until("the conversation to rest", () => !this.minds.isActive(id));
    return await this.entries(id);
  }

  async *#answer(
    question: ModelQuestion,
    asker: Asker,
    signal: AbortSignal,
    isAllowed: () => Promise<boolean>,
  ): AsyncGenerator<AnswerEvent> {
    if (!(await isAllowed()))
      return yield {
        type: "failed",
        model: "lab/m",
        failure: { class: "NoModel", message: "You did not allow it." },
        isPartial: false,
      };
    this.questions.push({ question, asker });
    yield { type: "attempt", attempt: 1, model: "lab/m", repairs: [] };
    const { say, think, call = [], cut, fail, hangs = false } = await this.model(question, asker);
    const cancelled: AnswerEvent = {
      type: "failed",
      model: "lab/m",
      failure: { class: "Cancelled", message: "The request was cancelled." },
      isPartial: true,
    };
    for (const text of (say ?? "").match(/\s*\S+/g) ?? []) {
      if (signal.aborted) return yield cancelled;
      yield { type: "text", text };
    }
    if (hangs)
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener("abort", () => resolve(), { once: true });
      });
    if (signal.aborted) return yield cancelled;
    if (fail !== undefined) return yield { type: "failed", model: "lab/m", failure: fail, isPartial: false };
    yield {
      type: "done",
      model: "lab/m",
      parts: [
        ...(think === undefined ? [] : [{ type: "reasoning" as const, text: think }]),
        ...(say === undefined ? [] : [{ type: "text" as const, text: say }]),
        ...call.map(({ tool: name, arguments: args = {} }, index) => ({
          type: "tool_call" as const,
          call: `c${index}`,
          tool: name,
          arguments: args,
        })),
      ],
      finish: cut ?? (call.length > 0 ? "tool_calls" : "stop"),
      usage: {
        input_tokens: this.counts ? Math.ceil(JSON.stringify(question.messages).length / 4) : 10,
        output_tokens: 2,
      },
      microUsd: 100,
    };
  }
}

/** Returns the text of a question's last message that is not the suffix. */
export function lastText({ messages }: ModelQuestion): string {
  const message = messages.findLast(({ role }) => role !== "system");
  if (message === undefined || message.role === "system") return "";
  return message.parts.map((part) => ("text" in part ? part.text : "")).join("\n");
}
