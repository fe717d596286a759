import { isoTime, type Clock } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { illegalTransition, limitExceeded, messageOf, notFound } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { canonicalJson } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { ApprovalRule, RememberedRule } from "../base/vocabulary/approval-rule.ts";
import type { Ask } from "../base/vocabulary/ask.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import {
  decode,
  emptyFile,
  heading,
  isSameText,
  kept,
  withoutBehaviours,
  type Acceptance,
  type DecisionsFile,
  type DecisionsText,
  type KeptSources,
} from "./file-format.ts";
import { answered, type Answer } from "./parts.ts";
import { nothingRequested, type AcceptedRequests } from "./requested-permissions.ts";
import { answerDecision, groupRules, ruleOf, type RuleDecision } from "./rule-decisions.ts";

/** The number of acceptances that are kept; the oldest are dropped first, and the person is asked again. */
const acceptancesKept = 50;
/** The number of rules from "always" that are kept; further ones are refused until the person removes some. */
const rememberedRulesKept = 5_000;
/** The number of answers from "always" that are kept; further ones are refused until the person removes some. */
const answersKept = 1_000;
/** The number of rules kept in memory until the last client disconnects; further ones are refused. */
const sessionRulesKept = 1_000;

/** What an answer is about: it counts for this agent, or for every agent where none is named. */
interface AnswerSubject {
  readonly kind: Ask["kind"];
  readonly agent?: string;
  readonly about: string;
}

interface DecisionStorePorts {
  readonly clock: Clock;
  readonly log: Log;
  read(): Promise<DecisionsText>;
  write(text: string): Promise<void>;
  /** Moves an invalid file out of the way and returns its new name. */
  setAside(): Promise<string>;
  parse(text: string): unknown;
  stringify(value: unknown): string;
  /** Returns the lines, counted from 1, on which the items of `rules` begin. */
  ruleLines(text: string): readonly number[];
  /** Returns a short text that identifies the given text. */
  digest(text: string): string;
}

/** Stores the person's decisions for one workspace. */
export class DecisionStore {
  readonly changed = new Emitter<void>();
  /** Emitted when the list of decisions changed. */
  readonly rulesChanged = new Emitter<void>();
  readonly #ports: DecisionStorePorts;
  #file: DecisionsFile = emptyFile;
  /** The decisions of `#file`, and those that end with the session. */
  #decisions: readonly RuleDecision[] = [];
  #rules: readonly ApprovalRule[] = [];
  #byRule: ReadonlyMap<string, RuleDecision> = new Map();
  #session: readonly RuleDecision[] = [];
  #isSessionOpen = false;
  #lines: { readonly text: string; readonly lines: readonly number[] } | null = null;
  #writing: Promise<unknown> = Promise.resolve();
  #lastText: string | null = null;
  /** True if the decisions in force could not be written to disk. */
  #isUnwritten = false;

  constructor(ports: DecisionStorePorts) {
    this.#ports = ports;
  }

  /**
   * Loads the file: at start, and after a person edited it. A text that is not the file's any more is dropped: it was
   * read before a decision was written, and would make the store forget it.
   */
  async load(settled?: DecisionsText): Promise<void> {
    await this.#inTurn(async () => {
      const text = await this.#ports.read();
      if (settled !== undefined && !isSameText(text, settled)) return;
      if (text === null || text === this.#lastText) return;
      try {
        this.#takeText(text);
      } catch (error) {
        const name = await this.#ports.setAside();
        this.#ports.log.error(
          `decisions.yaml cannot be read (${messageOf(error)}); it is kept as ${name}, and every request is asked again.`,
        );
        this.#lastText = null;
        this.#take(emptyFile);
      }
      this.changed.emit();
    });
  }

  /** True if the person has granted everything that the digest stands for. */
  isAccepted(digest: Hash): boolean {
    return this.#file.trust.some(
      (acceptance) => acceptance.digest === digest && acceptance.withheld === undefined,
    );
  }

  /** True if the person has answered what the digest stands for, by granting or withholding. */
  isAnswered(digest: Hash): boolean {
    return this.#file.trust.some((acceptance) => acceptance.digest === digest);
  }

  /** What the person's last answer granted. */
  get accepted(): AcceptedRequests {
    return this.#current?.wishes ?? nothingRequested;
  }

  /** What the person's last answer granted or withheld. */
  get answered(): AcceptedRequests {
    return answered(this.accepted, this.#current?.withheld ?? null);
  }

  /**
   * Extensions that the person withheld as a whole. They stay withheld, even if they change, until the person grants
   * them: a change in a program that does not run does not cause a new question.
   */
  get declined(): ReadonlySet<string> {
    const withheld = Object.keys(this.#current?.withheld?.extensions ?? {});
    return new Set(withheld.filter((id) => !Object.hasOwn(this.accepted.extensions, id)));
  }

  /** The time of the person's last answer, ISO 8601; null if there is no answer. */
  get since(): string | null {
    return this.#current?.accepted ?? null;
  }

  get #current(): Acceptance | undefined {
    return this.#file.trust.find(({ digest }) => digest === this.#file.current);
  }

  /** All rules in force. Returns the same array of the same rules as long as none of them changes. */
  get rules(): readonly ApprovalRule[] {
    return this.#rules;
  }

  /** All decisions, newest first; those written by hand have no time and come last. */
  get decisions(): readonly RuleDecision[] {
    return [...this.#session, ...this.#decisions].toSorted((a, b) =>
      (b.created ?? "").localeCompare(a.created ?? "", "en"),
    );
  }

  /** Returns the decision that a rule belongs to; null if there is none, or no longer one. */
  decisionOf(rule: ApprovalRule): RuleDecision | null {
    return this.#byRule.get(canonicalJson(rule)) ?? null;
  }

  /**
   * Returns the line of `decisions.yaml` on which a decision begins, counted from 1; null if it is not in the file.
   */
  lineOf({ index }: RuleDecision): number | null {
    const text = this.#lastText;
    if (text === null || index === null) return null;
    if (this.#lines?.text !== text) this.#lines = { text, lines: this.#ports.ruleLines(text) };
    return this.#lines.lines[index] ?? null;
  }

  /** Returns what a person answered with "always" to such a question; null if they did not. */
  answerTo({ kind, agent, about }: AnswerSubject): boolean | null {
    const { answers } = this.#file;
    const found = answers.filter(
      (answer) =>
        answer.kind === kind &&
        answer.about === about &&
        (answer.agent === undefined || answer.agent === agent),
    );
    // As everywhere, what restrains comes first.
    return found.length === 0 ? null : found.every(({ allow }) => allow);
  }

  /** Stores an answer in place of an earlier one to the same question. LimitExceeded. */
  async rememberAnswer(subject: AnswerSubject, allow: boolean): Promise<void> {
    const { kind, agent, about } = subject;
    const answer = {
      id: newId(),
      created: isoTime(this.#ports.clock.now()),
      allow,
      kind,
      ...(agent === undefined ? {} : { agent }),
      about,
    };
    await this.#change((file) => {
      const others = file.answers.filter(
        (each) => each.kind !== kind || each.agent !== agent || each.about !== about,
      );
      checkRoom("rememberedAnswers", others.length + 1, answersKept, "answers");
      return { ...file, answers: [...others, answer] };
    });
  }

  /** Sets the number of trusted clients. When the last one disconnects, the rules of the session end. */
  setTrustedClients(trusted: number): void {
    this.#isSessionOpen = trusted > 0;
    if (this.#isSessionOpen || this.#session.length === 0) return;
    this.#session = [];
    this.#rulesChanged();
  }

  /**
   * Stores an answer to what the digest stands for. An answer that withholds something replaces all others: an earlier
   * acceptance of another version of the documents must not grant again what is withheld now.
   */
  async accept(digest: Hash, { granted, withheld }: Answer, sources: KeptSources = {}): Promise<void> {
    await this.#change((file) => {
      const others = file.trust
        .filter((acceptance) => acceptance.digest !== digest && acceptance.withheld === undefined)
        .map(withoutBehaviours);
      const acceptance: Acceptance = {
        digest,
        accepted: isoTime(this.#ports.clock.now()),
        wishes: kept(granted, sources),
        ...(withheld === null ? {} : { withheld: kept(withheld) }),
      };
      const trust = withheld === null ? [acceptance, ...others] : [acceptance];
      return { ...file, trust: trust.slice(0, acceptancesKept), current: digest };
    });
  }

  /**
   * Revokes every acceptance, so that the next run asks again. If the file cannot be written, this rejects, but the
   * revocation applies all the same until the kernel ends.
   */
  async revoke(): Promise<void> {
    const without = (file: DecisionsFile): DecisionsFile | null =>
      file.trust.length === 0 && file.current === null ? null : { ...file, trust: [], current: null };
    try {
      await this.#change(without);
    } catch (error) {
      this.#take(without(this.#file) ?? this.#file);
      this.#isUnwritten = true;
      this.changed.emit();
      throw error;
    }
  }

  /**
   * Stores these rules as one decision, in addition to existing ones: on disk, or, if a rule says so, until the last
   * client disconnects. LimitExceeded if there are too many; then none of them is stored.
   */
  async remember(rules: readonly RememberedRule[]): Promise<void> {
    const lasting = rules.filter(({ until }) => until === undefined);
    const passing = rules
      .filter(({ until }) => until !== undefined)
      .map(({ until: _until, ...rule }) => rule);
    if (passing.length > 0 && !this.#isSessionOpen)
      throw illegalTransition(
        "closed",
        "The last client has disconnected, so a rule for this session cannot be remembered. Remember it on disk, or connect again.",
      );
    const [id, created] = [newId(), isoTime(this.#ports.clock.now())];
    if (lasting.length > 0)
      await this.#change((file) => {
        const fresh = notIn(lasting, file.rules.map(ruleOf));
        if (fresh.length === 0) return null;
        checkRoom("rememberedRules", file.rules.length + fresh.length, rememberedRulesKept);
        return { ...file, rules: [...file.rules, ...fresh.map((rule) => ({ ...rule, id, created }))] };
      });
    if (passing.length > 0) this.#rememberForSession(passing, id, created);
  }

  #rememberForSession(rules: readonly ApprovalRule[], id: string, created: string): void {
    const known = this.#session.flatMap((decision) => decision.rules);
    const fresh = notIn(rules, known);
    if (fresh.length === 0) return;
    checkRoom("sessionRules", known.length + fresh.length, sessionRulesKept);
    this.#session = [...this.#session, { id, created, rules: fresh, index: null, isSession: true }];
    this.#rulesChanged();
  }

  /**
   * Revokes a decision; it no longer applies once this resolves. NotFound if there is no such decision. If the file
   * cannot be written, this rejects, but a decision that only allows stops applying all the same, until the kernel
   * ends.
   */
  async revokeDecision(id: string): Promise<RuleDecision> {
    const decision = this.decisions.find((candidate) => candidate.id === id);
    if (decision === undefined) throw notFound("decision", id);
    if (decision.isSession) {
      this.#session = this.#session.filter((candidate) => candidate !== decision);
      this.#rulesChanged();
      return decision;
    }
    const without = (file: DecisionsFile): DecisionsFile => {
      // The file may have been edited meanwhile, and a rule written by hand has no id in it.
      const { kept = [] } = this.#grouped(file).find((candidate) => candidate.id === id) ?? {};
      return {
        ...file,
        rules: file.rules.filter((rule) => !kept.includes(rule)),
        answers: file.answers.filter((answer) => answer.id !== id),
      };
    };
    try {
      await this.#change(without);
    } catch (error) {
      const onlyAllows = decision.answer?.allow ?? decision.rules.every(({ decide }) => decide === "allow");
      if (onlyAllows) {
        this.#take(without(this.#file));
        this.#isUnwritten = true;
        this.changed.emit();
      }
      throw error;
    }
    return decision;
  }

  #take(file: DecisionsFile): void {
    const isOther = file.rules !== this.#file.rules || file.answers !== this.#file.answers;
    this.#file = file;
    if (!isOther) return;
    this.#decisions = this.#grouped(file);
    this.#rulesChanged();
  }

  #grouped({ rules, answers }: DecisionsFile): RuleDecision[] {
    return [...groupRules(rules, (text) => this.#ports.digest(text)), ...answers.map(answerDecision)];
  }

  #rulesChanged(): void {
    const all = [...this.#decisions, ...this.#session];
    this.#rules = all.flatMap(({ rules }) => rules);
    // A rule that is in two decisions belongs to the first, as in the file.
    this.#byRule = new Map(
      all
        .toReversed()
        .flatMap((decision) => decision.rules.map((rule) => [canonicalJson(rule), decision] as const)),
    );
    this.rulesChanged.emit();
  }

  #takeText(text: Exclude<DecisionsText, null>): void {
    if (typeof text !== "string") throw new Error(text.unusable);
    const file = decode(this.#ports.parse(text));
    this.#lastText = text;
    this.#take(file);
  }

  /**
   * Applies one change at a time, each to the result of the one before; `changedFrom` returns null if there is nothing
   * to change. A change takes effect once it is on disk, so a decision that could not be written was not made.
   */
  #change(changedFrom: (file: DecisionsFile) => DecisionsFile | null): Promise<void> {
    return this.#inTurn(async () => {
      await this.#takeEdit();
      const next = changedFrom(this.#file) ?? (this.#isUnwritten ? this.#file : null);
      if (next === null) return;
      const text = heading + this.#ports.stringify(next);
      await this.#ports.write(text);
      this.#lastText = text;
      this.#take(next);
      this.#isUnwritten = false;
      this.changed.emit();
    });
  }

  /** Takes an edit by hand that has not settled yet, because writing the file would overwrite it. */
  async #takeEdit(): Promise<void> {
    const text = await this.#ports.read().catch(() => null);
    if (text === null || text === this.#lastText) return;
    try {
      this.#takeText(text);
      this.changed.emit();
    } catch {
      // It is being written or is invalid; once it has settled, `load` says so.
    }
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#writing.then(work);
    this.#writing = turn.catch(() => undefined);
    await turn;
  }
}

function notIn(rules: readonly ApprovalRule[], known: readonly ApprovalRule[]): ApprovalRule[] {
  const keys = new Set(known.map((rule) => canonicalJson(rule)));
  return rules.filter((rule) => !keys.has(canonicalJson(rule)));
}

function checkRoom(limit: string, value: number, most: number, what = "rules"): void {
  if (value <= most) return;
  throw limitExceeded(
    limit,
    value,
    `At most ${most} ${what} are remembered, so this "always" cannot be remembered. Revoke decisions that you no longer need.`,
  );
}
