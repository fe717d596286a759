import { isoTime, type Clock } from "../base/clock.ts";
import { Emitter } from "../base/emitter.ts";
import { limitExceeded, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { AgentDefinition, HookDefinition } from "../base/vocabulary/agent-definition.ts";
import { type MadeSchedule, type MadeScheduleRows, madeHandler } from "../base/vocabulary/made-schedule.ts";
import { textRemover } from "../base/without-texts.ts";

interface MadeSchedulesPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly rows: MadeScheduleRows;
  /** Returns the hook that it is once it was accepted. InvalidParams, with the reason, if there is no such time. */
  hookOf(schedule: MadeSchedule): HookDefinition;
  /** Returns whether a person accepts it. Rejects with the signal's reason. */
  ask(schedule: MadeSchedule, signal: AbortSignal): Promise<boolean>;
}

/** Runs agents by their definitions. */
interface Runner {
  /** See the registry of agents; null while none runs. */
  apply(definitions: readonly AgentDefinition[] | null): Promise<void>;
}

/** Accepted schedules and proposed ones of one agent. */
const maxPerAgent = 32;

/**
 * The schedules that minds made. Each is proposed, and a person is asked with its whole prompt; once accepted it is a
 * hook of its agent like those of the manifest. Proposals and accepted ones outlive the kernel: what was not answered is
 * asked again by the next one.
 */
export class MadeSchedules {
  /** Emitted when a person has decided, or nobody did in time. */
  readonly decided = new Emitter<{ readonly schedule: MadeSchedule; readonly isAccepted: boolean }>();
  /** Emitted when one begins or ends to run the agent. */
  readonly changed = new Emitter<void>();
  readonly #ports: MadeSchedulesPorts;
  readonly #schedules: Map<string, MadeSchedule>;
  readonly #asking = new Map<string, AbortController>();
  #runner: Runner | null = null;
  #definitions: readonly AgentDefinition[] | null = null;
  #turn: Promise<void> = Promise.resolve();

  private constructor(ports: MadeSchedulesPorts, known: readonly MadeSchedule[]) {
    this.#ports = ports;
    this.#schedules = new Map(known.map((schedule) => [schedule.id, schedule]));
  }

  static async open(ports: MadeSchedulesPorts): Promise<MadeSchedules> {
    return new MadeSchedules(ports, await ports.rows.all());
  }

  /** Returns a runner that adds the accepted schedules to the definitions it is given. */
  before(runner: Runner): Runner {
    this.#runner = runner;
    return {
      apply: (definitions) => {
        this.#definitions = definitions;
        return this.#apply();
      },
    };
  }

  /** Asks about the proposals that no person has answered yet. */
  start(): void {
    for (const schedule of this.#schedules.values())
      if (schedule.state === "proposed" && !this.#asking.has(schedule.id)) this.#ask(schedule);
  }

  /** The schedules of an agent, proposed and accepted; oldest first. */
  of(agent: string): MadeSchedule[] {
    return [...this.#schedules.values()].filter((schedule) => schedule.agent === agent);
  }

  /** The schedules that a person accepted; oldest first. */
  get accepted(): MadeSchedule[] {
    return [...this.#schedules.values()].filter(({ state }) => state === "accepted");
  }

  /**
   * Proposes a schedule; the person is asked meanwhile. Resolves once it is on the disk. The same one again changes nothing.
   * InvalidParams if there is no such time; LimitExceeded.
   */
  async propose(proposal: Omit<MadeSchedule, "state" | "created">): Promise<MadeSchedule> {
    const known = this.#schedules.get(proposal.id);
    if (known !== undefined) return known;
    const schedule: MadeSchedule = {
      ...proposal,
      state: "proposed",
      created: isoTime(this.#ports.clock.now()),
    };
    this.#ports.hookOf(schedule);
    const others = this.of(proposal.agent).length;
    if (others >= maxPerAgent)
      throw limitExceeded(
        "schedules",
        others,
        `There are ${others} schedules already, which is the limit. Remove one first.`,
      );
    this.#schedules.set(schedule.id, schedule);
    try {
      await this.#ports.rows.store(schedule);
    } catch (error) {
      this.#schedules.delete(schedule.id);
      throw error;
    }
    this.#ask(schedule);
    return schedule;
  }

  /** Removes a schedule of an agent; a question about it is withdrawn. False if there is none. */
  async remove(agent: string, id: string): Promise<boolean> {
    const schedule = this.#schedules.get(id);
    if (schedule?.agent !== agent) return false;
    await this.#forget(schedule);
    this.#asking.get(id)?.abort(new Error("It was removed."));
    if (schedule.state === "accepted") {
      this.changed.emit();
      await this.#apply();
    }
    return true;
  }

  /** Removes what a conversation has proposed and nobody has accepted. */
  async withdraw(conversation: string): Promise<void> {
    const proposed = [...this.#schedules.values()].filter(
      (schedule) => schedule.conversation === conversation && schedule.state === "proposed",
    );
    for (const { agent, id } of proposed) await this.remove(agent, id);
  }

  /** Removes proposals that have one of the texts, for a person, and returns the accepted schedules that have one. */
  async redact(
    texts: readonly string[],
  ): Promise<{ readonly removed: number; readonly accepted: MadeSchedule[] }> {
    const { holds } = textRemover(texts);
    const having = [...this.#schedules.values()].filter((schedule) => holds(JSON.stringify(schedule)));
    const proposed = having.filter(({ state }) => state === "proposed");
    for (const { agent, id } of proposed) await this.remove(agent, id);
    return { removed: proposed.length, accepted: having.filter(({ state }) => state === "accepted") };
  }

  /** A run of the hook with this handler is done; a schedule for one time ends with it. */
  async ran(handler: string): Promise<void> {
    const schedule = [...this.#schedules.values()].find((each) => madeHandler(each) === handler);
    if (schedule === undefined) return;
    if ("at" in schedule.when) return void (await this.remove(schedule.agent, schedule.id));
    const runs = { count: (schedule.runs?.count ?? 0) + 1, last: isoTime(this.#ports.clock.now()) };
    const counted = { ...schedule, runs };
    this.#schedules.set(schedule.id, counted);
    await this.#ports.rows.store(counted);
  }

  /** Returns when it runs next; null if never. */
  nextRun(schedule: MadeSchedule): string | null {
    return this.#ports.hookOf(schedule).nextRun?.() ?? null;
  }

  #ask(schedule: MadeSchedule): void {
    const asking = new AbortController();
    this.#asking.set(schedule.id, asking);
    this.#ports
      .ask(schedule, asking.signal)
      .then((isAccepted) => this.#decide(schedule, isAccepted))
      .catch((error: unknown) => {
        if (asking.signal.aborted) return;
        this.#ports.log.error(`A schedule that a mind proposed was not decided: ${messageOf(error)}`);
      })
      .finally(() => this.#asking.delete(schedule.id));
  }

  async #decide(schedule: MadeSchedule, isAccepted: boolean): Promise<void> {
    // It was removed while the answer came.
    if (this.#schedules.get(schedule.id) !== schedule) return;
    if (isAccepted) {
      const accepted: MadeSchedule = { ...schedule, state: "accepted" };
      // Before it is stored, so that whoever removes it meanwhile has the last word.
      this.#schedules.set(schedule.id, accepted);
      await this.#ports.rows.store(accepted);
      this.changed.emit();
      await this.#apply();
    } else await this.#forget(schedule);
    this.decided.emit({ schedule, isAccepted });
  }

  async #forget(schedule: MadeSchedule): Promise<void> {
    // At once: an answer that comes now is too late.
    this.#schedules.delete(schedule.id);
    try {
      await this.#ports.rows.forget(schedule.id);
    } catch (error) {
      this.#schedules.set(schedule.id, schedule);
      throw error;
    }
  }

  /** One at a time, in order, each with what is known when its turn comes. */
  #apply(): Promise<void> {
    const applied = this.#turn.then(() =>
      this.#runner?.apply(this.#definitions?.map((each) => this.#with(each)) ?? null),
    );
    this.#turn = applied.catch(() => undefined);
    return applied;
  }

  #with(definition: AgentDefinition): AgentDefinition {
    if (definition.mind === undefined) return definition;
    const made = this.of(definition.id).filter(({ state }) => state === "accepted");
    if (made.length === 0) return definition;
    return { ...definition, hooks: [...definition.hooks, ...made.map((each) => this.#ports.hookOf(each))] };
  }
}
