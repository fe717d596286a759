import type { Event } from "vscode";
import type { Action, Agent, Job, Status } from "../protocol.ts";

/** What is known of the kernel's agents and actions, kept by its notifications; views read it and never the wire. */
export interface AgentsModel {
  readonly all: readonly Agent[];
  get(id: string): Agent | undefined;
  /** What a person is told it is called, as the agent wrote it; see `agentNames`. */
  nameOf(id: string): string;
  readonly onDidChange: Event<void>;
}

export interface ActionsModel {
  /** Waiting for a person, oldest first; effects with their diffs only where `withDiffs` was asked. */
  readonly pending: readonly Action[];
  /** The latest that were decided, newest first, at most 50; one may still be on its way. */
  readonly recent: readonly Action[];
  get(id: string): Action | undefined;
  /** Asks the kernel for the action with its diffs; kept while it does not change. */
  withDiffs(id: string): Promise<Action>;
  readonly onDidChange: Event<void>;
}

/** An agent's jobs that have not ended: the first of them, in their order, and how many there are. */
export interface AgentJobs {
  readonly items: readonly Job[];
  readonly total: number;
}

export interface JobsModel {
  /** As far as they are known: they are followed while somebody looks. */
  of(agent: string): AgentJobs;
  /** Somebody looks at them, or nobody does any more. */
  watch(isWatched: boolean): void;
  readonly onDidChange: Event<void>;
}

export interface StatusModel {
  readonly current: Status | undefined;
  readonly onDidChange: Event<void>;
}

/** Changes that have waited for a person longer than they set. */
export interface Reminder {
  readonly title: string;
  readonly body: string;
}

export interface RemindersModel {
  readonly onDidRemind: Event<Reminder>;
}

export interface Models {
  readonly agents: AgentsModel;
  readonly actions: ActionsModel;
  readonly jobs: JobsModel;
  readonly status: StatusModel;
  readonly reminders: RemindersModel;
}
