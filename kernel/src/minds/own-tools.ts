import { isoTime } from "../base/clock.ts";
import { isJsonObject } from "../base/json.ts";
import { endedStates, type Process } from "../base/vocabulary/conversation.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import type { NewEntry } from "../conversations/records.ts";
import type { LoggedCall } from "./answer-writer.ts";
import { knownText, textOfBlock } from "./blocks.ts";
import { ContextTail } from "./context-tail.ts";
import { entryOf, type EntryMaker, processEntry } from "./entries.ts";
import { asError, type AtWork, type ConversationHost, type OwnResult } from "./host.ts";
import { recallMemory, saveMemory } from "./memory-tools.ts";
import { type ProcessTool, tooLongText } from "./process-tools.ts";
import { recall } from "./recall.ts";
import { schedule } from "./schedule-tool.ts";

const success = (value: unknown): ToolResult => ({ status: "success", value });
/** These take the beginning of a text that is too long. */
const cutsTexts: ReadonlySet<string> = new Set(["set_status", "memory_save", "memory_recall"]);
const maxUnfinished = 64;

/** Runs the tools that the kernel itself gives to processes. Arguments come from a model: each is checked here. */
export class OwnTools {
  readonly #conversation: ConversationHost;

  constructor(conversation: ConversationHost) {
    this.#conversation = conversation;
  }

  async run(process: AtWork, call: LoggedCall): Promise<OwnResult> {
    const args = isJsonObject(call.arguments) ? call.arguments : {};
    const text = (name: string): string | null => {
      const value = args[name];
      return typeof value === "string" && value.trim() !== "" ? value : null;
    };
    const offered = process.tail?.prefix.tools.find(({ name }) => name === call.tool);
    if (offered === undefined) return { result: asError(`There is no tool "${call.tool}" here.`, false) };
    const tooLong = cutsTexts.has(call.tool) ? null : tooLongText(offered, args);
    if (tooLong !== null) return { result: asError(tooLong) };
    const need = (name: string): OwnResult => ({
      result: asError(`${call.tool} needs the argument "${name}", a text.`),
    });
    // `isProcessTool` was asked before.
    switch (call.tool as ProcessTool) {
      case "branch": {
        const task = text("task");
        return task === null ? need("task") : await this.#spawn(process, call, { kind: "branch", task });
      }
      case "spawn_worker": {
        const task = text("task");
        const kind = text("kind") ?? undefined;
        const { workers } = this.#conversation.mind().definition;
        if (kind !== undefined && !workers.some(({ name }) => name === kind))
          return { result: asError(`There is no kind of worker "${kind}".`) };
        if (task === null) return need("task");
        const waits = process.record.kind === "branch" && args["wait"] === true;
        // A caller that waits for its end gets its first report.
        const interactive =
          !waits && workers.some(({ name, isInteractive }) => name === kind && isInteractive);
        const started = await this.#spawn(process, call, { kind: "worker", task, name: kind, interactive });
        return waits && started.result.status === "success" ? this.#awaited(process, call, started) : started;
      }
      case "route": {
        const id = text("process");
        const message = text("text");
        if (id === null || message === null) return need(id === null ? "process" : "text");
        const refusal = (): string | null => {
          const to = this.#conversation.log.state.processes.find((each) => each.id === id);
          const runs = to !== undefined && to.kind !== "channel" && !endedStates.has(to.state);
          return runs ? null : `No process "${id}" runs.`;
        };
        const why = refusal();
        if (why !== null) return { result: asError(why) };
        return {
          result: success({ process: id }),
          also: [this.#message(process, id, message)],
          // It may end while extensions look at the result.
          refusal,
        };
      }
      case "cancel": {
        const id = text("process");
        if (id === null) return need("process");
        const known = this.#conversation.log.state.processes.find((each) => each.id === id);
        if (known === undefined || known.kind === "channel")
          return { result: asError(`There is no process "${id}".`) };
        const by = this.#conversation.principalOf(process.record);
        await this.#conversation.cancel(by, id, text("reason") ?? undefined);
        return { result: success({ process: id, state: "Cancelled" }) };
      }
      case "schedule":
        return await schedule(this.#conversation, process, call);
      case "block_edit": {
        const name = text("name");
        const replace = args["replace"];
        if (name === null || typeof replace !== "string") return need(name === null ? "name" : "replace");
        return await this.#editBlock(process, call, name, text("find"), replace);
      }
      case "read_skill": {
        const name = text("name");
        const skill = this.#conversation.mind().definition.skills.find((each) => each.name === name);
        if (skill === undefined) return { result: asError(`There is no skill "${name ?? ""}".`) };
        return { result: success(skill.text) };
      }
      case "set_status": {
        const status = text("text");
        if (status === null) return need("text");
        process.record = { ...process.record, status: status.slice(0, 200) };
        return { result: success(null), also: [processEntry(process.maker, process.record)] };
      }
      case "channel_recall":
        return await recall(this.#conversation, args);
      case "memory_recall":
        return await recallMemory(this.#conversation, process, call);
      case "memory_save":
        return await saveMemory(this.#conversation, process, call);
    }
  }

  /** A call that is run again after a crash finds the process that it started, by the same id. */
  async #spawn(
    parent: AtWork,
    call: LoggedCall,
    {
      kind,
      task,
      name,
      interactive = false,
    }: {
      readonly kind: "branch" | "worker";
      readonly task: string;
      readonly name?: string | undefined;
      readonly interactive?: boolean;
    },
  ): Promise<OwnResult> {
    const { log, ports } = this.#conversation;
    const id = childOf(call);
    const known = log.state.processes.find((process) => process.id === id);
    if (known !== undefined) return { result: success({ process: id }) };
    const unfinished = log.state.processes.filter(({ state }) => !endedStates.has(state)).length;
    if (unfinished >= maxUnfinished)
      return { result: asError(`${unfinished} processes run or wait already, which is the limit.`) };
    const record: Process = {
      id,
      kind,
      ...(name === undefined ? {} : { name }),
      state: "Waiting",
      parent: parent.record.id,
      task,
      started: isoTime(ports.clock.now()),
      ...(interactive ? { interactive: true as const } : {}),
    };
    const maker: EntryMaker = { ...parent.maker, process: id };
    const { turn } = parent;
    return {
      result: success({ process: id }),
      also: [processEntry(maker, record), this.#message(parent, id, task)],
      after: async () => {
        if (kind === "branch") await this.#beginBranch(parent, record);
        this.#conversation.startChild(record, turn);
      },
    };
  }

  /** The call is answered when its child has ended. The report is an entry of its own. */
  #awaited(parent: AtWork, call: LoggedCall, started: OwnResult): OwnResult {
    const id = childOf(call);
    return {
      ...started,
      later: async () => {
        const child = await this.#conversation.untilEnded(parent, id);
        if (child?.state === "Done")
          return success({ process: id, state: child.state, note: "Its report precedes this." });
        return asError(
          `The worker ended without a report: ${child?.error?.message ?? child?.state ?? "it is gone"}.`,
        );
      },
    };
  }

  /** A branch knows what its channel knew when it asked for it. */
  async #beginBranch(parent: AtWork, record: Process): Promise<void> {
    const { log } = this.#conversation;
    const { tail, lastRequest } = parent;
    if (tail === null) return;
    const own = await this.#conversation.prefixFor(record);
    const { prefix } = tail;
    const through = lastRequest - 1;
    await ContextTail.begin(
      log,
      record.id,
      {
        context: { ...prefix, role: own.role, tools: own.tools, skills: own.skills },
        channel: { process: parent.record.id, through },
      },
      [],
    );
  }

  #message(from: AtWork, process: string, text: string): NewEntry {
    return entryOf(
      { ...from.maker, process },
      { kind: "message", role: "user", parts: [{ type: "text", text }] },
      from.provenance("model"),
    );
  }

  async #editBlock(
    process: AtWork,
    call: LoggedCall,
    name: string,
    find: string | null,
    replace: string,
  ): Promise<OwnResult> {
    const block = this.#conversation.mind().definition.blocks.find((each) => each.name === name);
    if (block === undefined || block.isReadOnly)
      return { result: asError(`There is no block "${name}" to edit.`) };
    const now = process.tail === null ? "" : textOfBlock(process.tail, name);
    let text = replace;
    if (find !== null) {
      const places = now.split(find).length - 1;
      if (places !== 1)
        return {
          result: asError(
            `The text to find is in the block ${places} times; it has to be there once. The block reads: ${now}`,
          ),
        };
      // Not `replace`, whose second argument has special characters.
      text = now.split(find).join(replace);
    }
    if (text.length > block.limitCharacters)
      return {
        result: asError(
          `The block would have ${text.length} characters; at most ${block.limitCharacters} fit. Shorten it.`,
        ),
      };
    const provenance = process.provenance("model");
    const edit = entryOf(process.maker, { kind: "block", name, text }, provenance);
    if (block.scope === "conversation" && block.namespace === undefined)
      return { result: success({ block: name, characters: text.length }), also: [edit] };
    const { ports, decisions } = this.#conversation;
    const agent = this.#conversation.mind().agent.id;
    const refusal = ports.blocks.mayWrite(agent, block);
    if (refusal !== null) return { result: asError(refusal, false) };
    // Untrusted text must not reach other conversations.
    if (provenance.isTainted === true) {
      const { sources = [] } = provenance;
      const asked = await decisions.askAboutBlock(process, call.call, { block: name, text, sources });
      return {
        result: success({
          block: name,
          characters: text.length,
          note: "This holds in this conversation only until the person accepts it, because it was made from text that nobody vouches for.",
        }),
        also: [edit, ...asked.entries],
        after: asked.after,
      };
    }
    const known = process.tail === null ? [""] : [now, knownText(process.tail, name)];
    const outcome = await ports.blocks.edit(agent, edit, known);
    if (outcome === "changed") {
      await this.#conversation.tellChanges(process);
      return {
        result: asError(
          "Another mind has changed the block meanwhile. You were told what it reads now; edit that.",
        ),
      };
    }
    if (outcome !== "written") return { result: asError(outcome.refusal, false) };
    return { result: success({ block: name, characters: text.length }), also: [edit] };
  }
}

/** The id of the process that a call starts. */
const childOf = ({ call }: LoggedCall): string => call.replace(/^call_/, "");
