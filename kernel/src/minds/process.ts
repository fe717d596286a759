import { messageOf, isLaresError } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Entry, Process } from "../base/vocabulary/conversation.ts";
import type { Change } from "../base/vocabulary/interception.ts";
import { type Context, contextOf } from "../context/context.ts";
import { withPictures } from "../context/pictures.ts";
import { taintOf } from "../context/taint.ts";
import type { NewEntry } from "../conversations/records.ts";
import { type Answered, type LoggedRequest, requestEntry, voidEntry, writeAnswer } from "./answer-writer.ts";
import { CallRunner } from "./call-runner.ts";
import type { ContextTail } from "./context-tail.ts";
import { addedBy, entryOf, type EntryMaker, processEntry, type Provenance, taintedBy } from "./entries.ts";
import { begunBy, openEnds } from "./ends.ts";
import { Paused, Unattended } from "./interruptions.ts";
import { kinds } from "./kinds.ts";
import { nextState, type ProcessEvent, roleOf } from "./machine.ts";
import { endWithReport } from "./follow-ups.ts";
import { requestDigest } from "./request-digest.ts";
import { outputTokensIn } from "../models/answer.ts";
import { shownContext } from "./changed-texts.ts";
import { type AtWork, type GivenContext, placeOfReader, type ProcessHost } from "./host.ts";
import { speakersOf } from "./origins.ts";
import { reasonOf, stopError } from "./stop-tree.ts";
import { isNudged, nudge, requestsMade } from "./turn-limits.ts";
import { beginsTurn, isSpoken, lastRequestOf } from "./turns.ts";
import { conclusionOf, failureOf, ModelFailed, passedOn, SummaryDraft } from "./conclusions.ts";

/** Calls of one answer that are run. */
const maxCalls = 128;

/** One process of a conversation at work: it asks its model, runs the calls, and ends or rests. */
export class MindProcess implements AtWork {
  record: Process;
  readonly signal: AbortSignal;
  /** The id of the entry that began its turn. */
  turn: string;
  readonly #host: ProcessHost;
  readonly #calls: CallRunner;
  #tail: ContextTail | null = null;
  /** The last request that is in the log. */
  lastRequest = 0;
  /** Attempts at the next answer that a kernel made before it died. */
  #attempts = 0;

  readonly #given: GivenContext | null;
  /** Texts that extensions added to the last request. */
  #added: readonly Change<readonly string[]>[] = [];
  /** The text with which it ended. */
  conclusion: string | null = null;
  readonly begun = newId();
  /** The last text of its model. */
  answer = "";

  constructor(
    host: ProcessHost,
    record: Process,
    turn: string,
    signal: AbortSignal,
    given: GivenContext | null = null,
  ) {
    this.#given = given;
    this.#host = host;
    this.#calls = new CallRunner(host, this);
    this.record = record;
    this.turn = turn;
    this.signal = signal;
  }

  get maker(): EntryMaker {
    return { process: this.record.id, turn: this.turn, clock: this.#host.ports.clock };
  }

  get tail(): ContextTail | null {
    return this.#tail;
  }

  get read(): readonly Entry[] {
    return [...(this.#given?.covered ?? []), ...(this.#tail?.entries ?? [])];
  }

  /** Changes the state, and writes it down. */
  async move(
    event: ProcessEvent,
    more: Partial<Process> = {},
    before: readonly NewEntry[] = [],
  ): Promise<void> {
    this.enter(event, more);
    await this.#host.log.append([...before, processEntry(this.maker, this.record)]);
  }

  /** Changes the state without writing it down, because the next change follows at once. */
  enter(event: ProcessEvent, more: Partial<Process> = {}): void {
    const { error: _error, ended: _ended, expires: _expires, ...rest } = this.record;
    const next = nextState(roleOf(rest), rest.state, event);
    this.record = { ...rest, ...more, state: next };
  }

  /** Something came for a channel, whose call that waits for a person continues without the answer. */
  letGo(): void {
    this.#calls.letGo();
  }

  async waits(): Promise<void> {
    await this.#host.log.append([processEntry(this.maker, this.record)]);
  }

  /** Works until there is nothing to do. Returns whether it has ended or reported, which is in the log then, or rests. */
  async work(): Promise<"ended" | "rests"> {
    const { kind, name } = this.record;
    const { end, maxTurns } = kinds[kind];
    const most = maxTurns(this.#host.mind().definition, name);
    this.#tail = await this.#host.tailOf(this.record);
    await this.#finishOpen();
    await this.#host.tellChanges(this);
    if (kind === "channel") await this.#host.decisions.changes.load();
    const summary = this.#given === null ? null : SummaryDraft.from(this.#tail.entries);
    let overflows = 0;
    for (let turn = 1 + (await requestsMade(this.#host, this, this.#turnNow())); ; turn++) {
      this.#checkContinues();
      const answered = await this.#ask(turn > most);
      if (answered.type === "failed") {
        const { failure } = answered;
        if (failure.class === "EmptyAnswer" && end === "rest") return "rests";
        // It may have written its summary beside a call.
        if (failure.class === "EmptyAnswer" && summary !== null) {
          if (await this.#summarised(summary)) return "ended";
          continue;
        }
        if (failure.class !== "ContextOverflow" || overflows++ > 0) throw new ModelFailed(failure);
        if (await this.#host.makeRoom(this, "overflow")) continue;
        // What stopped a compaction stops this too.
        this.#checkContinues();
        throw new ModelFailed(failure);
      }
      this.answer = answered.text;
      summary?.take({ ...answered, hasCalls: answered.calls.length > 0 });
      if (answered.calls.length > 0 && turn <= most) {
        for (const call of answered.calls.slice(0, maxCalls)) await this.#calls.run(call);
        if (answered.calls.length > maxCalls)
          await this.#calls.notRun(`one answer makes at most ${maxCalls} calls`);
        continue;
      }
      if (answered.calls.length > 0)
        await this.#calls.notRun(`${most} requests in a row were made, which is the limit`);
      if (end === "rest") {
        if (!this.hasUnread("spoken")) return "rests";
        turn = 0;
        continue;
      }
      if (isNudged(this, turn)) {
        await this.#say(nudge);
        continue;
      }
      if (summary === null) {
        if (await this.#finish(() => conclusionOf(answered, kind), turn > most)) return "ended";
        continue;
      }
      if (!this.hasUnread("spoken") && (await this.#summarised(summary))) return "ended";
    }
  }

  #checkContinues(): void {
    this.signal.throwIfAborted();
    if (this.#host.isUnattended) throw new Unattended("Nobody is there.");
    if (kinds[this.record.kind].pauses && this.#host.decisions.isPaused) throw new Paused("It is paused.");
  }

  /** Writes the end that an error means. */
  async fail(error: unknown): Promise<void> {
    if (!(error instanceof ModelFailed) && !isLaresError(error))
      this.#host.ports.log.error(`A process of a conversation failed: ${messageOf(error)}`);
    const open = openEnds(this.#host.log.state, this.maker, "Not run: the process has failed.");
    await this.move("fail", { ended: this.#now(), error: failureOf(error) }, open);
  }

  async cancelled(): Promise<void> {
    const open = openEnds(this.#host.log.state, this.maker, "cancelled");
    await this.move("cancel", { ended: this.#now(), ...stopError(reasonOf(this.signal)) }, open);
  }

  /**
   * Writes the end. False if something came that it has not read, which nobody else would: decided when everything before is
   * in the log. `isLast`: it makes no further request, so what its children found goes to whoever reads its own conclusion.
   */
  async #finish(conclude: () => string, isLast: boolean): Promise<boolean> {
    if (!isLast && this.hasUnread("any")) return false;
    const text = conclude();
    const written = await this.#host.log.append(() => {
      if (!isLast && this.hasUnread("any")) return [];
      this.conclusion = text;
      this.enter(...endWithReport(this.record, this.#host.ports.clock.now()));
      // Each begins a turn of whoever reads it. A summary is written by whoever asked for it.
      const maker = { ...this.maker, turn: "" };
      const conclusion = entryOf(maker, { kind: "conclusion", text }, this.provenance("model"));
      return [
        ...(this.#given === null ? [conclusion] : []),
        processEntry(this.maker, this.record),
        ...this.#unread().flatMap((entry) => passedOn(entry, maker)),
      ];
    });
    return written.length > 0;
  }

  /** Returns where a text comes from that was made of what this process has read. */
  provenance(origin: string, own: Provenance = { origin }): Provenance {
    const prefix = this.#tail?.prefix;
    const inherited = taintOf([
      ...(prefix?.summaries ?? []),
      ...(prefix?.blocks ?? []),
      ...(this.#tail === null ? [] : [this.#tail.inherited]),
      ...(this.#given?.madeOf ?? []),
      ...this.#added.map(taintedBy),
      ...this.#ofOthers(),
      {
        ...(own.sources === undefined ? {} : { sources: own.sources }),
        ...(own.isTainted === true ? { tainted: true as const } : {}),
      },
    ]);
    return {
      origin,
      ...(inherited.sources === undefined ? {} : { sources: inherited.sources }),
      isTainted: inherited.tainted === true,
    };
  }

  /**
   * Returns the taint that a process inherits from the whole conversation: a channel reads its children's status and titles of
   * changes, and any process may read pins and titles of waiting changes that a compaction carried over from others.
   */
  #ofOthers(): { readonly sources: readonly string[]; readonly tainted: true }[] {
    const { log, decisions } = this.#host;
    const tainted = [...log.state.tainted, ...decisions.changes.sources];
    const { pins = [], approvals = [] } = this.#tail?.prefix.carried ?? {};
    const isCarried = pins.length + approvals.length > 0;
    const reads = isCarried || this.record.kind === "channel" || this.record.kind === "branch";
    return reads && tainted.length > 0 ? [{ sources: tainted, tainted: true }] : [];
  }

  /** Returns what the model would see if it were asked now. */
  context(tail: ContextTail, model: string, added: readonly Change<readonly string[]>[] = []): Context {
    const context = contextOf({
      prefix: tail.prefix,
      history: tail.history(model, speakersOf(this.#host.log.header.agent)),
      model,
      suffix:
        this.#given === null
          ? [
              ...this.#host.suffixOf(this.record),
              ...added.map(({ by, value }) => ({ name: `added by ${by}`, text: value.join("\n\n") })),
            ]
          : [],
    });
    if (this.#given === null) return context;
    const [, ...own] = context.messages;
    return { ...context, messages: [...this.#given.messages, ...own], hasPictures: true };
  }

  async #ask(isLast: boolean): Promise<Answered> {
    const { ports, log } = this.#host;
    await ports.takeTurn(log.id);
    this.signal.throwIfAborted();
    const tail = this.#tail;
    if (tail === null) throw new Error("A process asks before it has a context.");
    const { kind } = this.record;
    const chosen = kinds[kind].use(this.record, log.state.model);
    const { agent } = this.#host.mind();
    const choice = await ports.models.choose(agent.id, chosen);
    if ("failure" in choice) throw new ModelFailed(choice.failure);
    const { model } = choice;
    const message = newId();
    let asked: { readonly context: Context; readonly request: LoggedRequest } | null = null;
    const { inputs } = this.#host;
    let entry: Entry | undefined;
    do {
      if (kind === "channel") await inputs.released(this.signal);
      const adding =
        this.#given === null
          ? ports.intercept.context(placeOfReader(log, this), () =>
              shownContext(this.context(tail, model), this.read),
            )
          : null;
      const added = (this.#added = adding === null ? [] : await adding);
      this.signal.throwIfAborted();
      // Built when everything before is in the log, so that what the request has not seen comes behind its entry.
      [entry] = await log.append(() => {
        // A message came that extensions have not read yet.
        if (kind === "channel" && inputs.isHeld) return [];
        this.turn = this.#turnNow();
        const context = this.context(tail, model, added);
        const digest = requestDigest(context);
        const request = { message, digest, model, attempt: this.#attempts + 1 };
        asked = { context, request };
        return [addedBy(requestEntry(this.maker, request), added)];
      });
    } while (entry === undefined);
    this.lastRequest = entry.seq;
    const { context, request } = asked as unknown as { context: Context; request: LoggedRequest };
    const { tools } = context;
    const messages = await withPictures(context, async ({ object }) => {
      const bytes = await ports.reader.picture(log.id, object);
      return bytes === null ? null : Buffer.from(bytes).toString("base64");
    });
    const answered = await writeAnswer(
      request,
      ports.models.answer(
        chosen,
        {
          messages,
          max_output_tokens: outputTokensIn(choice.contextTokens),
          ...(tools.length === 0 ? {} : { tools, tool_choice: isLast ? "none" : "auto" }),
        },
        {
          agent: agent.id,
          conversation: log.id,
          process: kind,
          isScheduled: log.state.isScheduled,
          asking: this.#host.decisions.asking(this, this.#requestKey()),
        },
        this.signal,
      ),
      {
        maker: this.maker,
        clock: ports.clock,
        append: (entries) => log.append(entries),
        takeTurn: () => ports.takeTurn(log.id),
        delta: (delta) => ports.delta(log.id, delta),
        provenanceOf: (from) =>
          this.provenance("model", {
            origin: "model",
            ...(ports.models.isTainting(from) ? { sources: ["scripted"], isTainted: true } : {}),
          }),
      },
    );
    this.#attempts = 0;
    this.signal.throwIfAborted();
    if (answered.type === "done") await this.#host.makeRoom(this, { context, limit: choice.contextTokens });
    return answered;
  }

  /** After a kernel died: voids what was only begun, and runs calls whose result nobody wrote. */
  async #finishOpen(): Promise<void> {
    const { state } = this.#host.log;
    const { id } = this.record;
    this.#attempts = state.requests.find(({ process }) => process === id)?.attempt ?? 0;
    const entries = this.#tail?.entries ?? [];
    if (this.lastRequest === 0) {
      const begun = [...begunBy(state, id)];
      if (begun.length > 0)
        await this.#host.log.append(begun.map((message) => voidEntry(this.maker, message)));
      // What that request had read is not new for the calls that continue.
      this.lastRequest = lastRequestOf(id, entries);
    }
    const open = new Set(state.calls.filter(({ process }) => process === id).map(({ call }) => call));
    for (const entry of open.size === 0 ? [] : entries)
      if (entry.kind === "tool_call" && open.has(entry.call))
        await this.#calls.run({ call: entry.call, tool: entry.tool, arguments: entry.arguments });
  }

  async #summarised(summary: SummaryDraft): Promise<boolean> {
    const text = await summary.end((again) => this.#say(again));
    return text !== null && (await this.#finish(() => text, true));
  }

  /** True if something came after the last request: what was spoken, or also what children found. */
  hasUnread(what: "spoken" | "any"): boolean {
    const isNew = what === "spoken" ? isSpoken : beginsTurn;
    return this.#unread().some((entry) => isNew(entry, this.record));
  }

  #unread(): readonly Entry[] {
    return this.#tail?.since(this.lastRequest) ?? [];
  }

  #turnNow(): string {
    return this.#tail?.entries.findLast((entry) => beginsTurn(entry, this.record))?.id ?? this.turn;
  }

  /** Returns what names the next request in the conversation, in whatever attempt it is made. */
  #requestKey(): string {
    const last = this.#tail?.entries.findLast(
      (entry) => entry.kind === "tool_result" || (entry.kind === "message" && entry.partial !== true),
    );
    return `${this.record.id} ${last?.id ?? ""}`;
  }

  async #say(text: string): Promise<void> {
    await this.#host.log.append([
      entryOf(
        this.maker,
        { kind: "message", role: "user", parts: [{ type: "text", text }] },
        { origin: "kernel" },
      ),
    ]);
  }

  #now(): string {
    return new Date(this.#host.ports.clock.now()).toISOString();
  }
}
