import type { AgentDefinition } from "../agents/ports.ts";
import { Emitter } from "../base/emitter.ts";
import { invalidParams, LaresError, messageOf, notFound } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { DecisionStore } from "../decisions/store.ts";
import { plainLine } from "../base/plain-text.ts";
import { answerOf, type Grants } from "../decisions/parts.ts";
import { asks } from "../decisions/wishes.ts";
import { brokenDefinition } from "./broken-extensions.ts";
import type { Answers } from "../decisions/question.ts";
import type { TrustProgram, TrustQuestion } from "../protocol/v1/trust.ts";
import type { Observed } from "./observed-files.ts";
import type { Catalog, CatalogEntry, CatalogSnapshot } from "./catalog.ts";
import { definitionsOf, type DefinitionContext } from "./definitions.ts";
import type { NamespaceWish } from "../decisions/namespaces.ts";
import { namespacesInForce } from "./namespaces.ts";
import { computeInForce, configurationInForce, isAnswered, type InForce } from "./in-force.ts";
import type { ProgramSources } from "./program-sources.ts";
import { programChanges, trustQuestion } from "./trust-question.ts";
import type { Configuration } from "../documents/configuration.ts";
import type { ApprovalRule } from "../base/vocabulary/action.ts";
import type { Place } from "../base/vocabulary/common.ts";
import type { Program } from "./programs.ts";

export interface GovernorPorts {
  readonly catalog: Catalog;
  readonly decisions: DecisionStore;
  readonly sources: ProgramSources;
  readonly log: Log;
  readonly context: Omit<DefinitionContext, "namespaces">;
  /** Brings the agents to these definitions. */
  apply(definitions: readonly AgentDefinition[]): Promise<void>;
  /**
   * The folders of the extensions that are read now, and all that was looked at. True where some of it was not watched
   * while it was read.
   */
  watch(extensions: readonly string[], lookedAt: Observed): boolean;
}

/**
 * Holds what the documents say against what the person said, and lets of the one count what the other covers.
 * One reading at a time; all who ask while one is under way get the next, which is one for all of them.
 */
export class Governor {
  readonly changed = new Emitter<void>();
  readonly #ports: GovernorPorts;
  #snapshot: CatalogSnapshot;
  #inForce: InForce;
  #configuration: Configuration;
  #isActive = false;
  #running = new Map<string, CatalogEntry>();
  #rules: Record<"remembered" | "written" | "all", readonly ApprovalRule[]> = {
    remembered: [],
    written: [],
    all: [],
  };
  readonly #programs = new Map<Hash, Program>();
  /** What was asked for last; it ends after everything that was asked for before. */
  #last: Promise<void> = Promise.resolve();
  /** The reading that was asked for and has not begun. */
  #awaited: Promise<void> | undefined;
  /** When what the person decided last counts. */
  #decided: Promise<void> = Promise.resolve();
  /** How many are saying yes just now. */
  #accepting = 0;

  static async open(ports: GovernorPorts): Promise<Governor> {
    return new Governor(ports, await ports.catalog.load(false));
  }

  private constructor(ports: GovernorPorts, snapshot: CatalogSnapshot) {
    this.#ports = ports;
    this.#snapshot = snapshot;
    this.#inForce = computeInForce(snapshot, ports.decisions, this.#running);
    this.#configuration = configurationInForce(snapshot, this.#inForce.wishes);
    // What the person decides changes no document: what was read last counts anew.
    ports.decisions.changed.on(() => {
      this.#decided = this.#inTurn(() => this.#letCount());
      this.#behind(this.#decided);
    });
    this.#take(snapshot);
    this.#weigh();
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

  /** The shared memories there are. */
  get namespaces(): readonly NamespaceWish[] {
    return namespacesInForce(this.#snapshot.ownNamespaces, this.#inForce.wishes.namespaces);
  }

  /**
   * The person's own rules, and the documents' as far as accepted. The same list as long as none of them changed: what is
   * worked out from it is kept with it.
   */
  get rules(): readonly ApprovalRule[] {
    const remembered = this.#ports.decisions.rules;
    const written = this.#configuration.approvals.rules;
    if (this.#rules.remembered !== remembered || this.#rules.written !== written)
      this.#rules = { remembered, written, all: [...remembered, ...written] };
    return this.#rules.all;
  }

  /** The document and line where a rule or setting is written that is in force; null where it is in none. */
  placeOf({
    rule,
    setting,
  }: {
    readonly rule?: ApprovalRule | undefined;
    readonly setting?: string | undefined;
  }): Place | null {
    const { origins, configuration, standing } = this.#snapshot;
    if (rule !== undefined) return origins.all.rule(rule);
    if (setting === undefined) return null;
    // Where the workspace's document asks for more than counts, what counts is the person's own.
    const [inForce, wished, own] = [this.#configuration, configuration, standing].map((each) =>
      settingOf(each, setting),
    );
    return inForce === wished || inForce !== own
      ? origins.all.setting(setting)
      : origins.standing.setting(setting);
  }

  get trust(): { digest: Hash; asks: string[]; pending: string[]; changedPrograms: string[] } {
    return {
      digest: this.#snapshot.digest,
      // Sentences for a person, with words of a document that may be a stranger's.
      asks: asks(this.#snapshot.wishes).map(plainLine),
      pending: this.#inForce.pendingAsks.map(plainLine),
      changedPrograms: [...this.#inForce.changedPrograms],
    };
  }

  /** All agents the documents name, as they are shown while none may run. */
  get definitions(): AgentDefinition[] {
    return [...definitionsOf(this.#snapshot, this.#snapshot.wishes, this.#context), ...this.#broken];
  }

  get #broken(): AgentDefinition[] {
    const { broken, configuration } = this.#snapshot;
    return broken.map((extension) => brokenDefinition(extension, configuration, this.#context));
  }

  /** Every extension's folder is protected, of those too that nobody accepted yet. */
  get #context(): DefinitionContext {
    const { context } = this.#ports;
    const programs = this.#snapshot.entries.flatMap(({ extension }) =>
      context.workspacePaths(extension.folder),
    );
    return {
      ...context,
      namespaces: this.namespaces,
      protectedPaths: [...context.protectedPaths, ...programs],
    };
  }

  programOf({ id, programDigest }: AgentDefinition): Program {
    const program = programDigest === null ? undefined : this.#programs.get(programDigest);
    if (program === undefined) throw new LaresError("AgentError", `The program of ${id} is no longer there.`);
    return program;
  }

  /** The folder of the extension that runs, absolute; null where none does. */
  folderOf(agent: string): string | null {
    return this.#running.get(agent)?.extension.folder ?? null;
  }

  /** Everything that the documents ask for, in parts, each with what the person has said of it. */
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
    const { decisions } = this.#ports;
    const inForce = this.#inForce.wishes;
    // An earlier yes to exactly these documents counts, whatever was answered to others since.
    if (decisions.isAccepted(this.#snapshot.digest)) {
      const { wishes } = this.#snapshot;
      const sources = decisions.accepted.extensions;
      const extensions = Object.fromEntries(
        Object.entries(wishes.extensions).map(([id, { behaviourDigest: _digest, ...wish }]) => [
          id,
          { ...wish, ...(sources[id]?.sources === undefined ? {} : { sources: sources[id].sources }) },
        ]),
      );
      const all = { ...wishes, extensions };
      return { granted: all, answered: all, declined: new Set(), inForce };
    }
    const { accepted: granted, answered, declined } = decisions;
    return { granted, answered, declined, inForce };
  }

  /** True where the person has answered all that the documents wish now. */
  async isAnswered(): Promise<boolean> {
    await this.reload();
    return isAnswered(this.#snapshot, this.#ports.decisions);
  }

  /**
   * The person says yes to what `digest` stands for, or to whatever is there now: to the parts that `grants` names, or to
   * all of it.
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
    // One reading: what is granted is of the documents whose digest is compared.
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
        ? { granted: snapshot.wishes, withheld: null }
        : answerOf(snapshot.wishes, grants, this.#inForce.wishes);
    const { sources, decisions, log } = this.#ports;
    const accepted = snapshot.entries.filter(({ id }) => Object.hasOwn(answer.granted.extensions, id));
    const kept = await sources.keep(accepted);
    await this.#decide((store) => store.accept(snapshot.digest, answer, kept));
    await sources
      .sweep(decisions.accepted)
      .catch((error: unknown) => log.warn(`Old sources could not be removed: ${messageOf(error)}`));
  }

  /** Takes it back, also where that cannot be written down; then it rejects. */
  async revoke(): Promise<void> {
    await this.#decide((decisions) => decisions.revoke());
  }

  /** Lets agents run, or takes them all back. */
  async activate(isActive: boolean): Promise<void> {
    if (this.#isActive === isActive) return;
    this.#isActive = isActive;
    // What was read for a yes a moment ago is not read again: what has changed since is watched. Which reading was
    // the last is known when it is this one's turn.
    await this.#inTurn(() =>
      this.#isActive && !this.#snapshot.isLookedInto ? this.#read() : this.#letCount(),
    );
  }

  reloadBehind(): void {
    this.#behind(this.reload());
  }

  /** Reads everything again and lets it count. */
  reload(): Promise<void> {
    this.#awaited ??= this.#inTurn(() => {
      this.#awaited = undefined;
      return this.#read();
    });
    return this.#awaited;
  }

  async #read(): Promise<void> {
    const snapshot = await this.#ports.catalog.load(this.#isActive || this.#accepting > 0);
    // Half-typed: what was read last goes on until the document can be read again.
    this.#take(
      snapshot.isReadable
        ? snapshot
        : { ...this.#snapshot, faults: snapshot.faults, lookedAt: snapshot.lookedAt },
    );
    await this.#letCount();
  }

  /** Resolves once it counts; where it changed nothing there is nothing to wait for, and no earlier fault to tell. */
  async #decide(decision: (decisions: DecisionStore) => Promise<void>): Promise<void> {
    const before = this.#decided;
    await decision(this.#ports.decisions);
    if (this.#decided !== before) await this.#decided;
  }

  /** Does this after all that was asked for before, however that ended. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work, work);
    return this.#last;
  }

  #behind(work: Promise<void>): void {
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
    const isMore = this.#ports.watch(
      snapshot.entries.map(({ extension }) => extension.folder),
      snapshot.lookedAt,
    );
    // The first reading is followed by another with each session that begins.
    if (isMore && !isFirst) this.reloadBehind();
  }

  /** Holds what was read last against what the person has decided by now, and brings the agents to it. */
  async #letCount(): Promise<void> {
    this.#weigh();
    await this.#ports.apply(this.#isActive ? this.#runnable() : []);
    this.changed.emit();
  }

  #weigh(): void {
    this.#inForce = computeInForce(this.#snapshot, this.#ports.decisions, this.#running);
    this.#configuration = configurationInForce(this.#snapshot, this.#inForce.wishes);
    // A program that cannot be prepared replaces none: the accepted one stays at hand.
    const before = this.#running;
    const atHand = (entry: CatalogEntry): CatalogEntry =>
      entry.program.program === null ? (before.get(entry.id) ?? entry) : entry;
    this.#running = new Map(this.#inForce.entries.map((entry) => [entry.id, atHand(entry)]));
    this.#programs.clear();
    for (const { program } of this.#inForce.entries) {
      if (program.program !== null) this.#programs.set(program.program.digest, program.program);
    }
  }

  #runnable(): AgentDefinition[] {
    const { snapshot, configuration } = this;
    const accepted = definitionsOf(
      { entries: this.#inForce.entries, configuration },
      this.#inForce.wishes,
      this.#context,
    );
    // Shown, so that the person sees why it does nothing; never started.
    const waiting = definitionsOf(
      { entries: this.#inForce.waiting, configuration },
      snapshot.wishes,
      this.#context,
    ).map((definition): AgentDefinition => ({
      ...definition,
      authority: { ...definition.authority, effective: {}, locations: [], namespaces: {} },
      programDigest: null,
      // Nothing is kept for it meanwhile: what is there it is shown once it may look.
      hooks: definition.hooks.map((hook) => ({ ...hook, accepts: () => ({ passed: false }) })),
      fault: this.#ports.decisions.declined.has(definition.id)
        ? "You have not allowed it. You can allow it, or parts of what it asks for, at any time."
        : "It waits for a person to accept what it asks for, or its changed program.",
      awaiting: "acceptance",
    }));
    return [...accepted, ...waiting, ...this.#broken];
  }
}

function settingOf({ approvals }: Configuration, name: string): number | undefined {
  if (name === "approvals.auto_approve_below") return approvals.autoApproveBelow;
  if (name === "approvals.expire_after") return approvals.expireAfterMs;
  return undefined;
}
