import type { AgentContext, JobContext } from "@lares/sdk";
import type { Waiting } from "./waiting.ts";

export interface Memory {
  plan: Remembered;
}

/** Working memory. What was read of a photo is not here but in its custom fields, which move and go with it. */
export interface Remembered extends Waiting {
  /** The Sunday on which something was told last: "2024-05-05". */
  readonly told?: string;
  /** The memory that was told, and the ids of the photos that the notification offers. */
  readonly weekend?: { readonly title: string; readonly photos: readonly string[] };
  /** The names that the person gave to people whose faces were found, by their ids. */
  readonly names?: Readonly<Record<string, string>>;
  /** By which models, and how, the photos were read last. */
  readonly readBy?: string;
  /** Problems of face models that were reported, newest last. */
  readonly warned?: readonly string[];
}

export type Context = AgentContext<Memory>;
export type Job = JobContext<Memory>;
