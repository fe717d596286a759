import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect } from "vitest";
import type { Action } from "../../../kernel/src/base/vocabulary/action.ts";
import type { Ask } from "../../../kernel/src/base/vocabulary/ask.ts";
import {
  type Conversation,
  endedStates,
  type Entry,
} from "../../../kernel/src/base/vocabulary/conversation.ts";
import { emptyState } from "../../../kernel/src/conversations/fold.ts";
import { stateOfFork } from "../../../kernel/src/conversations/fork.ts";
import { Bench } from "../../support/bench.ts";
import { type Client, RpcError } from "../../support/client.ts";
import { CODES, type Status } from "../../support/types.ts";
import { until } from "../../support/until.ts";
import { childrenOf, SeenProcesses } from "./processes.ts";
import { SlowProvider } from "./slow-provider.ts";
import {
  answers,
  AUTOMATIC,
  documentFor,
  extensions,
  files,
  foreignPath,
  MIND,
  script,
  scripted,
} from "./talking-mind.ts";
import { foldOf, newTalked, type Talked } from "./talked.ts";

/** The front's error code: the kernel died, and it is unknown whether the request took effect. */
const requestFailed = -32803;
/** Folders in which the mind writes. Nobody approves its files beneath the last one. */
const folders = ["out", "direct", AUTOMATIC, "never"];
/** Files whose changes need a person. */
export const needsPerson = (path: string): boolean =>
  !path.startsWith(`${AUTOMATIC}/`) || path.startsWith(foreignPath);
/** The beginning of the names of contents that a commit has staged. */
const staged = ".lares-";
const resting: ReadonlySet<string> = new Set(["WaitingForInput", ...endedStates]);

/** The person's decision about an action, and the kernel's answer to it. */
interface Decided {
  readonly path: string;
  readonly asked: Set<"approve" | "reject">;
  readonly answered: Map<"approve" | "reject", string>;
}

/** Ten conversations with workers that call a guest's tool and propose files, and a person who decides. */
export class Talk implements AsyncDisposable {
  readonly bench: Bench;
  readonly provider: SlowProvider;
  client: Client;
  readonly conversations: Talked[];
  readonly decided = new Map<string, Decided>();
  /** Written files that the person has deleted: a second commit would write them again. */
  readonly deleted = new Set<string>();
  readonly #processes = new SeenProcesses();

  private constructor(bench: Bench, provider: SlowProvider, client: Client, conversations: Talked[]) {
    this.bench = bench;
    this.provider = provider;
    this.client = client;
    this.conversations = conversations;
  }

  static async begin(count: number): Promise<Talk> {
    const provider = await SlowProvider.start(answers());
    const bench = await Bench.create({ files, extensions: [...extensions] });
    const folder = join(bench.base, "config", "lares");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "script.yaml"), script);
    await writeFile(join(folder, "lares.yaml"), JSON.stringify(documentFor(provider.host)));
    const client = await bench.open({ environment: { XDG_CONFIG_HOME: join(bench.base, "config") } });
    const conversations: Talked[] = [];
    for (let index = 0; index < count; index++) {
      const model = index % 2 === 0 ? scripted : `lab/m${index}`;
      const { id } = await client.request<Conversation>("lares/conversations/open", { agent: MIND, model });
      conversations.push(newTalked(id, model));
      await client.request("lares/conversations/follow", { id });
    }
    return new Talk(bench, provider, client, conversations);
  }

  /** Sends a request; undefined if its kernel died, so that nobody knows whether it took effect. */
  async ask<Result>(method: string, params: object = {}): Promise<Result | undefined> {
    try {
      return await this.client.request<Result>(method, params);
    } catch (error) {
      if (error instanceof RpcError && error.code === requestFailed) return undefined;
      throw error;
    }
  }

  /** Asks the same again until a kernel lives long enough to answer; a key keeps it from being done twice. */
  async insist<Result>(method: string, params: object = {}): Promise<Result> {
    const { result } = await until(method, async () => {
      const answer = await this.ask<Result>(method, params);
      return answer !== undefined && { result: answer };
    });
    return result;
  }

  /** Resolves with the kernel's process once it is ready, and remembers its children. */
  async kernel(): Promise<number> {
    const { pid } = await until("a kernel that is ready", async () => {
      const status = await this.ask<Status>("lares/status");
      // The bench ends every kernel that it has seen.
      if (status?.ready === true) await this.bench.status(this.client).catch(() => null);
      return status?.ready === true && status;
    });
    for (const each of [pid, ...childrenOf(pid)]) this.#processes.add(each);
    return pid;
  }

  async send(talked: Talked, key: string): Promise<void> {
    const { entry } = await this.insist<{ entry: string }>("lares/conversations/send", {
      id: talked.id,
      text: key,
      key,
    });
    const before = talked.sent.get(key);
    expect(before ?? entry, `the entry of the message ${key}`).toBe(entry);
    talked.sent.set(key, entry);
  }

  /** Stops a worker, or the whole conversation. An acknowledged stop has to hold from then on. */
  async stop({ id, stopped }: Talked, process?: string): Promise<void> {
    const named = process === undefined ? {} : { process };
    const after = await this.ask<Conversation>("lares/conversations/cancel", { id, ...named });
    for (const each of after?.processes ?? [])
      if (each.kind !== "channel" && (process === undefined || each.id === process)) {
        expect(each, "a process after its stop was acknowledged").toSatisfy(() =>
          endedStates.has(each.state),
        );
        stopped.add(each.id);
      }
  }

  /** Forks a conversation behind one of its entries. The fork has a model of its own, by which its requests are known. */
  async fork(origin: Talked, at: number): Promise<void> {
    const made = await this.ask<Conversation>("lares/conversations/fork", { id: origin.id, at });
    // Nobody knows the id of a fork whose kernel died; nothing runs in it.
    if (made === undefined) return;
    const { id } = made;
    const read = async (after: number): Promise<Entry[]> =>
      after >= at ? [] : (await this.entries(id, after)).filter(({ seq }) => seq <= at);
    const model = `lab/m${this.conversations.length}`;
    const start = await stateOfFork({ ...emptyState(), seq: -1 }, at, read);
    this.conversations.push({ ...newTalked(id, model), fork: { at, start } });
    await this.insist("lares/conversations/update", { id, model });
    await this.insist("lares/conversations/follow", { id });
  }

  /** Has the conversation summarised, if there is something to summarise. */
  async compact({ id }: Talked): Promise<void> {
    try {
      await this.ask("lares/conversations/compact", { id });
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== CODES.IllegalTransition) throw error;
    }
  }

  pending(): Promise<Action[]> {
    return this.insist<Action[]>("lares/actions/list", { state: "PendingApproval" });
  }

  /** Approves or rejects; rejects an action that nobody may approve. */
  async decide({ id, digest, effects }: Action, isLiked: boolean): Promise<void> {
    const path = effects[0]?.path ?? "";
    const how = isLiked && !path.startsWith("never/") ? "approve" : "reject";
    const decided = this.decided.get(id) ?? { path, asked: new Set(), answered: new Map<never, never>() };
    this.decided.set(id, decided);
    decided.asked.add(how);
    try {
      const after = await this.ask<Action>(`lares/actions/${how}`, { id, digest });
      if (after !== undefined) decided.answered.set(how, after.state);
    } catch (error) {
      // It was decided in an attempt whose answer was lost, or its process was stopped.
      if (!(error instanceof RpcError) || error.code !== CODES.IllegalTransition) throw error;
    }
  }

  /** Questions that wait, such as whether a call may be repeated. */
  asks(): Promise<Ask[]> {
    return this.insist<Ask[]>("lares/asks/list", { state: "Pending" });
  }

  async answer({ id, digest }: Ask, allow: boolean): Promise<void> {
    try {
      await this.ask("lares/asks/answer", { id, digest, allow });
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== CODES.IllegalTransition) throw error;
    }
  }

  /** Deletes a file of an action that was committed. */
  async deleteFile(path: string): Promise<void> {
    await rm(this.bench.path(path));
    this.deleted.add(path);
  }

  /** Takes what followers got since the last time. */
  take(): void {
    const received = this.client.received.splice(0);
    for (const { method, params } of received) {
      if (method !== "lares/conversations/entry") continue;
      const { entry } = params as { readonly entry: Entry };
      const { followed } = this.talked(entry.conversation);
      expect(entry.seq, `the next seq of ${entry.conversation}`).toBeGreaterThan(followed.at(-1)?.seq ?? 0);
      followed.push(entry);
    }
  }

  talked(id: string): Talked {
    const found = this.conversations.find((each) => each.id === id);
    if (found === undefined) throw new Error(`an entry of the conversation ${id}, which nobody follows`);
    return found;
  }

  async entries(id: string, after = 0): Promise<Entry[]> {
    const params = { id, after, limit: 10_000 };
    return (await this.insist<{ items: Entry[] }>("lares/conversations/entries", params)).items;
  }

  /** Every entry that a follower got is read again, as it was, and nothing comes between. */
  async checkEntries(talked: Talked): Promise<void> {
    const { id, followed, compared } = talked;
    this.take();
    const seen = followed.length;
    const read = await this.entries(id, followed[compared - 1]?.seq);
    expect(read.length, `entries of ${id}`).toBeGreaterThanOrEqual(seen - compared);
    await until(`a follower of ${id} to have all entries`, () => {
      this.take();
      return followed.length - compared >= read.length;
    });
    expect(followed.slice(compared, compared + read.length)).toEqual(read);
    talked.compared += read.length;
  }

  /** Clients are told what the entries come to that followers got, before a kernel's death and after it. */
  async checkState(talked: Talked): Promise<void> {
    const { id, followed } = talked;
    const { seq, processes, title, tainted } = await this.insist<Conversation>("lares/conversations/get", {
      id,
    });
    await until(`a follower of ${id} to have the entry ${seq}`, () => {
      this.take();
      return (followed.at(-1)?.seq ?? 0) >= seq;
    });
    const state = foldOf(
      talked,
      followed.filter((entry) => entry.seq <= seq),
    );
    expect({ seq, processes, title, tainted }).toEqual({
      seq: state.seq,
      processes: state.processes,
      title: state.title,
      tainted: state.tainted,
    });
  }

  /** Checks that stopped processes do not run and wait for nobody. */
  async checkStopped({ id, stopped }: Talked, pending: readonly Action[]): Promise<void> {
    const { processes } = await this.insist<Conversation>("lares/conversations/get", { id });
    const again = processes.filter((each) => stopped.has(each.id) && !endedStates.has(each.state));
    expect(again, "processes that were stopped and run").toEqual([]);
    const waiting = pending.filter(({ on_behalf_of: by = [] }) =>
      by.some((actor) => actor.kind === "process" && stopped.has(actor.id ?? "")),
    );
    expect(waiting, "actions of processes that were stopped").toEqual([]);
  }

  /** Checks that every file on the disk was approved as it was shown, and that no deleted one is there again. */
  checkFiles(): void {
    const approved = new Set(
      [...this.decided.values()].flatMap(({ path, asked }) => (asked.has("approve") ? [path] : [])),
    );
    for (const path of this.files()) {
      if (needsPerson(path)) expect(approved, "approved files").toContain(path);
      expect(this.deleted, "deleted files").not.toContain(path);
      expect(readFileSync(this.bench.path(path), "utf8")).toBe(`${basename(path, ".md")}\n`);
    }
  }

  /** Returns the files in the mind's folders, without those that stand beside one while it is written. */
  files(): string[] {
    return this.#names().filter((path) => !basename(path).startsWith(staged));
  }

  /** Returns what commits have left beside the files. */
  leftovers(): string[] {
    return this.#names().filter((path) => basename(path).startsWith(staged));
  }

  #names(): string[] {
    return folders
      .filter((folder) => existsSync(this.bench.path(folder)))
      .flatMap((folder) => readdirSync(this.bench.path(folder)).map((name) => `${folder}/${name}`));
  }

  /** No process of a dead kernel is left. */
  async checkProcesses(): Promise<void> {
    const pid = await this.kernel();
    await this.#processes.gone(new Set([pid, ...childrenOf(pid)]));
  }

  async check(): Promise<void> {
    for (const talked of this.conversations) {
      await this.checkEntries(talked);
      await this.checkState(talked);
    }
    this.provider.sent.check();
    const pending = await this.pending();
    for (const talked of this.conversations) await this.checkStopped(talked, pending);
    this.checkFiles();
    await this.checkProcesses();
  }

  /** Decides about everything until nothing runs and nothing waits. Fails with the processes that do not end. */
  async toRest(): Promise<void> {
    let answered = 0;
    const restless = async (): Promise<unknown[]> => {
      const pending = await this.pending();
      // Three rejections in a row pause the processes of a conversation until its person speaks.
      const paused = new Set<string>();
      for (const action of pending) {
        await this.decide(action, true);
        const { conversation = "" } = action.on_behalf_of?.find((actor) => actor.kind === "process") ?? {};
        if (this.decided.get(action.id)?.asked.has("reject") === true) paused.add(conversation);
      }
      const asks = await this.asks();
      for (const ask of asks) await this.answer(ask, true);
      const all = await Promise.all(
        this.conversations.map(({ id }) => this.insist<Conversation>("lares/conversations/get", { id })),
      );
      const running = all.flatMap(({ id, processes }) =>
        processes
          .filter(({ kind, state }) => !(kind === "channel" ? resting : endedStates).has(state))
          .map((each) => ({ conversation: id, ...each })),
      );
      for (const { conversation, state } of running)
        if (state === "WaitingForInput") paused.add(conversation);
      for (const id of paused) await this.send(this.talked(id), `go on ${answered++}`);
      const { idle } = await this.insist<{ idle?: boolean }>("lares/status");
      return [...pending, ...asks, ...running, ...(idle === true ? [] : ["the kernel works"])];
    };
    const seqs = async (): Promise<number[]> =>
      await Promise.all(
        this.conversations.map(
          async ({ id }) => (await this.insist<Conversation>("lares/conversations/get", { id })).seq,
        ),
      );
    let last: unknown[] = [];
    try {
      await until(
        "rest",
        async () => {
          if ((last = await restless()).length > 0) return false;
          const before = await seqs();
          await new Promise((resolve) => setTimeout(resolve, quietMs));
          last = ["a channel was woken"];
          return (await seqs()).join() === before.join();
        },
        restMs,
      );
    } catch (error) {
      throw new Error(`these do not come to rest: ${JSON.stringify(last, null, 1)}`, { cause: error });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.bench[Symbol.asyncDispose]();
    await this.provider[Symbol.asyncDispose]();
    await this.#processes.gone();
  }
}

/** Maximum time for everything that waits to be decided and done. */
const restMs = 180_000;
/** Longer than the ends of children gather before they wake a channel. */
const quietMs = 1_000;
