import type { Asking } from "../base/vocabulary/ask.ts";
import { canonicalJson } from "../base/json.ts";
import type { ProcessPrincipal } from "../base/vocabulary/principal.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import type { NewEntry } from "../conversations/records.ts";
import type { LoggedCall } from "./answer-writer.ts";
import { changedEntry, entryOf, type Provenance } from "./entries.ts";
import { asError, type AtWork, callerOf, isKept, placeOfReader, type ProcessHost } from "./host.ts";
import { unansweredCalls } from "./ends.ts";
import { kinds } from "./kinds.ts";
import type { CallOutcome } from "./ports.ts";
import { askedAs, LetGo, letGoResult } from "./let-go.ts";
import { isProcessTool } from "./process-tools.ts";

/** The same call so often in a row needs a person. */
const repeatsAsked = 3;

const ofKernel: Provenance & { readonly isTainted: boolean } = { origin: "workspace", isTainted: false };

/** Runs the calls of a process, and writes their results. */
export class CallRunner {
  readonly #host: ProcessHost;
  readonly #process: AtWork;
  /** The question for whose answer a call of a channel waits now. */
  #question: string | null = null;
  #letGo: AbortController | null = null;

  constructor(host: ProcessHost, process: AtWork) {
    this.#host = host;
    this.#process = process;
  }

  /**
   * Runs a call and writes its result. Where a person has to decide first, a channel gets the result that it waits, and
   * others wait themselves.
   */
  async run(call: LoggedCall): Promise<void> {
    const { log, ports } = this.#host;
    const process = this.#process;
    // One answer may make many calls, which may all be answered at once.
    await ports.takeTurn(log.id);
    process.signal.throwIfAborted();
    const asked = ports.intercept.beforeToolCall(placeOfReader(log, process), call);
    const refusal = asked === null ? null : await asked;
    process.signal.throwIfAborted();
    if (refusal !== null) {
      const result = asError(refusal.value, false);
      return void (await log.append([this.#resultOf(call, { ...refusal, result })]));
    }
    try {
      await this.#runAsked(call);
    } catch (error) {
      const question = this.#question;
      if (!(error instanceof LetGo) || question === null) throw error;
      if (process.record.state === "WaitingForApproval") await process.move("decided");
      await log.append([this.#resultOf(call, { result: letGoResult(question), ...ofKernel })]);
      await this.#host.decisions.letGo(question);
    } finally {
      this.#question = null;
      this.#letGo = null;
    }
  }

  /** Stops waiting for the answer to the question about a channel's call. */
  letGo(): void {
    if (this.#question !== null) this.#letGo?.abort(new LetGo("It continues without the answer."));
  }

  async #runAsked(call: LoggedCall): Promise<void> {
    const { log } = this.#host;
    const process = this.#process;
    // If the process does not have the tool, the call fails whatever the person answers.
    const isAsked = this.#offered().includes(call.tool) && this.#isRepeated(call);
    if (isAsked && !(await this.#mayRepeat(call))) {
      const result = asError(
        "This call was made with the same arguments twice before, and a person did not allow it once more.",
        false,
      );
      return void (await log.append([this.#resultOf(call, { result, ...ofKernel })]));
    }
    if (isProcessTool(call.tool)) {
      return await this.#runOwn(call);
    }
    const outcome = await this.#outcomeOf(call);
    const { result } = outcome;
    const { decisions } = this.#host;
    if (result.status !== "needs_approval") {
      await decisions.called(result);
      return void (await log.append(await this.#results(call, outcome)));
    }
    const { id } = result.action;
    const action = await decisions.entriesOf(process, result.action);
    if (kinds[process.record.kind].goesOn) {
      await log.append([...(await this.#results(call, outcome)), ...action]);
      return await decisions.check(id);
    }
    await process.move("ask", {}, action);
    const decided = await decisions.result(id, process.signal);
    await process.move("decided");
    await log.append(await this.#results(call, { ...outcome, result: decided }));
  }

  async #runOwn(call: LoggedCall): Promise<void> {
    const { log } = this.#host;
    const own = await this.#host.runOwnTool(this.#process, call);
    const { also = [], after, later, refusal, provenance = ofKernel } = own;
    const { origin, isTainted = false, sources } = provenance;
    const written = (result: ToolResult): Promise<NewEntry[]> =>
      this.#results(call, { result, origin, isTainted, ...(sources === undefined ? {} : { sources }) });
    if (later !== undefined) {
      await log.append(also);
      await after?.();
      return void (await log.append(await written(await later())));
    }
    const results = await written(own.result);
    await log.append(() => {
      const why = refusal?.() ?? null;
      return why === null
        ? [...also, ...results]
        : [this.#resultOf(call, { ...ofKernel, result: asError(why) })];
    });
    await after?.();
  }

  /** Writes results for the calls that will not be run. `why`: a sentence without its end. */
  async notRun(why: string): Promise<void> {
    const { log } = this.#host;
    await log.append(unansweredCalls(log.state, this.#process.maker, `Not run: ${why}.`));
  }

  async #outcomeOf(call: LoggedCall): Promise<CallOutcome> {
    const { ports } = this.#host;
    const { asking, signal } = this.#asking(call);
    return await ports.tools.call(this.#caller(), call.tool, call.arguments, {
      key: call.call,
      signal,
      offered: this.#offered(),
      foreign: this.#foreign(),
      asking,
    });
  }

  #caller(): ProcessPrincipal {
    return callerOf(this.#host, this.#process);
  }

  /** Returns whether the person lets a call be made although the same was made twice directly before. */
  async #mayRepeat(call: LoggedCall): Promise<boolean> {
    const { ports } = this.#host;
    const { asking, signal } = this.#asking(call);
    return await ports.mayRepeat(this.#caller(), call.tool, call.arguments, signal, asking);
  }

  /** Returns how the person is asked about a call, and what ends the waiting. */
  #asking(call: LoggedCall): { readonly asking: Asking; readonly signal: AbortSignal } {
    const { record, signal, tail } = this.#process;
    const { decisions } = this.#host;
    if (!kinds[record.kind].goesOn) return { asking: decisions.asking(this.#process, call.call), signal };
    const letGo = (this.#letGo = new AbortController());
    const key = askedAs(call, record.id, tail?.entries ?? []);
    const asking = decisions.asking(this.#process, key, () => letGo.signal.aborted);
    return {
      signal: AbortSignal.any([signal, letGo.signal]),
      asking: {
        ...asking,
        changed: (ask) => {
          asking.changed(ask);
          if (letGo.signal.aborted) return;
          this.#question = ask.state === "Pending" ? ask.id : null;
          // Something may have come before the person was asked.
          if (this.#question !== null && this.#process.hasUnread("any")) this.letGo();
        },
      },
    };
  }

  /** Where texts come from that neither a person nor a model wrote. The mind's blocks may be made from such texts too. */
  #foreign(): string[] {
    const { tail } = this.#process;
    const kept = tail !== null && isKept(tail.prefix) ? ["what the mind keeps"] : [];
    return [...this.#host.log.state.foreign, ...kept];
  }

  /** Returns the names of the tools that the process was offered. */
  #offered(): string[] {
    return this.#process.tail?.prefix.tools.map(({ name }) => name) ?? [];
  }

  #isRepeated(call: LoggedCall): boolean {
    const { record, tail } = this.#process;
    const entries = tail?.entries ?? [];
    const wanted = canonicalJson([call.tool, call.arguments]);
    let same = 0;
    for (let at = entries.length - 1; at >= 0 && same < repeatsAsked - 1; at--) {
      const entry = entries[at];
      if (entry?.kind !== "tool_call" || entry.process !== record.id || entry.call === call.call) continue;
      if (canonicalJson([entry.tool, entry.arguments]) !== wanted) return false;
      same++;
    }
    return same === repeatsAsked - 1;
  }

  /** Returns the result's entry, and behind it what extensions made of it: both are in the log, or none. */
  async #results(call: LoggedCall, outcome: CallOutcome): Promise<NewEntry[]> {
    const { ports, log } = this.#host;
    const { maker } = this.#process;
    // The result is not in the log yet.
    const place = placeOfReader(log, this.#process, outcome);
    const original = this.#resultOf(call, outcome);
    const asked = ports.intercept.afterToolCall(place, call, outcome.result);
    if (asked === null) return [original];
    const changes = (await asked).map((change) =>
      changedEntry(maker, { kind: "tool_result", call: call.call, result: change.value }, change, original),
    );
    return [original, ...changes];
  }

  #resultOf(
    { call }: Pick<LoggedCall, "call">,
    { result, origin, isTainted, sources }: CallOutcome,
  ): NewEntry {
    return entryOf(
      this.#process.maker,
      { kind: "tool_result", call, result },
      { origin, isTainted, ...(sources === undefined ? {} : { sources }) },
    );
  }
}
