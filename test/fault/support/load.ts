import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { Bench } from "../../support/bench.ts";
import { RpcError, type Client } from "../../support/client.ts";
import { CODES, type Action, type Entry, type Status, type ToolResult } from "../../support/types.ts";
import { until } from "../../support/until.ts";
import { WORKER, EVENTS_FOLDER } from "./worker-agent.ts";
import { DELETED, effectsIn, treeBefore, Witness, type Plan, type WitnessedAction } from "./witness.ts";

/** The front's error code: the kernel died, and it is unknown whether the request took effect. */
const REQUEST_FAILED = -32803;
/** The agent, or its sandbox, ended during the request. */
const AGENT_ERROR = -33013;

/** Thrown if a request's process died: the next kernel shows whether it took effect. */
export class Died extends Error {}

/** A person's and an agent's work in one workspace, with a witness of everything that was acknowledged. */
export class Load {
  readonly witness = new Witness();
  readonly bench: Bench;
  client: Client;
  #count = 0;

  constructor(bench: Bench, client: Client) {
    this.bench = bench;
    this.client = client;
  }

  /** Sends a request that a death may interrupt; throws `Died` if it did, and any other error unchanged. */
  async ask<Result>(method: string, params: object = {}): Promise<Result> {
    const { exitCode, signalCode } = this.client.process;
    if (exitCode !== null || signalCode !== null) throw new Died("the front ended");
    try {
      return await this.client.request<Result>(method, params);
    } catch (error) {
      if (error instanceof RpcError && [REQUEST_FAILED, AGENT_ERROR].includes(error.code))
        throw new Died(error.message);
      // A reading request may be answered by a kernel that has not read its documents yet.
      const isEarly = method !== "lares/tools/call" && error instanceof RpcError;
      if (isEarly && error.code === CODES.NotFound && error.message.includes("no agent"))
        throw new Died(error.message);
      if (error instanceof Error && error.message === "the front ended") throw new Died(error.message);
      throw error;
    }
  }

  /** With a `key`, a call that is repeated after a death gets the answer of its first run. */
  async tool<Value>(name: string, parameters: object = {}, key?: string): Promise<Value> {
    const call = { agent: WORKER, name, arguments: parameters, ...(key === undefined ? {} : { key }) };
    const result = await this.ask<ToolResult>("lares/tools/call", call);
    if (result.status === "success") return result.value as Value;
    throw new Died(JSON.stringify(result));
  }

  /** Repeats a reading request until a kernel lives long enough to answer. */
  async read<Result>(what: string, run: () => Promise<Result>): Promise<Result> {
    const { found } = await until(what, async () => {
      try {
        return { found: await run() };
      } catch (error) {
        if (error instanceof Died) return null;
        throw error;
      }
    });
    return found;
  }

  plan(): Promise<Plan> {
    return this.read("the agent's plan", () => this.tool<Plan>("plan"));
  }

  status(): Promise<Status> {
    return until("a kernel that is ready", async () => {
      try {
        const status = await this.ask<Status>("lares/status");
        return status.ready && status;
      } catch (error) {
        if (error instanceof Died) return null;
        throw error;
      }
    });
  }

  /** Appends to a file, or creates it. */
  async writeFile(name: string): Promise<void> {
    const path = `${EVENTS_FOLDER}/${name}`;
    const before = this.witness.files.get(path) ?? 0;
    if (before === DELETED) return;
    this.witness.files.set(path, before + 1);
    await this.bench.write(path, "x".repeat(before + 1));
  }

  async removeFile(name: string): Promise<void> {
    const path = `${EVENTS_FOLDER}/${name}`;
    if (!this.witness.files.has(path)) return;
    this.witness.files.set(path, DELETED);
    await rm(this.bench.path(path), { force: true });
  }

  async note(sync: boolean): Promise<void> {
    const note = ++this.#count;
    this.witness.uncertainNotes.add(note);
    await this.tool("note", { note, sync }, sync ? `note-${note}` : undefined);
    this.witness.uncertainNotes.delete(note);
    this.witness.notes.add(note);
  }

  async append(sync: boolean): Promise<void> {
    const note = ++this.#count;
    await this.witness.events.tell(note, () => this.tool("append", { note, sync }));
  }

  async learn(sync: boolean): Promise<void> {
    const note = ++this.#count;
    await this.witness.items.tell(note, () => this.tool("learn", { note, sync }));
  }

  /** Checks that queries return everything that was stored. */
  async checkMemories(): Promise<void> {
    const { events, items } = this.witness;
    const ask = <Page>(kind: string, fields: object): Promise<Page> =>
      this.read(`the agent's ${kind} memory`, () =>
        this.ask<Page>("lares/memory/query", { agent: WORKER, kind, ...fields }),
      );
    type Page = { items: { data: { note: number } }[]; total: number };
    const notesOf = (page: Page): number[] => page.items.map(({ data }) => data.note);
    const found: number[] = [];
    for (let total = 1; found.length < total;) {
      const page = await ask<Page>("temporal", { variant: "note", limit: 1000, offset: found.length });
      total = page.total;
      found.push(...notesOf(page));
      if (page.items.length === 0) break;
    }
    events.check(found);
    const known = await ask<Page>("associative", { variant: "note", top_k: 1000 });
    items.check(notesOf(known));
    // The newest of them, by their words and by similarity.
    const [event, item] = [events, items].map(({ acknowledged }) => [...acknowledged].at(-1));
    if (event !== undefined) {
      expect(notesOf(await ask("temporal", { text: { match: `event${event}` } }))).toEqual([event]);
    }
    if (item !== undefined) {
      const like = await ask<Page>("associative", {
        similar_to: `item${item} of what is known`,
        top_k: 1,
      });
      expect(notesOf(like)).toEqual([item]);
    }
  }

  /** Proposes to change a folder that is created for it. */
  async propose(): Promise<WitnessedAction> {
    const title = `action-${++this.#count}`;
    const folder = `work/${title}`;
    await mkdir(this.bench.path(folder), { recursive: true });
    for (const [name, text] of Object.entries(treeBefore))
      await writeFile(join(this.bench.path(folder), name), text);
    await this.read(`${folder} to be in the index`, async () => {
      await until(`${folder} to be in the index`, async () => (await this.entries(folder)).length === 4);
    });
    const action: WitnessedAction = { title, folder, allowed: ["absent", "PendingApproval"] };
    this.witness.actions.push(action);
    const proposed = await this.tool<Action>("propose", { effects: effectsIn(folder, title), title });
    expect(proposed.state).toBe("PendingApproval");
    action.id = proposed.id;
    action.allowed = [proposed.state];
    return action;
  }

  async entries(folder: string): Promise<Entry[]> {
    const page = await this.ask<{ items: Entry[] }>("lares/entries/query", {
      path: `{${folder},${folder}/**}`,
      limit: 1000,
    });
    return page.items;
  }

  /** Approves it; with `always`, remembers a rule that this action offers for its own paths. */
  async approve(action: WitnessedAction, always = false): Promise<void> {
    const { digest, scopes = [] } = await this.read("the action", () =>
      this.ask<Action>("lares/actions/get", { id: action.id }),
    );
    action.allowed = ["PendingApproval", "Committed", "Failed"];
    const rules = always ? (scopes.find(({ id }) => id === "folder")?.rules ?? []) : [];
    const done = await this.ask<Action>("lares/actions/approve", {
      id: action.id,
      digest,
      ...(rules.length === 0 ? {} : { rules }),
    });
    expect(done.state, done.error).toBe("Committed");
    action.allowed = [done.state];
    for (const { path = "" } of rules) this.witness.rules.add(path);
  }

  async undo(action: WitnessedAction): Promise<void> {
    action.allowed = ["Committed", "Undone"];
    const done = await this.ask<Action>("lares/actions/undo", { id: action.id });
    expect(done.state).toBe("Undone");
    action.allowed = [done.state];
  }

  async reject(action: WitnessedAction): Promise<void> {
    action.allowed = ["PendingApproval", "Rejected"];
    const done = await this.ask<Action>("lares/actions/reject", { id: action.id });
    expect(done.state).toBe("Rejected");
    action.allowed = [done.state];
  }

  /** Runs one of each, one after the other, with what earlier rounds left. */
  async round(): Promise<void> {
    const { actions } = this.witness;
    await this.writeFile("grows.txt");
    const shortLived = `short-lived-${this.#count}.txt`;
    await this.writeFile(shortLived);
    await this.note(false);
    await this.note(true);
    await this.append(false);
    await this.learn(true);
    const isIn = (state: string) => (action: WitnessedAction) => action.allowed.join() === state;
    const left = actions.find(isIn("PendingApproval"));
    const action = left ?? (await this.propose());
    await this.approve(action, true);
    for (const committed of actions.filter(isIn("Committed")).slice(0, -1)) await this.undo(committed);
    await this.reject(await this.propose());
    await this.removeFile(shortLived);
    await this.untilHandled();
  }

  /** Resolves when every change of a file has reached the agent, and its memory of it is stored. */
  async untilHandled(): Promise<void> {
    let missing: string[] = [];
    let told: Plan["handled"] = {};
    try {
      await until("every change to be handled", async () => {
        const plan = await this.tool<Plan>("plan");
        told = plan.handled;
        missing = this.witness.unhandled(plan);
        return missing.length === 0;
      });
    } catch (error) {
      if (error instanceof Died) throw error;
      const { items } = await this.ask<{ items: Entry[] }>("lares/entries/query", {
        path: `${EVENTS_FOLDER}/**`,
      });
      const facts = missing.map((path) => {
        const indexed = items.find((entry) => entry.path === path)?.size ?? "nothing";
        return `${path}: written ${this.witness.files.get(path)}, indexed ${indexed}, handled ${told[path] ?? "never"}`;
      });
      const traces = await this.ask<{ message: string }[]>("lares/traces/query", {
        level: "warn",
        limit: 20,
      });
      const said = traces.map(({ message }) => message).join(" | ");
      throw new Error(`never handled: ${facts.join("; ")}. Traces: ${said}`, { cause: error });
    }
  }

  /** Resolves when nothing is left to be done for now. */
  async settled(): Promise<void> {
    await until("the kernel to rest", async () => (await this.ask<{ idle?: boolean }>("lares/status")).idle);
  }

  /** Compares the current kernel with everything that was acknowledged before. */
  async check(): Promise<void> {
    const { witness, bench } = this;
    const { stateFolder } = await this.status();
    await this.read("a kernel at rest", () => this.settled());
    witness.checkNotes(await this.plan());
    await this.checkMemories();
    await this.read("every change to be handled", () => this.untilHandled());
    const verdict = await this.read("the journal's proof", () =>
      this.ask<object>("lares/memory/verify", { agent: WORKER }),
    );
    expect(verdict).toMatchObject({ ok: true });
    const listed = await this.read("all actions", () =>
      this.ask<Action[]>("lares/actions/list", { limit: 1000 }),
    );
    expect(listed.filter(({ state }) => ["Approved", "Committing"].includes(state))).toEqual([]);
    const folders = witness.actions.map(({ folder }) => `${folder}/**`);
    const { items } = await this.read("the entries", () =>
      this.ask<{ items: Entry[] }>("lares/entries/query", {
        path: `{nothing,${folders.join(",")}}`,
        limit: 1000,
      }),
    );
    await witness.checkActions(bench.root, listed, items);
    await witness.checkState(stateFolder);
    await witness.checkWorkspace(bench.root);
    witness.retire(["absent", "Failed", "Rejected", "Undone"]);
  }
}
