import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isLaresError, messageOf } from "../../base/errors.ts";
import { hasEnded, type Action } from "../../base/vocabulary/action.ts";
import { UsageError } from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { renderAction, renderActionLine } from "../render/action.ts";
import { manyLines, oneLine } from "../render/foreign.ts";
import { textPresenter } from "../run/presenter.ts";
import { whenIdle } from "../run/idle.ts";
import { wholeAction } from "../run/whole-action.ts";
import type { Terminal } from "../terminal.ts";
import { readInput, type StripTypes } from "./input.ts";
import type { Tried } from "./tried.ts";

/** The agent that runs what is typed. */
const playgroundAgent = "local.playground";

const pollMs = 25;
/** A changed file that the index does not show after this time is one that it leaves out. */
const noticeMs = 5_000;
/** Characters of an input, which is sent to the agent as a whole. */
const maxInput = 200_000;

const help = [
  "Type TypeScript that uses ctx. It runs in the sandbox, as in a handler; an expression is its result.",
  ".write PATH [TEXT]     write a file of the workspace, as a person does: agents get its event",
  ".remove PATH           remove a file",
  ".move FROM TO          move a file",
  ".read PATH             show a file",
  ".call TOOL [JSON]      call a tool of the extension, or AGENT/TOOL",
  ".emit EVENT [JSON]     emit an event that the extension hears, in its publisher's name",
  '.model TEXT            what the language model says next; {"when": …, "say": …} or another turn of a script',
  ".approve, .reject [WHY], .undo    answer the last proposal, or undo the last change",
  ".load FILE             run a file of TypeScript",
  ".exit                  end; the workspace is removed",
];

interface PlaygroundPorts {
  readonly kernel: KernelClient;
  readonly terminal: Terminal;
  readonly workspace: string;
  /** The extension that is tried; null without one. */
  readonly tried: Tried | null;
  /** The file of answers that stands for all language models. */
  readonly script: string;
  readonly stripTypes: StripTypes;
  readonly inspects: boolean;
}

type Command = (words: string) => Promise<string | void>;

/** Runs inputs one after the other, and shows what came of each before the next. */
export class PlaygroundSession {
  readonly #ports: PlaygroundPorts;
  /** Actions whose news are not shown yet, oldest first. */
  readonly #news: Action[] = [];
  readonly #shownStates = new Map<string, string>();
  readonly #turns: object[] = [];
  #typed = "";
  #failures = 0;

  constructor(ports: PlaygroundPorts) {
    this.#ports = ports;
  }

  /** True while an input goes over several lines. */
  get isUnfinished(): boolean {
    return this.#typed !== "";
  }

  /** Inputs that failed. */
  get failures(): number {
    return this.#failures;
  }

  /** Follows what agents do until the result is disposed. */
  async follow(): Promise<Disposable> {
    const { kernel, terminal, inspects } = this.#ports;
    const presenter = textPresenter(terminal, { asks: true });
    const listening = new DisposableStack();
    listening.use(
      kernel.on("lares/traces/entry", ({ entry }) => {
        // The call that runs an input is not a step of the author's.
        if (entry.step !== undefined && entry.agent === playgroundAgent && entry.step !== "call") return;
        presenter.trace(entry);
      }),
    );
    listening.use(kernel.on("lares/agents/changed", (agent) => presenter.agent(agent)));
    listening.use(kernel.on("lares/notify", (notice) => presenter.notice(notice)));
    listening.use(kernel.on("lares/actions/changed", (action) => void this.#news.push(action)));
    await kernel.follow(inspects ? { inspect: true } : {});
    for (const agent of await kernel.agents()) presenter.agent(agent);
    return listening;
  }

  /** Takes a line; returns false if the session is to end. */
  async line(line: string): Promise<boolean> {
    const command = this.isUnfinished ? null : /^\.(\w*)\s*(.*)/s.exec(line.trim());
    if (command?.[1] === "exit") return false;
    try {
      if (command !== null) {
        const said = await this.#commandNamed(command[1] ?? "")(command[2] ?? "");
        if (typeof said === "string") this.#ports.terminal.print(manyLines(said));
      } else await this.#take(line);
    } catch (error) {
      if (!isLaresError(error) && !(error instanceof UsageError) && !isSystemError(error)) throw error;
      this.#fail(messageOf(error));
    }
    await this.settle();
    return true;
  }

  /** Resolves when the agents have nothing to do and everything they did was shown. */
  async settle(): Promise<void> {
    const { kernel, terminal } = this.#ports;
    await whenIdle(
      { status: kernel.status, isBusy: () => false, onStatus: () => undefined },
      terminal.interrupted,
    );
    for (let action = this.#news.shift(); action !== undefined; action = this.#news.shift())
      await this.#show(action);
  }

  /** Reports an input that is not complete when no more lines come. */
  end(): void {
    if (this.isUnfinished) this.#fail("The last input is not complete.");
  }

  async #take(line: string): Promise<void> {
    const typed = this.isUnfinished ? `${this.#typed}\n${line}` : line;
    this.#typed = "";
    if (typed.trim() !== "" && !(await this.#run(typed))) this.#typed = typed;
  }

  /** Returns false if the input is not complete. */
  async #run(source: string): Promise<boolean> {
    const { kernel, terminal, stripTypes } = this.#ports;
    if (source.length > maxInput)
      throw new UsageError(`An input may have ${maxInput} characters, but this one has ${source.length}.`);
    const input = await readInput(source, stripTypes);
    if (input.kind === "unfinished") return false;
    if (input.kind === "fault") {
      this.#fail(`line ${input.line}: ${input.fault}`);
      return true;
    }
    const result = await terminal.progress(
      "running",
      kernel.callTool(playgroundAgent, "run", { code: input.code }),
    );
    if (result.status === "error") this.#fail(result.message);
    else if (result.status === "success") {
      const { value, error } = result.value as { readonly value?: string; readonly error?: string };
      if (error !== undefined) this.#fail(error);
      else if (value !== undefined) terminal.print(manyLines(value));
    }
    return true;
  }

  #commandNamed(name: string): Command {
    const commands: Readonly<Record<string, Command>> = {
      help: () => Promise.resolve(help.join("\n")),
      write: (words) => this.#write(words),
      remove: (path) => this.#remove(path),
      move: (words) => this.#move(words),
      read: async (path) => (await readFile(this.#inside(path), "utf8")).replace(/\n$/, ""),
      call: (words) => this.#call(words),
      emit: (words) => this.#emit(words),
      model: (words) => this.#say(words),
      approve: () => this.#approve(),
      reject: (reason) => this.#reject(reason),
      undo: () => this.#undo(),
      load: (file) => this.#load(file),
    };
    const found = Object.hasOwn(commands, name) ? commands[name] : undefined;
    if (found === undefined) throw new UsageError(`There is no command ".${name}". .help lists them.`);
    return found;
  }

  async #write(words: string): Promise<void> {
    const [path, text] = split(words);
    const file = this.#inside(path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${text.replaceAll(String.raw`\n`, "\n")}\n`);
    await this.#noticed(path);
  }

  async #remove(path: string): Promise<void> {
    await rm(this.#inside(path));
    await this.#noticed(path);
  }

  async #move(words: string): Promise<void> {
    const [from, to] = split(words);
    const target = this.#inside(to);
    await mkdir(dirname(target), { recursive: true });
    await rename(this.#inside(from), target);
    await this.#noticed(from);
    await this.#noticed(to);
  }

  async #call(words: string): Promise<string | void> {
    const [name, text] = split(words);
    const slash = name.lastIndexOf("/");
    const agent = slash === -1 ? (this.#ports.tried?.id ?? null) : name.slice(0, slash);
    if (name === "" || agent === null)
      throw new UsageError(
        "Name a tool of the extension that lares playground was started with, or AGENT/TOOL.",
      );
    const result = await this.#ports.kernel.callTool(agent, name.slice(slash + 1), parsed(text));
    if (result.status === "error") this.#fail(result.message);
    return result.status === "success" ? (JSON.stringify(result.value) ?? "null") : undefined;
  }

  async #emit(words: string): Promise<void> {
    const [name, text] = split(words);
    const heard = [...(this.#ports.tried?.heard ?? [])].flatMap(([publisher, events]) =>
      events.map((event) => ({ publisher, event })),
    );
    const found = heard.filter(({ publisher, event }) => name === event || name === `${publisher}/${event}`);
    const [one, ...others] = found;
    if (one === undefined || others.length > 0) {
      const all = heard.map(({ publisher, event }) => `${publisher}/${event}`).join(", ");
      throw new UsageError(
        all === ""
          ? "No hook of an extension waits for an event of another one. Start lares playground with such an extension."
          : `Name one of the events that the extension hears: ${all}.`,
      );
    }
    const data = parsed(text);
    const result = await this.#ports.kernel.callTool(one.publisher, "emit", { name: one.event, data });
    if (result.status === "error") this.#fail(result.message);
  }

  async #say(words: string): Promise<void> {
    if (words === "") throw new UsageError("Write what the model says next: .model A day at the beach");
    const turn = words.startsWith("{") ? turnOf(words) : null;
    this.#turns.push(turn ?? { say: words });
    await writeFile(this.#ports.script, JSON.stringify({ turns: this.#turns }));
  }

  async #approve(): Promise<void> {
    const { id, digest } = await this.#last("PendingApproval", "No proposal waits for an answer.");
    await this.#ports.kernel.approve(id, { digest });
  }

  async #reject(reason: string): Promise<void> {
    const { id } = await this.#last("PendingApproval", "No proposal waits for an answer.");
    await this.#ports.kernel.reject(id, reason === "" ? undefined : reason);
  }

  async #undo(): Promise<void> {
    const { id } = await this.#last("Committed", "There is no change to undo.");
    await this.#ports.kernel.undo(id);
  }

  async #load(file: string): Promise<void> {
    if (!(await this.#run(await readFile(resolve(file), "utf8"))))
      this.#fail(`The last input of ${file} is not complete.`);
  }

  async #last(state: string, otherwise: string): Promise<Action> {
    const [action] = await this.#ports.kernel.actions({ state, limit: 1 });
    if (action === undefined) throw new UsageError(otherwise);
    return this.#ports.kernel.action(action.id);
  }

  async #show({ id, state }: Action): Promise<void> {
    const { kernel, terminal } = this.#ports;
    if (this.#shownStates.get(id) === state) return;
    this.#shownStates.set(id, state);
    const { action, unread } = await wholeAction(kernel, await kernel.action(id));
    if (action.state !== state) return;
    if (state === "PendingApproval") terminal.print(renderAction(action, terminal.surface, { unread }));
    else if (hasEnded(state)) terminal.print(renderActionLine(action, terminal.surface));
  }

  #fail(text: string): void {
    const { terminal } = this.#ports;
    this.#failures += 1;
    terminal.print(`${terminal.surface.style.red("✗")} ${oneLine(text)}`);
  }

  #inside(path: string): string {
    const { workspace } = this.#ports;
    const file = resolve(workspace, path);
    if (path === "" || !file.startsWith(workspace + sep))
      throw new UsageError(`"${path}" is not a path in the workspace. Write it as notes/a.md.`);
    return file;
  }

  /** Resolves when the index shows the file as it is, or leaves it out. */
  async #noticed(path: string): Promise<void> {
    const { kernel, workspace, terminal } = this.#ports;
    const wanted = await stat(join(workspace, path)).catch(() => null);
    const name = path.slice(path.lastIndexOf("/") + 1);
    for (
      const end = performance.now() + noticeMs;
      performance.now() < end && !terminal.interrupted.aborted;
    ) {
      const { items } = await kernel.entries({ text: name, limit: 1_000 });
      const entry = items.find((one) => one.path === path);
      if (
        wanted === null
          ? entry === undefined
          : entry?.size === wanted.size && isAsNew(entry.modified, wanted.mtimeMs)
      )
        return;
      await pause(pollMs);
    }
  }
}

const isAsNew = (modified: string, mtimeMs: number): boolean => Date.parse(modified) >= Math.floor(mtimeMs);

/** Returns the first word and the rest. */
function split(words: string): [string, string] {
  const [, first = "", rest = ""] = /^(\S*)\s*(.*)/s.exec(words) ?? [];
  return [first, rest];
}

const parts = ["when", "think", "say", "call", "cut", "error", "usage", "delay_ms", "repeat", "process"];

/** Returns the turn of a script that a text is; null if it is only text, which may be JSON that the model says. */
function turnOf(text: string): object | null {
  try {
    const value = JSON.parse(text) as object;
    const keys = Object.keys(value);
    return keys.length > 0 && keys.every((key) => parts.includes(key)) ? value : null;
  } catch {
    return null;
  }
}

function parsed(text: string): unknown {
  try {
    return text === "" ? {} : JSON.parse(text);
  } catch {
    throw new UsageError(`The arguments have to be JSON, as in .call seen {"limit": 5}.`);
  }
}

const isSystemError = (error: unknown): boolean =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === "string";
