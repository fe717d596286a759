import type { AgentDefinition } from "../base/vocabulary/agent-definition.ts";
import { Emitter } from "../base/emitter.ts";
import { invalidParams, LaresError, messageOf, notFound } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { DecisionStore } from "../decisions/store.ts";
import { answerOf, type Grants } from "../decisions/parts.ts";
import type { Answers } from "../decisions/question.ts";
import type { TrustProgram, TrustQuestion } from "../base/vocabulary/trust.ts";
import type { PathWatch } from "../platform/files/path-watch.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogEntry, CatalogSnapshot } from "./catalog-snapshot.ts";
import { agentsInForce, namedAgents } from "./agents-in-force.ts";
import type { DefinitionContext } from "./definition-context.ts";
import { ReadingQueue } from "./reading-queue.ts";
import { placeInForce, type RuleOrSetting } from "./setting-origins.ts";
import type { RequestedNamespace } from "../decisions/namespaces.ts";
import { namespacesInForce } from "./namespaces.ts";
import { computeInForce, isAnswered, trustState, type InForce, type TrustState } from "./in-force.ts";
import { configurationInForce } from "./settings-in-force.ts";
import { extensionFolders } from "./protected-folders.ts";
import type { ProgramSources } from "./program-sources.ts";
import { answersOf, programChanges, trustQuestion } from "./trust-question.ts";
import type { Configuration } from "../documents/configuration.ts";
import type { ApprovalRule } from "../base/vocabulary/approval-rule.ts";
import type { Place } from "../base/vocabulary/common.ts";
import type { Program } from "./programs.ts";

interface ConfigurationPorts {
  readonly catalog: Catalog;
  readonly decisions: DecisionStore;
  readonly sources: ProgramSources;
  readonly log: Log;
  readonly context: Omit<DefinitionContext, "namespaces">;
  readonly watch: Pick<PathWatch, "watch" | "changed">;
}

/** How long a document may be missing or blank before it counts as such: on a busy machine its writer may be slow. */
const emptyRestMs = 2000;

/** Runs the agents of a configuration. */
interface AgentRunner {
  /** Brings the agents to these definitions. Null pauses all of them and keeps their events. */
  apply(definitions: readonly AgentDefinition[] | null): Promise<void>;
}

/**
 * Applies the parts of the documents that the user has accepted, and watches documents and decisions. Only one
 * reading runs at a time; callers that request one meanwhile share the next.
 */
export class ConfigurationManager {
  readonly changed = new Emitter<void>();
  readonly #ports: ConfigurationPorts;
  #snapshot: CatalogSnapshot;
  #inForce: InForce;
  #trustOf: {
    readonly snapshot: CatalogSnapshot;
    readonly inForce: InForce;
    readonly trust: TrustState;
  } | null = null;
  #configuration: Configuration;
  /** The runner of the agents; null until they are started for the first time. */
  #agents: AgentRunner | null = null;
  #isActive = false;
  #running = new Map<string, CatalogEntry>();
  #rules: Record<"remembered" | "written" | "all", readonly ApprovalRule[]> = {
    remembered: [],
    written: [],
    all: [],
  };
  readonly #programs = new Map<Hash, Program>();
  readonly #queue = new ReadingQueue();
  /** Resolves when the person's last decision is applied. */
  #decided: Promise<void> = Promise.resolve();
  /** Monotonic time since which documents that had a text are missing or blank; null if none is. */
  #emptySince: number | null = null;
  /** Number of `accept` calls that are reading the documents now. */
  #accepting = 0;

  static async open(ports: ConfigurationPorts): Promise<ConfigurationManager> {
    return new ConfigurationManager(ports, await ports.catalog.load(false));
  }

  private constructor(ports: ConfigurationPorts, snapshot: CatalogSnapshot) {
    this.#ports = ports;
    this.#snapshot = snapshot;
    this.#inForce = computeInForce(snapshot, ports.decisions, this.#running);
    this.#configuration = configurationInForce(snapshot, this.#inForce.requests);
    // A decision changes no document: the last snapshot is applied again.
    ports.decisions.changed.on(() => {
      this.#decided = this.#queue.run(() => this.#apply());
      this.#inBackground(this.#decided);
    });
    ports.watch.changed.on(() => this.reloadInBackground());
    this.#take(snapshot);
    this.#recompute();
  }

  get snapshot(): CatalogSnapshot {
    return this.#snapshot;
  }

  get inForce(): InForce {
    return this.#inForce;
  }

  get configuration(): Configuration {
    return this.#configuration;
  }

  /** The shared memories in force. */
  get namespaces(): readonly RequestedNamespace[] {
    return namespacesInForce(this.#snapshot.ownNamespaces, this.#inForce.requests.namespaces);
  }

  /**
   * The user's own rules and those of the accepted documents. The list is the same object until a rule changes, so
   * that callers can cache what they compute from it.
   */
  get rules(): readonly ApprovalRule[] {
    const remembered = this.#ports.decisions.rules;
    const written = this.#configuration.approvals.rules;
    if (this.#rules.remembered !== remembered || this.#rules.written !== written)
      this.#rules = { remembered, written, all: [...remembered, ...written] };
    return this.#rules.all;
  }

  /** Returns the document and line of a rule or setting in force; null if no document contains it. */
  placeOf(what: RuleOrSetting): Place | null {
    return placeInForce(this.#snapshot, this.#configuration, what);
  }

  /** Computed once for each reading and decision: clients ask for it far more often than it changes. */
  get trust(): TrustState {
    const of = this.#trustOf;
    if (of?.snapshot === this.#snapshot && of.inForce === this.#inForce) return of.trust;
    const [snapshot, inForce] = [this.#snapshot, this.#inForce];
    const trust = trustState(snapshot, inForce);
    this.#trustOf = { snapshot, inForce, trust };
    return trust;
  }

  /** Returns all agents that the documents name, for display while none may run. */
  get definitions(): AgentDefinition[] {
    return namedAgents(this.#snapshot, this.#context);
  }

  #runnable(): AgentDefinition[] {
    const { configuration } = this;
    const { declined } = this.#ports.decisions;
    return agentsInForce(this.#snapshot, { ...this.#inForce, configuration, declined }, this.#context);
  }

  /** Protects every extension's folder, including those of extensions that are not accepted yet. */
  get #context(): DefinitionContext {
    const { context } = this.#ports;
    return {
      ...context,
      namespaces: this.namespaces,
      protectedPaths: [
        ...context.protectedPaths,
        ...extensionFolders(this.#snapshot.entries, context.workspacePaths),
      ],
    };
  }

  programOf({ id, bundleDigest }: AgentDefinition): Program {
    const program = bundleDigest === null ? undefined : this.#programs.get(bundleDigest);
    if (program === undefined) throw new LaresError("AgentError", `The program of ${id} is no longer there.`);
    return program;
  }

  /** Returns the absolute folder of the extension that runs; null if it does not run. */
  folderOf(agent: string): string | null {
    return this.#running.get(agent)?.extension.folder ?? null;
  }

  /** Returns everything that the documents request, in parts, each with the user's answer. */
  question(): Promise<Omit<TrustQuestion, "trusted">> {
    const { decisions, sources } = this.#ports;
    const isNowAnswered = isAnswered(this.#snapshot, decisions);
    return trustQuestion(
      this.#snapshot,
      { ...this.#answers, isAnswered: isNowAnswered, since: decisions.since },
      sources,
    );
  }

  /** Returns what changed in an extension's program since it was accepted. NotFound if there is no such extension. */
  async programChanges(extension: string, path?: string): Promise<TrustProgram> {
    const changes = await programChanges(this.#snapshot, extension, path, this.#answers, this.#ports.sources);
    if (changes === null) throw notFound("extension", extension);
    return changes;
  }

  get #answers(): Answers {
    return answersOf(this.#snapshot, this.#inForce.requests, this.#ports.decisions);
  }

  /** Reads the documents again and returns whether the user has answered all current requests. */
  async reloadAndCheckAnswered(): Promise<boolean> {
    await this.reload();
    return isAnswered(this.#snapshot, this.#ports.decisions);
  }

  /**
   * Accepts the documents with this digest, or the current ones if it is absent: the parts that `grants` names, or
   * all. Rejects with DigestMismatch if the documents have changed.
   */
  async accept(digest?: Hash, grants?: Grants): Promise<void> {
    if (grants !== undefined && digest === undefined)
      throw invalidParams('"grants" needs the "digest" of the question that was shown.', { path: "digest" });
    this.#accepting += 1;
    try {
      await this.reload();
    } finally {
      this.#accepting -= 1;
    }
    // Stored in a variable, so that the granted documents are those whose digest is compared.
    const snapshot = this.#snapshot;
    if (digest !== undefined && digest !== snapshot.digest) {
      throw new LaresError(
        "DigestMismatch",
        "The workspace's documents have changed since they were shown; look at them again.",
        {
          digest: snapshot.digest,
        },
      );
    }
    const answer =
      grants === undefined
        ? { granted: snapshot.requests, withheld: null }
        : answerOf(snapshot.requests, grants, this.#inForce.requests);
    const { sources, decisions, log } = this.#ports;
    const accepted = snapshot.entries.filter(({ id }) => Object.hasOwn(answer.granted.extensions, id));
    const kept = await sources.keep(accepted);
    await this.#decide((store) => store.accept(snapshot.digest, answer, kept));
    await sources
      .sweep(decisions.accepted)
      .catch((error: unknown) => log.warn(`Old sources could not be removed: ${messageOf(error)}`));
  }

  /** Withdraws the user's consent. The withdrawal is in force even if it rejects because it could not be stored. */
  async revoke(): Promise<void> {
    await this.#decide((decisions) => decisions.revoke());
  }

  /** Reads what is accepted, if necessary, and lets its agents run. */
  async start(agents: AgentRunner): Promise<void> {
    this.#agents = agents;
    await this.#setActive(true);
  }

  /** Stops all agents. Changes of the documents are still watched. */
  async pause(): Promise<void> {
    await this.#setActive(false);
  }

  async #setActive(isActive: boolean): Promise<void> {
    if (this.#isActive === isActive) return;
    this.#isActive = isActive;
    // A snapshot that was read for a consent is not read again, because later changes are watched. The check
    // happens when this reading's turn comes, because another reading may precede it.
    await this.#queue.run(() =>
      this.#isActive && !this.#snapshot.hasCheckedModules ? this.#read() : this.#apply(),
    );
  }

  reloadInBackground(): void {
    this.#inBackground(this.reload());
  }

  /** Reads everything again and applies it. */
  reload(): Promise<void> {
    return this.#queue.runShared(() => this.#read());
  }

  async #read(): Promise<void> {
    const snapshot = await this.#ports.catalog.load(this.#isActive || this.#accepting > 0);
    if (this.#isBeingWritten(snapshot)) return;
    // The document is incomplete: the last snapshot stays in force until it can be read again.
    this.#take(
      snapshot.isReadable
        ? snapshot
        : { ...this.#snapshot, faults: snapshot.faults, lookedAt: snapshot.lookedAt },
    );
    await this.#apply();
  }

  /**
   * Many programs write a file by emptying it first or by moving the old one away. A document that had a text and
   * is now missing or blank is therefore treated as unchanged for a while; the write that fills it is noticed like
   * any other change.
   */
  #isBeingWritten(snapshot: CatalogSnapshot): boolean {
    const { written } = this.#snapshot.lookedAt;
    const { clock } = this.#ports.context;
    const isEmptied = [...snapshot.lookedAt.unwritten].some((path) => written.has(path));
    // Programs that were only read do not run.
    const isUsable = this.#snapshot.hasCheckedModules || !snapshot.hasCheckedModules;
    if (!isEmptied || !isUsable) {
      this.#emptySince = null;
      return false;
    }
    if (this.#emptySince === null) {
      this.#emptySince = clock.monotonic();
      clock.timer(emptyRestMs, () => this.reloadInBackground());
    }
    if (clock.monotonic() - this.#emptySince < emptyRestMs) return true;
    this.#emptySince = null;
    return false;
  }

  /** Resolves once the decision is applied. A decision that changed nothing does not report an earlier error. */
  async #decide(decision: (decisions: DecisionStore) => Promise<void>): Promise<void> {
    const before = this.#decided;
    await decision(this.#ports.decisions);
    if (this.#decided !== before) await this.#decided;
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) =>
      this.#ports.log.error(`The documents could not be read: ${messageOf(error)}`),
    );
  }

  #take(snapshot: CatalogSnapshot): void {
    const isFirst = this.#snapshot === snapshot;
    for (const fault of snapshot.faults) {
      if (!this.#snapshot.faults.includes(fault) || isFirst) this.#ports.log.warn(fault);
    }
    this.#snapshot = snapshot;
    const { paths, listed } = snapshot.lookedAt;
    const trees = snapshot.entries.map(({ extension }) => extension.folder);
    const isMore = this.#ports.watch.watch({ paths, listed, trees });
    // The first reading is followed by another when a session begins.
    if (isMore && !isFirst) this.reloadInBackground();
  }

  /** Computes what is in force from the last snapshot and the user's decisions, and updates the agents. */
  async #apply(): Promise<void> {
    this.#recompute();
    await this.#agents?.apply(this.#isActive ? this.#runnable() : null);
    this.changed.emit();
  }

  #recompute(): void {
    this.#inForce = computeInForce(this.#snapshot, this.#ports.decisions, this.#running);
    this.#configuration = configurationInForce(this.#snapshot, this.#inForce.requests);
    // If a program cannot be prepared, the accepted one continues to run.
    const before = this.#running;
    const atHand = (entry: CatalogEntry): CatalogEntry =>
      entry.program.program === null ? (before.get(entry.id) ?? entry) : entry;
    this.#running = new Map(this.#inForce.entries.map((entry) => [entry.id, atHand(entry)]));
    this.#programs.clear();
    for (const { program } of this.#inForce.entries) {
      if (program.program !== null && program.program.kind !== "mind")
        this.#programs.set(program.program.digest, program.program);
    }
  }
}
