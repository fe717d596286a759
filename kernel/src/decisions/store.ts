import { isoTime, type Clock } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { messageOf } from "../base/errors.ts";
import { canonicalJson, isJsonObject } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { ApprovalRule } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { noWishes, type Wishes } from "./wishes.ts";

/** Acceptances remembered; the oldest are forgotten first and asked again. */
export const acceptancesKept = 50;
/** Rules from "always" kept; one more is refused until the person tidies up. */
export const rememberedRulesKept = 5_000;

export interface Acceptance {
  readonly digest: Hash;
  readonly accepted: string;
  readonly wishes: Wishes;
}

interface DecisionsFile {
  version: 1;
  trust: Acceptance[];
  /** The digest that was revoked last, or accepted and is in force. */
  current: Hash | null;
  rules: ApprovalRule[];
}

export interface DecisionStorePorts {
  readonly clock: Clock;
  readonly log: Log;
  read(): Promise<string | null>;
  write(text: string): Promise<void>;
  /** Moves a file that cannot be believed out of the way; answers its new name. */
  setAside(): Promise<string>;
  parse(text: string): unknown;
  stringify(value: unknown): string;
}

const heading = `# What you decided for this workspace. Lares writes it; you may edit it, and what you save counts at once.
# trust: documents you accepted, by digest. current: the one in force. rules: what you answered with "always".
`;

/** The person's decisions for one workspace. */
export class DecisionStore {
  readonly changed = new Emitter<void>();
  readonly #ports: DecisionStorePorts;
  #file: DecisionsFile = { version: 1, trust: [], current: null, rules: [] };
  #writing: Promise<void> = Promise.resolve();
  #lastText = "";

  constructor(ports: DecisionStorePorts) {
    this.#ports = ports;
  }

  /** Reads the file; also after somebody edited it. */
  async load(): Promise<void> {
    const text = await this.#ports.read();
    if (text === null || text === this.#lastText) return;
    try {
      this.#file = decode(this.#ports.parse(text));
      this.#lastText = text;
    } catch (error) {
      const name = await this.#ports.setAside();
      this.#ports.log.error(
        `decisions.yaml cannot be read (${messageOf(error)}); it is kept as ${name}, and everything is asked again.`,
      );
      this.#file = { version: 1, trust: [], current: null, rules: [] };
    }
    this.changed.emit();
  }

  isAccepted(digest: Hash): boolean {
    return this.#file.trust.some((acceptance) => acceptance.digest === digest);
  }

  /** What the person's last acceptance covers. */
  get accepted(): Wishes {
    return this.#file.trust.find(({ digest }) => digest === this.#file.current)?.wishes ?? noWishes;
  }

  get rules(): readonly ApprovalRule[] {
    return this.#file.rules;
  }

  async accept(digest: Hash, wishes: Wishes): Promise<void> {
    const others = this.#file.trust.filter((acceptance) => acceptance.digest !== digest);
    const acceptance = { digest, accepted: isoTime(this.#ports.clock.now()), wishes };
    this.#file.trust = [acceptance, ...others].slice(0, acceptancesKept);
    this.#file.current = digest;
    await this.#store();
  }

  /** Takes back every acceptance: the next run asks again. */
  async revoke(): Promise<void> {
    if (this.#file.trust.length === 0 && this.#file.current === null) return;
    this.#file.trust = [];
    this.#file.current = null;
    await this.#store();
  }

  async remember(rules: readonly ApprovalRule[]): Promise<void> {
    const known = new Set(this.#file.rules.map((rule) => canonicalJson(rule)));
    const fresh = rules.filter((rule) => !known.has(canonicalJson(rule)));
    if (fresh.length === 0) return;
    if (this.#file.rules.length + fresh.length > rememberedRulesKept) {
      this.#ports.log.warn(
        `decisions.yaml holds ${this.#file.rules.length} rules; "always" is not remembered until some are removed.`,
      );
      return;
    }
    this.#file.rules = [...this.#file.rules, ...fresh];
    await this.#store();
  }

  /** One write at a time, each with the newest state; resolves when it is on disk. */
  async #store(): Promise<void> {
    const write = this.#writing.then(async () => {
      const text = heading + this.#ports.stringify(this.#file);
      this.#lastText = text;
      await this.#ports.write(text);
    });
    this.#writing = write.catch(() => undefined);
    await write;
    this.changed.emit();
  }
}

function decode(value: unknown): DecisionsFile {
  if (!isJsonObject(value) || value["version"] !== 1) throw new Error("it is no decisions file of version 1");
  const trust = value["trust"] ?? [];
  const rules = value["rules"] ?? [];
  const current = value["current"] ?? null;
  if (!Array.isArray(trust) || !trust.every(isAcceptance))
    throw new Error("`trust` is no list of acceptances");
  if (!Array.isArray(rules) || !rules.every(isRule)) throw new Error("`rules` is no list of rules");
  if (current !== null && typeof current !== "string") throw new Error("`current` is no digest");
  return { version: 1, trust, current: current as Hash | null, rules };
}

function isAcceptance(value: unknown): value is Acceptance {
  if (!isJsonObject(value)) return false;
  const { wishes } = value;
  return (
    typeof value["digest"] === "string" &&
    isJsonObject(wishes) &&
    isJsonObject(wishes["extensions"]) &&
    Object.values(wishes["extensions"]).every(
      (wish) => isJsonObject(wish) && isJsonObject(wish["permissions"]) && Array.isArray(wish["locations"]),
    ) &&
    Array.isArray(wishes["allowRules"]) &&
    wishes["allowRules"].every(isRule) &&
    typeof wishes["autoApproveBelow"] === "number" &&
    isJsonObject(wishes["limits"]) &&
    Object.values(wishes["limits"]).every((value) => typeof value === "number") &&
    typeof wishes["showsHidden"] === "boolean" &&
    Array.isArray(wishes["restraints"]) &&
    wishes["restraints"].every(isRestraint)
  );
}

function isRestraint(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  return value["kind"] === "ignore"
    ? typeof value["glob"] === "string"
    : value["kind"] === "rule" && isRule(value["rule"]);
}

function isRule(value: unknown): value is ApprovalRule {
  if (!isJsonObject(value)) return false;
  const isText = (field: unknown): boolean => field === undefined || typeof field === "string";
  return (
    ["deny", "ask", "allow"].includes(String(value["decide"])) &&
    isText(value["agent"]) &&
    isText(value["kind"]) &&
    isText(value["path"])
  );
}
