import type { Event } from "vscode";
import type { Action, Agent, Ask, Job, Status } from "../protocol.ts";

/** The kernel's agents and actions, kept current by notifications. Views read these models and never the wire. */
export interface AgentsModel {
  readonly all: readonly Agent[];
  get(id: string): Agent | undefined;
  /** Returns the display name, unescaped; see `agentNames`. */
  nameOf(id: string): string;
  readonly onDidChange: Event<void>;
}

export interface ActionsModel {
  /** Waiting for a person, oldest first. Effects have their diffs only after `withDiffs`. */
  readonly pending: readonly Action[];
  /** The latest decided actions, newest first, at most 50; the newest may still be being applied. */
  readonly recent: readonly Action[];
  get(id: string): Action | undefined;
  /** Requests the action with its diffs from the kernel; cached until it changes. */
  withDiffs(id: string): Promise<Action>;
  readonly onDidChange: Event<void>;
}

export interface AsksModel {
  /** Questions that calls wait for, oldest first. */
  readonly pending: readonly Ask[];
  readonly onDidChange: Event<void>;
}

/** The first jobs of a list, in its order, and the number of all. */
export interface JobList {
  readonly items: readonly Job[];
  readonly total: number;
}

/** An agent's unfinished jobs, and those that were given up. */
export interface AgentJobs extends JobList {
  readonly dead: JobList;
}

export interface JobsModel {
  /** Returns the known jobs; they are only kept current while a view watches. */
  of(agent: string): AgentJobs;
  /** Called when a view begins or ends to show jobs. */
  watch(isWatched: boolean): void;
  readonly onDidChange: Event<void>;
}

export interface StatusModel {
  readonly current: Status | undefined;
  readonly onDidChange: Event<void>;
}

/** Something has waited for a person longer than they configured. */
export interface Reminder {
  /** Where to answer: changes in the list of waiting actions, permissions on their page. */
  readonly about: "changes" | "permissions";
  readonly title: string;
  readonly body: string;
}

export interface RemindersModel {
  readonly onDidRemind: Event<Reminder>;
}

export interface Models {
  readonly agents: AgentsModel;
  readonly actions: ActionsModel;
  readonly asks: AsksModel;
  readonly jobs: JobsModel;
  readonly status: StatusModel;
  readonly reminders: RemindersModel;
}
