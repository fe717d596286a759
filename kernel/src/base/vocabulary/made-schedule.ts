/** A schedule that a mind made in a conversation. It runs once a person has accepted it, with its whole prompt. */
export interface MadeSchedule {
  /** Unique; the same call makes the same one. */
  readonly id: string;
  readonly agent: string;
  readonly conversation: string;
  /** The message that starts a conversation whenever it is due. */
  readonly prompt: string;
  readonly when:
    | {
        readonly cron: string;
        /** IANA name. */
        readonly timezone: string;
        /** Such as 08:00-20:00, in the time zone. */
        readonly activeHours?: string;
      }
    /** Once, at this time. */
    | { readonly at: string };
  readonly state: "proposed" | "accepted";
  readonly created: string;
  /** How often it ran, and when it did last. */
  readonly runs?: { readonly count: number; readonly last: string };
  /** The sources of its text, if not a person or the model alone. */
  readonly sources: readonly string[];
}

/** The rows of made schedules. */
export interface MadeScheduleRows {
  /** Oldest first. */
  all(): Promise<readonly MadeSchedule[]>;
  /** Resolves once it is on the disk. */
  store(schedule: MadeSchedule): Promise<void>;
  forget(id: string): Promise<void>;
}

const prefix = "schedule:";

/** The handler of the hook that an accepted schedule becomes. No file and no function has such a name. */
export const madeHandler = ({ id }: Pick<MadeSchedule, "id">): string => `${prefix}${id}`;

export const isMadeHandler = (handler: string): boolean => handler.startsWith(prefix);
